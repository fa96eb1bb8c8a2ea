import { useCallback, useMemo, useRef, useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import type { LiveEvent } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { writeSearch } from '../../search-params.ts'
import type { ListedRun } from '../../things/run/run.ts'
import type { RunFilter } from './search.ts'

type Answer = AnswerTo<'GET', '/runs'>

interface Head extends Answer {
  /** Runs that were queued since it was read. */
  readonly newer: number
}

const RUNS_A_PAGE = 50

/** A run that may belong to the list: what its event does not contain is known when the list is read again. */
export const afterEvent =
  ({ agent, source, task }: RunFilter) =>
  <H extends Pick<Head, 'newer'>>(head: H, { type, payload, taskId }: LiveEvent): H => {
    const isWanted = (wanted: string | undefined, value: unknown) => wanted === undefined || wanted === value
    const isOurs =
      isWanted(agent, payload.agent) && isWanted(source, payload.source) && isWanted(task, taskId)
    return type === 'run_queued' && isOurs ? { ...head, newer: head.newer + 1 } : head
  }

/** Runs, newest first. New ones come in while the reader is at the top, and wait while they read further down. */
export function useRuns(filter: RunFilter) {
  const key = writeSearch(filter)
  const isAtTop = useRef(true)
  const head = useSnapshot<Head>(
    ['runs', key],
    async ({ signal }) => {
      const { body, seq } = await api().read('/runs', { query: { ...filter, limit: RUNS_A_PAGE }, signal })
      return { body: { ...body, newer: 0 }, seq }
    },
    { apply: afterEvent(filter), follows: (event) => isAtTop.current && about.runs(event) },
  )
  const [older, setOlder] = useState<{
    key: string
    runs: readonly ListedRun[]
    cursor: string | null
  } | null>(null)
  const kept = older?.key === key ? older : null
  const isReading = useRef(false)
  const latest = useRef(filter)
  latest.current = filter
  const cursor = kept ? kept.cursor : (head.data?.nextCursor ?? null)
  const loadMore = useCallback(async () => {
    if (cursor === null || isReading.current) return
    isReading.current = true
    try {
      const page = await api().get('/runs', {
        query: { ...latest.current, cursor, limit: RUNS_A_PAGE },
      })
      setOlder((before) => ({
        key,
        runs: [...(before?.key === key ? before.runs : []), ...page.items],
        cursor: page.nextCursor,
      }))
    } finally {
      isReading.current = false
    }
  }, [cursor, key])
  const runs = useMemo(() => {
    const byId = new Map([...(head.data?.items ?? []), ...(kept?.runs ?? [])].map((run) => [run.id, run]))
    return [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
  }, [head.data, kept])
  const setAtTop = useCallback((next: boolean) => {
    isAtTop.current = next
  }, [])
  return { ...head, runs, newer: head.data?.newer ?? 0, loadMore, setAtTop }
}
