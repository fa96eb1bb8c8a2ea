import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import type { TaskNode } from './task-rows.ts'

export const useMission = (id: string) =>
  useSnapshot<Mission>(
    ['mission', id],
    ({ signal }) => api().read('/missions/:id', { params: { id }, signal }),
    { follows: about.mission(id) },
  )

/** Items that wait in one mission; the badge counts all. */
export const useWaitingOf = (id: string) =>
  useSnapshot(
    ['mission-inbox', id],
    ({ signal }) => api().read('/inbox', { query: { mission: id, sort: 'blocks', limit: 20 }, signal }),
    { follows: about.inboxOfMission(id) },
  )

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
      follows: about.missionGraph(id),
    },
  )

/** All versions of the plan, the newest first. */
export const usePlanVersions = (id: string) =>
  useSnapshot(
    ['plan-versions', id],
    ({ signal }) => api().read('/missions/:id/plans', { params: { id }, signal }),
    { follows: about.missionItself(id) },
  )

export const useReportOf = (id: string) =>
  useSnapshot(
    ['mission-report', id],
    ({ signal }) => api().read('/missions/:id/report', { params: { id }, query: { format: 'json' }, signal }),
    { follows: about.missionItself(id) },
  )
