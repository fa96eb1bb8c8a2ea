import { useEffect, useRef } from 'react'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { afterEvent, type WatchedRun, watched, withEarlier } from './wall.ts'

const MOST_RUNS = 200

/** The running runs, kept by events; a run that began is read, since its event does not contain its task. */
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
    { apply: afterEvent, follows: about.runs },
  )
  useEffect(() => {
    last.current = snapshot.data ?? []
  }, [snapshot.data])
  return snapshot
}
