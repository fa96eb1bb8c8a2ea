import { Toasts } from '../../parts/toasts.tsx'
import { TooltipProvider } from '../../parts/tooltip.tsx'
import { Controls } from './controls.tsx'
import { Layers } from './layers.tsx'
import { Lists } from './lists.tsx'
import { Marks } from './marks.tsx'
import { Texts } from './texts.tsx'

/** Every part in both themes, for those who build pages. Only in development. */
export function Parts() {
  return (
    <TooltipProvider>
      <main className="grid lg:grid-cols-2">
        <Theme theme="light" />
        <Theme theme="dark" />
      </main>
      <Toasts />
    </TooltipProvider>
  )
}

function Theme({ theme }: { theme: 'light' | 'dark' }) {
  return (
    <div className="flex min-w-0 flex-col gap-8 bg-sunken p-6 text-ink" data-theme={theme}>
      <h1 className="text-page font-semibold">Parts, {theme}</h1>
      <Marks />
      <Controls />
      <Texts />
      <Lists />
      <Layers />
    </div>
  )
}
