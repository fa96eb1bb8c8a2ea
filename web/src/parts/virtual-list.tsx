import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type ReactNode,
  type Ref,
  type RefObject,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react'

export interface VirtualListHandle {
  scrollToIndex: (index: number, align?: 'start' | 'center' | 'end' | 'auto') => void
  scrollToEnd: () => void
  /** The element that scrolls. */
  element: () => HTMLElement | null
}

interface Props<Item> {
  label: string
  items: readonly Item[]
  keyOf: (item: Item) => string | number
  /** Height of a row, or what it is before it is measured. */
  rowHeight: number
  /** Height of a row that is another one than usual. */
  heightOf?: (item: Item) => number
  /** Rows differ in height: each is measured when it is drawn. */
  isMeasured?: boolean
  gap?: number
  padding?: number
  /** Rows drawn before and after those in view. */
  overscan?: number
  render: (item: Item, index: number) => ReactNode
  /** `end`: rows added above never move what is being read, and the end is followed while the reader is at the end. */
  anchor?: 'start' | 'end'
  /** Called when the last rows come into view: load more. */
  onNearEnd?: () => void
  onNearStart?: () => void
  /** Whether the reader is at the end, whenever that changes. */
  onAtEnd?: (isAtEnd: boolean) => void
  className?: string
  rowRole?: string
  role?: string
  ref?: Ref<VirtualListHandle>
}

const NEAR_ROWS = 10
const AT_END_PX = 24

/** Any number of rows with as many elements as fit on the screen. It fills its parent, which gives it a height. */
export function VirtualList<Item>(props: Props<Item>) {
  const {
    label,
    items,
    keyOf,
    rowHeight,
    heightOf,
    isMeasured = false,
    gap = 0,
    padding = 0,
    overscan = 8,
    render,
    anchor = 'start',
  } = props
  const { onNearEnd, onNearStart, onAtEnd, className = '', role = 'list', rowRole = 'listitem', ref } = props
  const scroller = useRef<HTMLDivElement>(null)
  const list = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: items.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => keyOf(items[index]!),
    estimateSize: (index) => heightOf?.(items[index]!) ?? rowHeight,
    overscan,
    gap,
    paddingStart: padding,
    paddingEnd: padding,
    anchorTo: anchor,
    followOnAppend: anchor === 'end',
    scrollEndThreshold: AT_END_PX,
  })
  useImperativeHandle(ref, () => ({
    scrollToIndex: (index, align = 'auto') => list.scrollToIndex(index, { align }),
    scrollToEnd: () => list.scrollToEnd(),
    element: () => scroller.current,
  }))
  useSameTop(scroller, rowHeight, isMeasured, () => list.measure())
  const isFilled = items.length > 0
  useLayoutEffect(() => {
    if (anchor === 'end' && isFilled) list.scrollToEnd()
  }, [anchor, isFilled, list])
  const rows = list.getVirtualItems()
  useNear(rows[0]?.index, rows.at(-1)?.index, items.length, onNearStart, onNearEnd)
  const isAtEnd = list.isAtEnd()
  useEffect(() => onAtEnd?.(isAtEnd), [isAtEnd, onAtEnd])
  return (
    // Named as a list or a table's rows, and reachable with the keyboard, since it scrolls.
    <div
      {...{ 'aria-label': label }}
      className={`focus-inside min-h-0 flex-1 overflow-auto ${className}`}
      ref={scroller}
      role={role}
      tabIndex={0}
    >
      <div className="relative w-full" role="presentation" style={{ height: list.getTotalSize() }}>
        {rows.map((row) => (
          <div
            {...placeIn(role, row.index, items.length)}
            className="absolute top-0 left-0 w-full"
            data-index={row.index}
            key={row.key}
            ref={isMeasured ? list.measureElement : undefined}
            role={rowRole}
            style={{ transform: `translateY(${row.start}px)`, ...(isMeasured ? {} : { height: row.size }) }}
          >
            {render(items[row.index]!, row.index)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Rows that become higher or lower do not move away: the first in view stays the first. */
function useSameTop(
  scroller: RefObject<HTMLElement | null>,
  rowHeight: number,
  isMeasured: boolean,
  measure: () => void,
): void {
  const before = useRef(rowHeight)
  const latest = useRef(measure)
  const wanted = useRef<number | null>(null)
  useLayoutEffect(() => {
    latest.current = measure
    // After the list was drawn in its new height: before that it cannot scroll as far.
    if (wanted.current !== null && scroller.current) scroller.current.scrollTop = wanted.current
    wanted.current = null
  })
  useLayoutEffect(() => {
    const was = before.current
    before.current = rowHeight
    const element = scroller.current
    if (was === rowHeight || isMeasured || !element) return
    wanted.current = (element.scrollTop / was) * rowHeight
    latest.current()
  }, [scroller, rowHeight, isMeasured])
}

/** The position of a row among all rows, most of which are not in the page. Tables count their header. */
const placeIn = (role: string, index: number, count: number) =>
  role === 'list' ? { 'aria-posinset': index + 1, 'aria-setsize': count } : { 'aria-rowindex': index + 2 }

function useNear(
  first: number | undefined,
  last: number | undefined,
  count: number,
  onNearStart: (() => void) | undefined,
  onNearEnd: (() => void) | undefined,
) {
  const isNearEnd = last !== undefined && last >= count - NEAR_ROWS
  const isNearStart = first !== undefined && first < NEAR_ROWS
  // The count matters too: when more rows came and the end is still near, the callback is called again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: count is the reason to call again
  useEffect(() => {
    if (isNearEnd) onNearEnd?.()
  }, [isNearEnd, count, onNearEnd])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    if (isNearStart) onNearStart?.()
  }, [isNearStart, count, onNearStart])
}
