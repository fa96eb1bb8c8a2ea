import type { ReactNode } from 'react'
import { useDocumentTitle } from './document-title.ts'

/**
 * The frame of a page: its title, filters as chips, the primary act; below it the content, and details in a panel on the right.
 * `isFull`: the content scrolls inside itself, as boards, tables and logs do.
 */
export function Page(props: {
  title: string
  /** Instead of the title as text: a mark and a key before it. The title still names the tab. */
  heading?: ReactNode
  /** One line below the title. */
  text?: ReactNode
  filters?: ReactNode
  actions?: ReactNode
  panel?: ReactNode
  isFull?: boolean
  children: ReactNode
}) {
  const { title, heading = title, text, filters, actions, panel, isFull = false, children } = props
  useDocumentTitle(title)
  return (
    <div className="flex min-h-0 min-w-0 flex-1">
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <header className="flex flex-wrap items-center gap-x-4 gap-y-2 px-6 pt-4 pb-3 max-sm:px-4">
          <div className="min-w-0 max-w-full">
            <h1 className="text-page font-semibold break-words outline-none" data-page-heading tabIndex={-1}>
              {heading}
            </h1>
            {text && <div className="text-row text-muted">{text}</div>}
          </div>
          {filters && <div className="flex min-w-0 flex-1 flex-wrap items-center gap-2">{filters}</div>}
          {actions && <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
        <div
          className={
            isFull
              ? 'flex min-h-0 min-w-0 flex-1 flex-col'
              : 'min-h-0 w-full max-w-text min-w-0 flex-1 overflow-y-auto px-6 pb-12 max-sm:px-4'
          }
          data-scroll-restoration-id="page"
        >
          {children}
        </div>
      </div>
      {panel}
    </div>
  )
}
