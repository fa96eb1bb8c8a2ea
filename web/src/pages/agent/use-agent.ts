import type { AnswerTo } from '../../../../src/client/client.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

export type AgentRead = AnswerTo<'GET', '/agents/:id'>

export const agentKey = (slug: string) => ['agent', slug]

/** An agent, read again after each event about it. A rate-limited account may be its own, even if other agents used it up. */
export const useAgent = (slug: string) =>
  useSnapshot<AgentRead>(
    agentKey(slug),
    ({ signal }) => api().read('/agents/:id', { params: { id: slug }, signal }),
    { refetchOn: ({ type, payload }) => payload.agent === slug || type === 'credential_parked' },
  )

const RUNS_IN_STRIP = 100

export const useRunsOfAgent = (slug: string) =>
  useSnapshot(
    ['agent-runs', slug],
    ({ signal }) =>
      api().read('/agents/:id/runs', { params: { id: slug }, query: { limit: RUNS_IN_STRIP }, signal }),
    { refetchOn: ({ type, payload }) => type.startsWith('run_') && payload.agent === slug },
  )

export const useSessionsOfAgent = (slug: string) =>
  useSnapshot(
    ['agent-sessions', slug],
    ({ signal }) => api().read('/agents/:id/task-sessions', { params: { id: slug }, signal }),
    {
      refetchOn: ({ type, payload }) =>
        payload.agent === slug && (type === 'run_finished' || type === 'runtime_state_reset'),
    },
  )

const WAKEUPS_SHOWN = 100

export const useWakeupsOfAgent = (slug: string) =>
  useSnapshot(
    ['agent-wakeups', slug],
    ({ signal }) =>
      api().read('/agents/:id/wakeups', { params: { id: slug }, query: { limit: WAKEUPS_SHOWN }, signal }),
    {
      refetchOn: ({ type, payload }) =>
        payload.agent === slug && (type.startsWith('wakeup_') || type.startsWith('run_')),
    },
  )
