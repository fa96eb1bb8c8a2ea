import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useLive } from '../../live/provider.tsx'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

export type AgentRead = AnswerTo<'GET', '/agents/:id'>

export const agentKey = (slug: string) => ['agent', slug]

export const useAgent = (slug: string) =>
  useSnapshot<AgentRead>(
    agentKey(slug),
    ({ signal }) => api().read('/agents/:id', { params: { id: slug }, signal }),
    { follows: about.agent(slug) },
  )

const RUNS_IN_STRIP = 100

export const useRunsOfAgent = (slug: string) =>
  useSnapshot(
    ['agent-runs', slug],
    ({ signal }) =>
      api().read('/agents/:id/runs', { params: { id: slug }, query: { limit: RUNS_IN_STRIP }, signal }),
    { follows: about.runsOfAgent(slug) },
  )

export const useSessionsOfAgent = (slug: string) =>
  useSnapshot(
    ['agent-sessions', slug],
    ({ signal }) => api().read('/agents/:id/task-sessions', { params: { id: slug }, signal }),
    { follows: about.agent(slug) },
  )

const WAKEUPS_SHOWN = 100

export const useWakeupsOfAgent = (slug: string) =>
  useSnapshot(
    ['agent-wakeups', slug],
    ({ signal }) =>
      api().read('/agents/:id/wakeups', { params: { id: slug }, query: { limit: WAKEUPS_SHOWN }, signal }),
    { follows: about.wakeupsOfAgent(slug) },
  )

const PERIOD_MS = 30 * 86_400_000
const ENDS: readonly (string | null)[] = ['completed', 'failed', 'cancelled']

/** How its tasks of the last 30 days ended, by type. Read again when one of them ends, and when its run does: that comes last. */
export function useSuccessOfAgent(slug: string) {
  const live = useLive()
  return useSnapshot(
    ['agent-success', slug],
    ({ signal }) =>
      api().read('/telemetry', {
        query: { from: new Date(live.now() - PERIOD_MS).toISOString() },
        signal,
      }),
    {
      follows: ({ entityType, payload, to, type }) =>
        payload.agent === slug && (type === 'run_finished' || (entityType === 'task' && ENDS.includes(to))),
    },
  )
}
