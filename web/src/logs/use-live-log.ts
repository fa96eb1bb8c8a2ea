import { useEffect, useRef } from 'react'
import { useFreshness, useOutput } from '../live/hooks.ts'
import { useLive } from '../live/provider.tsx'
import { type Piece, streamNamed } from './lines.ts'

const POLL_MS = 2_000

/**
 * Gives a feed the live output of a run, and has it catch up when the run is over, when the socket is back, and every two seconds while
 * there is no socket at all.
 */
export function useLiveLog(
  feed: { take(output: Piece): void; catchUp(isOver: boolean): Promise<void> },
  run: { id: string; isLive: boolean },
): void {
  const live = useLive()
  const { kind } = useFreshness().freshness
  useOutput(run.isLive ? [run.id] : [], ({ offset, stream, chunk }) =>
    feed.take({ offset, stream: streamNamed(stream), at: live.now(), text: chunk }),
  )
  const wasLive = useRef(run.isLive)
  useEffect(() => {
    if (wasLive.current && !run.isLive) void feed.catchUp(true)
    wasLive.current = run.isLive
  }, [feed, run.isLive])
  const isPolled = run.isLive && kind === 'polling'
  useEffect(() => {
    if (run.isLive && kind === 'live') void feed.catchUp(false)
    if (!isPolled) return
    const timer = setInterval(() => void feed.catchUp(false), POLL_MS)
    return () => clearInterval(timer)
  }, [feed, run.isLive, kind, isPolled])
}
