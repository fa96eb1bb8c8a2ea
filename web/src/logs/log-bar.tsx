import type { ReactNode } from 'react'

/** The bar above a view of a run: which view on the left, its tools on the right. */
export function LogBar({ views, children }: { views: ReactNode; children?: ReactNode }) {
  return (
    <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-6 py-1.5 max-sm:px-4">
      {views}
      <div className="ml-auto flex min-w-0 flex-wrap items-center justify-end gap-x-3 gap-y-2 max-sm:ml-0 max-sm:w-full max-sm:flex-nowrap max-sm:justify-start">
        {children}
      </div>
    </div>
  )
}
