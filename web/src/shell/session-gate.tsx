import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useDocumentTitle } from '../parts/document-title.ts'
import { ProblemBox } from '../parts/problem.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Wordmark } from '../parts/wordmark.tsx'
import { sessionQuery } from '../requests/session.ts'

/** Nothing of a workspace is shown before the session is known. */
export function SessionGate({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useQuery(sessionQuery)
  if (data) return children
  return (
    <div className="flex h-dvh flex-col">
      <header className="flex h-12 items-center border-b border-line bg-bg px-5">
        <Wordmark />
      </header>
      <main className="mx-auto w-full max-w-prose p-6">
        {error ? <NotReached error={error} onRetry={refetch} /> : <Skeleton label="Signing in" rows={6} />}
      </main>
    </div>
  )
}

function NotReached({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  useDocumentTitle('Not reached')
  return (
    <>
      <h1 className="mb-4 text-page font-semibold">This workspace could not be opened</h1>
      <ProblemBox error={error} onRetry={onRetry} />
    </>
  )
}
