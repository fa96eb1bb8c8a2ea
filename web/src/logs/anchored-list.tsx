import { useVirtualizer } from '@tanstack/react-virtual'
import {
  type CSSProperties,
  type ReactNode,
  type Ref,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react'
import { useFollowing } from './follow.ts'

export interface AnchoredListHandle {
  showIndex: (index: number) => void
  showEnd: () => void
  /** The first row in view, -1: none. */
  firstInView: () => number
  focus: () => void
}

interface Props<Item> {
  label: string
  items: readonly Item[]
  keyOf: (item: Item) => number
  rowPx: number
  render: (item: Item, index: number) => ReactNode
  /** Rows may be wider than the list. */
  isWide?: boolean
  isFollowing: boolean
  onFollowing: (isFollowing: boolean) => void
  /** Called before the reader gets there, and again with other rows. */
  onNearStart: () => void
  onNearEnd: () => void
  nearRows: number
  /** Memory is full: more at one end means less at the other. */
  isFull: boolean
  onScrolled?: () => void
  /** When it changes, all rows have another height. */
  heights: string
  className?: string
  style?: CSSProperties
  ref: Ref<AnchoredListHandle>
}

const AT_END_PX = 4

/** A list that is read from its end. Rows added at either end do not move the row being read; a reader who follows stays at the end. */
export function AnchoredList<Item>(props: Props<Item>) {
  const { label, items, keyOf, rowPx, render, isWide = false, isFollowing, onFollowing, heights, ref } = props
  const scroller = useRef<HTMLElement>(null)
  const list = useVirtualizer<HTMLElement, HTMLDivElement>({
    count: items.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => keyOf(items[index]!),
    estimateSize: () => rowPx,
    overscan: 12,
    paddingEnd: 48,
    anchorTo: 'end',
    followOnAppend: isFollowing,
    scrollEndThreshold: AT_END_PX,
  })
  useImperativeHandle(ref, () => ({
    showIndex: (index) => list.scrollToIndex(index, { align: 'center' }),
    showEnd: () => list.scrollToEnd(),
    firstInView: () => list.getVirtualItemForOffset(list.scrollOffset ?? 0)?.index ?? -1,
    focus: () => scroller.current?.focus(),
  }))
  useFollowing(scroller, () => list.isAtEnd(AT_END_PX), onFollowing)
  const total = list.getTotalSize()
  // The last row grows without a new one, and rows are measured after they were drawn: the end moves, and a following reader with it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new height is the reason
  useLayoutEffect(() => {
    if (isFollowing && !list.isAtEnd(0)) list.scrollToEnd()
  }, [isFollowing, total, list])
  // biome-ignore lint/correctness/useExhaustiveDependencies: they change every height
  useLayoutEffect(() => list.measure(), [list, heights])
  const rows = list.getVirtualItems()
  // Before it was scrolled to its end, a list that is followed shows its start for a moment, which nobody sees.
  const isFilled = total > (list.scrollRect?.height ?? 0)
  useNearEnds(isFollowing && isFilled ? undefined : rows[0]?.index, rows.at(-1)?.index, props)
  return (
    <section
      aria-label={label}
      className={`focus-inside min-h-0 min-w-0 flex-1 overflow-auto ${props.className ?? ''}`}
      onScroll={props.onScrolled}
      ref={scroller}
      style={props.style}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
      tabIndex={0}
    >
      <div className="relative min-w-full" style={{ height: total }}>
        {rows.map((row) => (
          <div
            className={`absolute top-0 left-0 min-w-full ${isWide ? '' : 'w-full'}`}
            data-index={row.index}
            key={row.key}
            ref={list.measureElement}
            style={{ transform: `translateY(${row.start}px)` }}
          >
            {render(items[row.index]!, row.index)}
          </div>
        ))}
      </div>
    </section>
  )
}

function useNearEnds<Item>(first: number | undefined, last: number | undefined, props: Props<Item>) {
  const { items, isFull, onNearStart, onNearEnd } = props
  const near = Math.min(props.nearRows, Math.ceil(items.length / 4))
  const isAtStart = first !== undefined && first < near
  const isAtEnd = last !== undefined && last >= items.length - near
  // Few rows that fill the memory: both ends are in view, and reading at one would drop the other, over and over.
  const isTurning = isFull && isAtStart && isAtEnd
  const isNearStart = isAtStart && !isTurning
  const isNearEnd = isAtEnd && !isTurning
  // biome-ignore lint/correctness/useExhaustiveDependencies: more rows, or a longer last one, are a reason to ask again
  useEffect(() => {
    if (isNearStart) onNearStart()
  }, [isNearStart, items, onNearStart])
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  useEffect(() => {
    if (isNearEnd) onNearEnd()
  }, [isNearEnd, items, onNearEnd])
}
