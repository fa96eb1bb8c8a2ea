import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { useShortcuts } from '../keys/shortcuts.ts'
import type { AnchoredListHandle } from './anchored-list.tsx'
import { isOpenAtFirst, type StepFilter, type StepRow } from './steps/fold.ts'
import type { TranscriptFeed } from './transcript-feed.ts'

/** What a reader of a transcript has done: whether they follow, what they opened, what they selected. */

export function useEnd(feed: TranscriptFeed, list: RefObject<AnchoredListHandle | null>) {
  const [isFollowing, setIsFollowing] = useState(true)
  useEffect(() => void feed.openEnd(), [feed])
  const setFollowing = useCallback(
    (next: boolean) => {
      feed.setFollowing(next)
      setIsFollowing(next)
    },
    [feed],
  )
  const follow = useCallback(async () => {
    const { steps, total } = feed.snapshot()
    if ((steps.at(-1)?.n ?? 0) < total) await feed.openEnd()
    setFollowing(true)
    list.current?.showEnd()
  }, [feed, list, setFollowing])
  return { isFollowing, setFollowing, follow }
}

/** A failed run opens at the step that failed: once, and only if there is such a step. */
export function useFailureFirst(
  isWanted: boolean,
  rows: readonly StepRow[],
  show: (index: number) => void,
): void {
  const isShown = useRef(false)
  useEffect(() => {
    if (!isWanted || isShown.current || rows.length === 0) return
    isShown.current = true
    const failed = rows.findLastIndex(({ steps }) => steps.some(({ isError }) => isError))
    if (failed !== -1) show(failed)
  })
}

/** What the reader opened or closed stays so; for the rest the default rule decides. */
export function useOpenRows(rows: readonly StepRow[]) {
  const [changed, setChanged] = useState<ReadonlyMap<number, boolean>>(new Map())
  const [areAllOpen, setAllOpen] = useState(false)
  const last = rows.at(-1)
  const isOpen = (row: StepRow) => changed.get(row.key) ?? (areAllOpen || isOpenAtFirst(row, row === last))
  const toggle = (key: number) => {
    const row = rows.find((one) => one.key === key)
    if (row) setChanged(new Map([...changed, [key, !isOpen(row)]]))
  }
  const toggleAll = () => {
    setChanged(new Map())
    setAllOpen(!areAllOpen)
  }
  return { isOpen, toggle, toggleAll }
}

export function useStepKeys(parts: {
  rows: readonly StepRow[]
  selected: number | null
  onSelect: (key: number) => void
  toggle: (key: number) => void
  toggleAll: () => void
  filter: StepFilter
  onFilter: (filter: StepFilter) => void
  onEnd: () => void
  list: RefObject<AnchoredListHandle | null>
}): void {
  const { rows, selected, onSelect, toggle, toggleAll, filter, onFilter, onEnd, list } = parts
  const place = rows.findIndex(({ key }) => key === selected)
  const move = (to: number) => {
    const row = rows[Math.min(Math.max(to, 0), rows.length - 1)]
    if (!row) return
    onSelect(row.key)
    list.current?.showIndex(rows.indexOf(row))
  }
  const filterBy = (wanted: StepFilter) => onFilter(filter === wanted ? 'all' : wanted)
  useShortcuts('Steps', {
    j: { words: 'Next step', run: () => move(place + 1), repeats: true },
    k: { words: 'Previous step', run: () => move(place === -1 ? rows.length - 1 : place - 1), repeats: true },
    o: { words: 'Open or close the step', run: () => selected !== null && toggle(selected) },
    'Shift+o': { words: 'Open or close all steps', run: toggleAll },
    f: { words: 'Failed steps only', run: () => filterBy('failed') },
    c: { words: 'Calls only', run: () => filterBy('calls') },
    Home: { words: 'First step that was read', run: () => move(0) },
    End: { words: 'Last step, and follow', run: onEnd },
  })
}
