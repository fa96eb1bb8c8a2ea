import { useMemo, useRef, useState } from 'react'
import { toast } from '../parts/toasts.tsx'
import { LogFeed } from './log-feed.ts'
import type { LogListHandle } from './log-list.tsx'
import { offsetAtTime, readLog } from './log-reads.ts'
import { useLogSearch } from './log-search.ts'
import { isAtLogEnd, wholeLines } from './log-window.ts'
import { nextPlace } from './marks.ts'
import { drawLater, useFeed } from './use-feed.ts'
import { useLiveLog } from './use-live-log.ts'
import { useLogPlaces } from './use-log-places.ts'
import { useReading } from './use-reading.ts'
import { useSettled } from './use-settled.ts'

export interface LogRun {
  readonly id: string
  readonly isLive: boolean
  /** When it began, in ms. */
  readonly startedAt: number | null
}

/** What is in the address of the page: a line, and what is searched for. */
export interface LogAddress {
  at: number | null
  onAt: (at: number | null) => void
  query: string
  onQuery: (query: string) => void
}

export type RawLogState = ReturnType<typeof useRawLog>

/** The state of a raw log: its window, its reader, its search, and the ways to move in it. */
export function useRawLog(run: LogRun, { at, onAt, query }: LogAddress) {
  const [feed, feedState] = useFeed(
    run.id,
    () => new LogFeed({ read: (wanted) => readLog(run.id, wanted), later: drawLater }),
  )
  useLiveLog(feed, run)
  const { window } = feedState
  const lines = useMemo(() => wholeLines(window), [window])
  const list = useRef<LogListHandle>(null)
  const reading = useReading(feed, list, lines, at)
  const [isCaseSensitive, setCaseSensitive] = useState(false)
  const search = useLogSearch(run.id, useSettled(query), isCaseSensitive)
  const { marks, numbers, errors, outline } = useLogPlaces(run.id, lines, search.hits)
  const from = at ?? reading.eye ?? 0
  const visit = (offset: number | null) => {
    if (offset === null) return
    onAt(offset)
    void reading.goTo(offset)
  }
  const known = isAtLogEnd(window) ? numbers?.at(-1) : outline?.isComplete ? outline.lines : null
  return {
    ...feedState,
    ...reading,
    feed,
    lines,
    list,
    search,
    isCaseSensitive,
    setCaseSensitive,
    marks,
    numbers,
    lineCount: known ?? null,
    visit,
    toEnd: () => {
      onAt(null)
      void reading.follow()
    },
    toHit: (isForward: boolean) => void search.next(from, isForward).then(visit),
    toError: (isForward: boolean) => {
      const place = nextPlace(errors, from, isForward, outline?.isComplete ?? false)
      if (place === null) toast({ id: 'no-error', title: noErrorWords(outline) })
      else visit(place)
    },
    toPlace: (place: { byte: number } | { at: number }) =>
      void ('byte' in place
        ? visit(place.byte)
        : offsetAtTime(run.id, place.at, window.logBytes).then(visit)),
  }
}

const noErrorWords = (outline: { isComplete: boolean; readBytes: number; bytes: number } | undefined) =>
  outline?.isComplete
    ? 'No line of this log looks like an error.'
    : `No error in the ${Math.floor(((outline?.readBytes ?? 0) / (outline?.bytes || 1)) * 100)} % that were read so far.`
