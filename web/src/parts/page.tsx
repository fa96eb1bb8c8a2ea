import { type ReactNode, useEffect, useRef } from 'react'
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
  /** Title, filters and acts stay beside each other, also beside a panel: they get narrower. A phone has no room for that. */
  hasOneLineHead?: boolean
  /** Where there is little room, the many filters are below title and acts. */
  hasFiltersBelow?: boolean
  children: ReactNode
}) {
  const { title, heading = title, text, filters, actions, panel, isFull = false, children } = props
  const { hasOneLineHead: hasOneLine = false, hasFiltersBelow = false } = props
  useDocumentTitle(title)
  const content = useRef<HTMLDivElement>(null)
  useScrolledByKeys(content, !isFull)
  return (
    <div className="relative flex min-h-0 min-w-0 flex-1">
      {/* A container: what is in it goes by the room it has, of which the panel takes a part. */}
      <div className="@container flex min-h-0 min-w-0 flex-1 flex-col">
        <header
          // A title of 500 letters fills a phone: what is below it must still be reached.
          className={`flex max-h-1/2 shrink-0 items-center gap-x-4 gap-y-2 overflow-y-auto px-6 pt-4 pb-3 max-sm:px-4 ${hasOneLine ? 'max-sm:flex-wrap' : 'flex-wrap'}`}
        >
          <div className={hasOneLine ? 'shrink-0' : 'min-w-0 max-w-full'}>
            <h1 className="text-page font-semibold break-words outline-none" data-page-heading tabIndex={-1}>
              {heading}
            </h1>
            {text && <div className="text-row text-muted">{text}</div>}
          </div>
          {filters && (
            <div
              className={`flex min-w-0 flex-1 items-center gap-2 ${hasFiltersBelow ? '@max-[880px]:order-last @max-[880px]:basis-full' : ''} ${hasOneLine ? 'max-sm:order-last max-sm:basis-full max-sm:flex-wrap' : 'flex-wrap'}`}
            >
              {filters}
            </div>
          )}
          {actions && (
            <div className={`ml-auto flex items-center gap-2 ${hasOneLine ? 'shrink-0' : 'flex-wrap'}`}>
              {actions}
            </div>
          )}
        </header>
        <div
          className={
            isFull
              ? 'flex min-h-0 min-w-0 flex-1 flex-col'
              : 'focus-inside min-h-0 w-full max-w-text min-w-0 flex-1 overflow-y-auto px-6 pb-12 max-sm:px-4'
          }
          data-scroll-restoration-id="page"
          ref={content}
        >
          {children}
        </div>
      </div>
      {panel}
    </div>
  )
}

const REACHED = 'a[href], button, input, select, textarea, summary, [tabindex="0"], [contenteditable]'

/** Text that is longer than the window is scrolled with keys: where nothing in it can have the focus, all of it can. */
function useScrolledByKeys(content: { readonly current: HTMLElement | null }, doesScroll: boolean): void {
  useEffect(() => {
    const element = content.current
    if (!element || !doesScroll) return
    const decide = () => {
      const isLonger = element.scrollHeight > element.clientHeight
      if (isLonger && !element.querySelector(REACHED)) element.tabIndex = 0
      else element.removeAttribute('tabindex')
    }
    decide()
    const resized = new ResizeObserver(decide)
    resized.observe(element)
    for (const child of element.children) resized.observe(child)
    return () => resized.disconnect()
  })
}
