import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { Line } from './lines.ts'
import type { LogFeed } from './log-feed.ts'
import type { LogListHandle } from './log-list.tsx'
import { isAtLogEnd } from './log-window.ts'

/** A line that is longer than a page begins some pages before the byte that was asked for. */
const MOST_PAGES_BACK = 4

/** Where a reader is in a log: at its end, or at an address. */
export function useReading(
  feed: LogFeed,
  list: RefObject<LogListHandle | null>,
  lines: readonly Line[],
  at: number | null,
) {
  const [isFollowing, setIsFollowing] = useState(at === null)
  const [eye, setEye] = useState<number | null>(null)
  const wanted = useRef<number | null>(at)
  const setFollowing = useCallback(
    (next: boolean) => {
      feed.setFollowing(next)
      setIsFollowing(next)
    },
    [feed],
  )
  const goTo = useCallback(
    async (offset: number) => {
      setFollowing(false)
      if (list.current?.showByte(offset)) return
      wanted.current = offset
      await feed.openAround(offset)
      for (let pages = 0; pages < MOST_PAGES_BACK && isBeforeLines(feed, offset); pages += 1)
        await feed.extendBefore()
    },
    [feed, list, setFollowing],
  )
  const follow = useCallback(async () => {
    wanted.current = null
    if (!isAtLogEnd(feed.snapshot().window)) await feed.openEnd()
    setFollowing(true)
    list.current?.showEnd()
  }, [feed, list, setFollowing])
  const first = useRef(at)
  useEffect(() => {
    feed.setFollowing(first.current === null)
    void (first.current === null ? feed.openEnd() : feed.openAround(first.current))
  }, [feed])
  // In the next frame: a list that was just drawn for the first time scrolls to its start again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are the reason to look for the wanted one
  useEffect(() => {
    if (wanted.current === null) return
    const frame = requestAnimationFrame(() => {
      if (wanted.current !== null && list.current?.showByte(wanted.current)) wanted.current = null
    })
    return () => cancelAnimationFrame(frame)
  }, [lines, list])
  const look = useCallback(() => setEye(list.current?.firstInView() ?? null), [list])
  return { isFollowing, setFollowing, goTo, follow, eye, look }
}

const isBeforeLines = (feed: LogFeed, offset: number) => {
  const { lines, start } = feed.snapshot().window
  const [, second] = lines
  return start > 0 && second !== undefined && offset < second.offset
}
