import { useEffect, useRef, useState } from 'react'
import type { OutputChunk } from '../../live/frames.ts'
import { useOutput } from '../../live/hooks.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { plainText } from '../../logs/settle.ts'
import { api } from '../../requests/api.ts'
import { afterEvent, type WatchedRun, watched, withEarlier } from './wall.ts'

const MOST_RUNS = 200

/** The running runs, kept by events; a run that began is read, since its event does not tell its task. */
export function useRunningRuns(filter: { agent?: string | undefined; mission?: string | undefined }) {
  const last = useRef<readonly WatchedRun[]>([])
  const { agent, mission } = filter
  const snapshot = useSnapshot<readonly WatchedRun[]>(
    ['watch', agent ?? '', mission ?? ''],
    async ({ signal }) => {
      const { body, seq } = await api().read('/runs', {
        query: { status: 'running', limit: MOST_RUNS, agent, mission },
        signal,
      })
      return { body: withEarlier(body.items.map(watched), last.current), seq }
    },
    { apply: afterEvent, refetchOn: ({ type }) => type === 'run_started' },
  )
  useEffect(() => {
    last.current = snapshot.data ?? []
  }, [snapshot.data])
  return snapshot
}

const DRAW_EVERY_MS = 200
const LINES_SHOWN = 8
const KEPT_CHARACTERS = 8_000

/** The last lines of these runs. However much they write, it is drawn five times a second. */
export function useLastLines(runIds: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const texts = useRef(new Map<string, string>())
  const isNew = useRef(false)
  const [lines, setLines] = useState<ReadonlyMap<string, readonly string[]>>(new Map())
  useOutput(runIds, ({ runId, chunk }: OutputChunk) => {
    texts.current.set(runId, ((texts.current.get(runId) ?? '') + chunk).slice(-KEPT_CHARACTERS))
    isNew.current = true
  })
  useEffect(() => {
    const timer = setInterval(() => {
      if (!isNew.current) return
      isNew.current = false
      setLines(new Map([...texts.current].map(([id, text]) => [id, lastLines(text)])))
    }, DRAW_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return lines
}

const lastLines = (text: string) =>
  text
    .split('\n')
    .map(plainText)
    .filter((line) => line.trim() !== '')
    .slice(-LINES_SHOWN)
