import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useState } from 'react'
import { Toasts } from './parts/toasts.tsx'
import { TooltipProvider } from './parts/tooltip.tsx'
import { queryClient } from './requests/queries.ts'
import { makeRouter } from './routes.tsx'
import { LiveWorkspace } from './shell/live-workspace.tsx'
import { SessionGate } from './shell/session-gate.tsx'

export function App({ workspace }: { workspace: string }) {
  const [router] = useState(() => makeRouter(workspace))
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <SessionGate>
          <LiveWorkspace>
            <RouterProvider router={router} />
          </LiveWorkspace>
        </SessionGate>
        <Toasts />
      </TooltipProvider>
    </QueryClientProvider>
  )
}
