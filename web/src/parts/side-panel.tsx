import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { IconButton } from './icon-button.tsx'
import { useReturnFocusFrom } from './return-focus.ts'

const WIDTH = { least: 360, usual: 520, most: 960, step: 24 }
const KEPT_AS = 'baton-panel-width'

/** What stays of a list beside it: its names can be read. */
const LIST_PX = 480
const RAIL_PX = 208

/** Where there is no room for both, the panel covers a part of the list, which stays as it was. */
export const isPanelOver = () => window.innerWidth < 1024

const most = () => window.innerWidth - (isPanelOver() ? 320 : RAIL_PX + LIST_PX)
const within = (width: number) => Math.max(WIDTH.least, Math.min(width, WIDTH.most, most()))

/** Details beside a list that stays where it was: resizable, a whole page with ⤢, a sheet on a phone. Esc closes it. */
export function SidePanel(props: {
  title: string
  heading?: ReactNode
  onClose: () => void
  /** Makes it a page. */
  onExpand?: () => void
  actions?: ReactNode
  children: ReactNode
}) {
  const { title, heading = title, onClose, onExpand, actions, children } = props
  const [width, setWidth] = useState(() => within(Number(localStorage.getItem(KEPT_AS)) || WIDTH.usual))
  useEffect(() => localStorage.setItem(KEPT_AS, String(width)), [width])
  const panel = useRef<HTMLElement>(null)
  useReturnFocusFrom(panel)
  return (
    <aside
      aria-label={title}
      className="relative flex min-h-0 shrink-0 animate-slide flex-col border-l border-line bg-bg max-lg:absolute max-lg:inset-y-0 max-lg:right-0 max-lg:z-20 max-lg:shadow-float max-sm:fixed max-sm:inset-0 max-sm:z-30 max-sm:w-full!"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || event.defaultPrevented) return
        event.stopPropagation()
        onClose()
      }}
      ref={panel}
      style={{ width }}
    >
      <ResizeHandle onWidth={(next) => setWidth(within(next))} width={width} />
      <header className="flex items-center gap-2 border-b border-line py-2 pr-2 pl-4">
        <h2 className="min-w-0 flex-1 truncate text-title font-semibold">{heading}</h2>
        {actions}
        {onExpand && <IconButton icon="expand" label="Open as a page" onClick={onExpand} size="small" />}
        <IconButton icon="close" label="Close panel" onClick={onClose} shortcut="Esc" size="small" />
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
    </aside>
  )
}

function ResizeHandle({ width, onWidth }: { width: number; onWidth: (width: number) => void }) {
  const start = useRef<{ x: number; width: number } | null>(null)
  const onKey = (event: KeyboardEvent) => {
    const direction = { ArrowLeft: 1, ArrowRight: -1 }[event.key]
    if (direction === undefined) return
    event.preventDefault()
    onWidth(width + direction * WIDTH.step)
  }
  const onMove = (event: PointerEvent) => {
    if (start.current) onWidth(start.current.width + start.current.x - event.clientX)
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that is moved has no element of its own
    <div
      aria-label="Width of the panel"
      aria-orientation="vertical"
      aria-valuemax={WIDTH.most}
      aria-valuemin={WIDTH.least}
      aria-valuenow={width}
      className="absolute inset-y-0 -left-1 z-10 w-2 cursor-col-resize touch-none hover:bg-line focus-visible:bg-line max-sm:hidden"
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        start.current = { x: event.clientX, width }
      }}
      onPointerMove={onMove}
      onPointerUp={() => {
        start.current = null
      }}
      role="separator"
      tabIndex={0}
    />
  )
}
