import { isEnd, type MissionPhase } from '../../../../src/kinds/mission/states.ts'
import { about } from '../../live/about.ts'
import type { LiveEvent } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import { graphFrom, movedIn, type TaskGraph } from './task-rows.ts'
import { type Row, rowsAfter, rowsFrom } from './timeline/rows.ts'

/**
 * A mission that ends has ended at once, and its report can be read: the answer with all that follows from it comes when so many
 * events allow the next read.
 */
export function endedBy<T extends Pick<Mission, 'id' | 'state' | 'stateType'>>(
  mission: T,
  event: LiveEvent,
): T {
  const { entityType, missionId, to } = event
  if (entityType !== 'mission' || missionId !== mission.id || to === mission.state) return mission
  const end = to as MissionPhase
  return isEnd(end) ? { ...mission, state: end, stateType: 'terminal' } : mission
}

export const useMission = (id: string) =>
  useSnapshot<Mission>(
    ['mission', id],
    ({ signal }) => api().read('/missions/:id', { params: { id }, signal }),
    { apply: endedBy, follows: about.costOfMission(id) },
  )

/** Items that wait in one mission; the badge counts all. */
export const useWaitingOf = (id: string) =>
  useSnapshot(
    ['mission-inbox', id],
    ({ signal }) => api().read('/inbox', { query: { mission: id, sort: 'blocks', limit: 20 }, signal }),
    { follows: about.inboxOfMission(id) },
  )

/** Before its approval a mission has the tasks of its plan, which have neither state nor card. */
export const useGraphOf = (id: string) =>
  useSnapshot<TaskGraph>(
    ['mission-graph', id],
    async ({ signal }) => {
      const query = { format: 'columns' } as const
      const { body, seq } = await api().read('/missions/:id/graph', { params: { id }, query, signal })
      return { body: graphFrom(body), seq }
    },
    { apply: movedIn, follows: about.missionGraph(id) },
  )

/** What its tasks did when. Events of tasks say what comes next; only a new task is read. */
export const useTimelineOf = (id: string) =>
  useSnapshot<readonly Row[]>(
    ['mission-timeline', id],
    async ({ signal }) => {
      const query = { format: 'columns' } as const
      const { body, seq } = await api().read('/missions/:id/timeline', { params: { id }, query, signal })
      return { body: rowsFrom(body), seq }
    },
    { apply: rowsAfter, follows: about.tasksOfMission(id) },
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
