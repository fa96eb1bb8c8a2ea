import type { ReactNode } from 'react'

/** Across all columns: what the rows below it have in common. */
export const SectionHead = ({ children }: { children: ReactNode }) => (
  <div
    className="flex h-full items-center gap-2 border-b border-line bg-sunken px-6 text-row font-medium max-sm:px-4"
    role="presentation"
  >
    {/* biome-ignore lint/a11y/useSemanticElements: the rows of the table are placed by a virtual list */}
    <div className="flex min-w-0 items-center gap-2" role="cell">
      {children}
    </div>
  </div>
)
