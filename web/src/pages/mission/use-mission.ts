import type { LiveEvent } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import type { Mission } from '../missions/progress.tsx'

const TASKS_AT_ONCE = 200

const changes =
  (id: string) =>
  ({ type, missionId, to }: LiveEvent) =>
    missionId === id && (to !== null || type.startsWith('mission_'))

export const useMission = (id: string) =>
  useSnapshot<Mission>(
    ['mission', id],
    ({ signal }) => api().read('/missions/:id', { params: { id }, signal }),
    { refetchOn: changes(id) },
  )

/** Those of one mission; the badge counts all. */
export const useWaitingOf = (id: string) =>
  useSnapshot(
    ['mission-inbox', id],
    ({ signal }) => api().read('/inbox', { query: { mission: id, sort: 'blocks', limit: 20 }, signal }),
    { refetchOn: ({ type, missionId }) => missionId === id && type.startsWith('inbox_') },
  )

export const useTasksOf = (id: string) =>
  useSnapshot(
    ['mission-tasks', id],
    ({ signal }) =>
      api().read('/missions/:id/tasks', { params: { id }, query: { limit: TASKS_AT_ONCE }, signal }),
    {
      refetchOn: (event) => changes(id)(event) || (event.missionId === id && event.type === 'task_progress'),
    },
  )

export const useReportOf = (id: string) =>
  useSnapshot(
    ['mission-report', id],
    ({ signal }) => api().read('/missions/:id/report', { params: { id }, query: { format: 'json' }, signal }),
    {
      refetchOn: ({ type, missionId }) =>
        missionId === id && /report|mission_(completed|failed|cancelled)/.test(type),
    },
  )
