import { useEffect, useRef, useState } from 'react'
import { isLive } from '../../../../src/kinds/run/states.ts'
import { useOutput } from '../../live/hooks.ts'
import { useLive } from '../../live/provider.tsx'
import { piecesOf } from '../../logs/lines.ts'
import { api } from '../../requests/api.ts'
import { LINES_IN_TILE, RunTail } from './run-tail.ts'
import type { TailLine } from './step-lines.ts'
import type { Heard, WatchedRun } from './wall.ts'

export interface ShownTail extends Heard {
  readonly lines: readonly TailLine[]
}

const DRAW_EVERY_MS = 200
/** One tile alone has the page; what does not fit is cut off above. */
const LINES_ALONE = 60
type Tails = Map<string, RunTail>

/** The last lines of these runs: first what their logs end with, then what comes. It is drawn five times a second, however much they write. */
export function useTails(runs: readonly WatchedRun[]): ReadonlyMap<string, ShownTail> {
  const live = useLive()
  const tails = useRef<Tails>(new Map())
  const changed = useRef(new Set<string>())
  const [shown, setShown] = useState<ReadonlyMap<string, ShownTail>>(new Map())
  const running = runs.filter(({ status }) => isLive(status))
  useOutput(
    running.map(({ id }) => id),
    ({ runId, stream, chunk, offset }) => {
      tails.current.get(runId)?.take({ offset, stream, text: chunk, at: live.now() })
      changed.current.add(runId)
    },
  )
  const latest = useRef(runs)
  useEffect(() => {
    latest.current = runs
  })
  const ids = runs.map(({ id }) => id).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: other runs are the reason
  useEffect(() => openTails(tails.current, latest.current, changed.current), [ids])
  // A run that ended prints nothing more.
  const over = runs.filter(({ status }) => !isLive(status)).map(({ id }) => id)
  const overKey = over.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: their ids are the reason
  useEffect(() => over.forEach((id) => void changed.current.add(id)), [overKey])
  // Another number of tiles gives each another number of lines.
  // biome-ignore lint/correctness/useExhaustiveDependencies: their ids are the reason
  useEffect(() => runs.forEach(({ id }) => void changed.current.add(id)), [ids])
  useEffect(() => {
    const draw = () => {
      if (changed.current.size === 0) return
      const isRunning = new Set(latest.current.filter(({ status }) => isLive(status)).map(({ id }) => id))
      const most = latest.current.length === 1 ? LINES_ALONE : LINES_IN_TILE
      const now = new Map<string, ShownTail>()
      for (const [id, tail] of tails.current)
        if (changed.current.has(id)) now.set(id, shownOf(tail, isRunning.has(id), most))
      changed.current.clear()
      setShown((before) => new Map([...before, ...now].filter(([id]) => tails.current.has(id))))
    }
    const timer = setInterval(draw, DRAW_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return shown
}

const shownOf = (tail: RunTail, isRunning: boolean, most: number): ShownTail => ({
  lines: tail.lines(isRunning, most),
  heardAt: tail.heardAt,
  equalCalls: tail.equalCalls,
})

/** Starts reading new runs, and forgets those that are gone. Their logs are read with one request. */
function openTails(tails: Tails, runs: readonly WatchedRun[], changed: Set<string>): void {
  const wanted = new Set(runs.map(({ id }) => id))
  for (const id of tails.keys()) if (!wanted.has(id)) tails.delete(id)
  const fresh = runs.filter(({ id }) => !tails.has(id))
  if (fresh.length === 0) return
  for (const { id, adapterType } of fresh) tails.set(id, new RunTail(adapterType))
  const open = (items: readonly ({ runId: string } & Parameters<typeof piecesOf>[0])[]) => {
    const read = new Map(items.map((item) => [item.runId, item]))
    for (const { id } of fresh) {
      const end = read.get(id)
      tails.get(id)?.open(end ? piecesOf(end) : [])
      changed.add(id)
    }
  }
  // Tiles whose logs could not be read begin with what comes next.
  api()
    .post('/runs/tails', { body: { ids: fresh.map(({ id }) => id) } })
    .then(
      ({ items }) => open(items),
      () => open([]),
    )
}
