import type { LiveEvent } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import type { Mission } from '../missions/progress.tsx'
import type { TaskNode } from './task-rows.ts'

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

const CHANGES_GRAPH: readonly string[] = ['task_created', 'task_updated', 'task_archived']

export const useTasksOf = (id: string) =>
  useSnapshot<readonly TaskNode[]>(
    ['mission-tasks', id],
    async ({ signal }) => {
      const { body, seq } = await api().read('/missions/:id/graph', { params: { id }, signal })
      const nodes: readonly TaskNode[] = Array.isArray(body.nodes) ? body.nodes : []
      // Before its approval a mission has the tasks of its plan, which have neither state nor card.
      return { body: nodes.filter(({ state }) => state !== null), seq }
    },
    {
      apply: (nodes, { taskId, to }) =>
        to !== null && nodes.some((node) => node.id === taskId)
          ? nodes.map((node) => (node.id === taskId ? { ...node, state: to as TaskNode['state'] } : node))
          : nodes,
      refetchOn: ({ type, missionId }) =>
        missionId === id && (type.startsWith('mission_') || CHANGES_GRAPH.includes(type)),
    },
  )

/** All versions of the plan, the newest first. */
export const usePlanVersions = (id: string) =>
  useSnapshot(
    ['plan-versions', id],
    ({ signal }) => api().read('/missions/:id/plans', { params: { id }, signal }),
    { refetchOn: ({ type, missionId }) => missionId === id && type.startsWith('mission_') },
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
