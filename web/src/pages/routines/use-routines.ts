import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { useList } from '../../things/use-list.ts'

export type ListedRoutine = AnswerTo<'GET', '/routines'>['items'][number]
export type Routine = AnswerTo<'GET', '/routines/:id'> & {
  /** It was deleted since it was read. */
  isDeleted?: true
}
export type StartedMission = AnswerTo<'GET', '/routines/:id/runs'>['items'][number]

const idOf = ({ id }: ListedRoutine) => id
const missionOf = ({ missionId }: StartedMission) => missionId

export const useRoutines = () =>
  useList(['routines'], (query, signal) => api().read('/routines', { query, ...(signal && { signal }) }), {
    follows: about.routines,
    keyOf: idOf,
  })

export const useRoutine = (id: string) =>
  useSnapshot<Routine>(
    ['routine', id],
    ({ signal }) => api().read('/routines/:id', { params: { id }, signal }),
    {
      apply: (routine, { type, entityId }) =>
        type === 'routine_removed' && entityId === id ? { ...routine, isDeleted: true } : routine,
      follows: about.routine(id),
    },
  )

/** The missions it started, newest first: there may be ten thousand of them. */
export const useMissionsOfRoutine = (id: string) =>
  useList(
    ['routine-missions', id],
    (query, signal) => api().read('/routines/:id/runs', { params: { id }, query, ...(signal && { signal }) }),
    { follows: about.routine(id), keyOf: missionOf, isHistory: true },
  )
