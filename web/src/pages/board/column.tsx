import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react'
import type { TaskState } from '../../../../src/pure/states.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import type { ColumnView } from '../../live/board-list.ts'
import { Icon } from '../../parts/icon.tsx'
import { VirtualList, type VirtualListHandle } from '../../parts/virtual-list.tsx'
import { countText } from '../../parts/wording.ts'
import { COLUMN_WORDS } from '../../things/task/card-words.ts'
import { ColumnHead, columnLabel } from './column-head.tsx'
import { useDesk, useOnDesk } from './desk.ts'
import { dropPlace } from './drag.ts'
import { CARD_PX, type DropAct, GAP_PX, placeAt } from './drops.ts'
import { keptPlace } from './keep-place.ts'
import { TaskCard } from './task-card.tsx'

/** Cards above and below what is seen; a board draws five columns of them. */
const OVERSCAN = 3

/** Beside a panel columns are as wide as without it: what is read stays where it is. The rail and the edges take 16 rem. */
const BESIDE_PANEL = 'min-w-50 lg:min-w-[max(12.5rem,calc((100vw-16rem)/5))]'

interface Props {
  name: BoardColumn
  view: ColumnView
  loadMore: () => void
  addressOf: (id: string) => string
  stateAt: (state: TaskState) => string
  openId: string | undefined
  canDrag: boolean
  /** The list's handle, for keys. */
  ref: React.Ref<VirtualListHandle>
  /** `place`: of the card that it was dropped on. */
  onDrop: (act: DropAct, place: number) => void
}

export function Column(props: Props) {
  const { name, view, loadMore, addressOf, stateAt, openId, canDrag, ref, onDrop } = props
  const list = useRef<VirtualListHandle>(null)
  useImperativeHandle(ref, () => list.current!)
  const newer = useKeptPlace(list, view.ids)
  const { element, act, place } = useColumnDrop(name, list, view.ids.length, onDrop)
  const isUnlit = useIsUnlit(name)
  return (
    <section
      aria-label={columnLabel(name, view)}
      className={`relative flex min-h-0 flex-1 basis-74 flex-col rounded-card transition-[background-color,opacity] sm:max-w-96 ${openId === undefined ? 'min-w-50' : BESIDE_PANEL} ${act ? (place === null ? 'bg-go-tint' : 'bg-go-tint outline-2 outline-accent') : ''} ${isUnlit ? 'opacity-50' : ''}`}
      ref={element}
    >
      <ColumnHead name={name} stateAt={stateAt} view={view}>
        {act && <span className="ml-auto font-semibold text-accent">{DROP_WORDS[act]}</span>}
      </ColumnHead>
      {view.ids.length === 0 ? (
        <p className="px-3 py-2 text-label text-faint">{view.count === 0 ? EMPTY_WORDS[name] : ''}</p>
      ) : (
        <VirtualList
          className="px-2"
          gap={GAP_PX}
          items={view.ids}
          keyOf={(id) => id}
          label={COLUMN_WORDS[name]}
          {...(view.hasMore ? { onNearEnd: loadMore } : {})}
          overscan={OVERSCAN}
          padding={GAP_PX}
          ref={list}
          render={(id) => (
            <TaskCard canDrag={canDrag} column={name} id={id} isOpen={id === openId} to={addressOf(id)} />
          )}
          rowHeight={CARD_PX}
        />
      )}
      {newer > 0 && (
        <button
          className="touchable absolute top-11 left-1/2 z-10 inline-flex h-7 -translate-x-1/2 items-center gap-1.5 rounded-pill bg-ink px-3 text-label font-medium text-bg shadow-float"
          onClick={() => list.current?.scrollToIndex(0, 'start')}
          type="button"
        >
          <Icon name="arrow-up" size={12} />
          {countText(newer)} newer
        </button>
      )}
    </section>
  )
}

const DROP_WORDS = {
  priority: 'Take the priority here',
  approve: 'Approve',
  reject: 'Reject',
  again: 'Retry or put back',
} as const satisfies Record<DropAct, string>

const EMPTY_WORDS = {
  inbox: 'Nothing is waiting.',
  assigned: 'Nothing is assigned.',
  in_progress: 'Nothing is running.',
  review: 'Nothing to review.',
  done: 'Nothing is done yet.',
} as const satisfies Record<BoardColumn, string>

/** The dragged card cannot be dropped on this column. */
function useIsUnlit(name: BoardColumn): boolean {
  const desk = useDesk()
  return useOnDesk(desk, ({ dragged }) => dragged !== null && dragged.drops.columns[name] === undefined)
}

function useColumnDrop(
  name: BoardColumn,
  list: React.RefObject<VirtualListHandle | null>,
  count: number,
  onDrop: (act: DropAct, place: number) => void,
) {
  const desk = useDesk()
  const element = useRef<HTMLElement>(null)
  const [place, setPlace] = useState<number | null>(null)
  const act = useOnDesk(desk, ({ dragged }) => dragged?.drops.columns[name] ?? null)
  const latest = useRef({ count, onDrop })
  useEffect(() => {
    latest.current = { count, onDrop }
  })
  useEffect(() => {
    const placeOf = (clientY: number) => {
      const scroller = list.current?.element()
      if (!scroller) return 0
      const { top } = scroller.getBoundingClientRect()
      return placeAt(clientY - top + scroller.scrollTop, latest.current.count)
    }
    return dropPlace(element.current!, {
      canDrop: () => desk.get().dragged?.drops.columns[name] !== undefined,
      over: (clientY) => setPlace(clientY === null ? null : placeOf(clientY)),
      drop: (clientY) => {
        const allowed = desk.get().dragged?.drops.columns[name]
        if (allowed) latest.current.onDrop(allowed, placeOf(clientY))
      },
    })
  }, [desk, name, list])
  return { element, act, place }
}

const AT_TOP_PX = 8
const ROW_PX = CARD_PX + GAP_PX

/** Keeps the cards being read in place while others come and go above them; says how many came. */
function useKeptPlace(list: React.RefObject<VirtualListHandle | null>, ids: readonly string[]): number {
  const [newer, setNewer] = useState(0)
  const before = useRef(ids)
  useLayoutEffect(() => {
    const scroller = list.current?.element()
    const old = before.current
    before.current = ids
    if (!scroller || old === ids || scroller.scrollTop <= AT_TOP_PX) return
    const { rows, newer: added } = keptPlace(old, ids, Math.floor((scroller.scrollTop - GAP_PX) / ROW_PX))
    if (rows !== 0) scroller.scrollTop += rows * ROW_PX
    if (added > 0) setNewer((count) => count + added)
  }, [list, ids])
  const hasRows = ids.length > 0
  useEffect(() => {
    const scroller = hasRows ? list.current?.element() : null
    if (!scroller) return
    const look = () => scroller.scrollTop <= AT_TOP_PX && setNewer(0)
    scroller.addEventListener('scroll', look, { passive: true })
    return () => scroller.removeEventListener('scroll', look)
  }, [list, hasRows])
  return newer
}
