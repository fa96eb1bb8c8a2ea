import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { useList } from '../../things/use-list.ts'

export type Worker = AnswerTo<'GET', '/workers'>['items'][number]
export type DeadLetter = AnswerTo<'GET', '/dead-letters'>['items'][number]

export const useWorkers = () =>
  useSnapshot(['workers'], ({ signal }) => api().read('/workers', { signal }), { follows: about.sessions })

const idOf = ({ id }: DeadLetter) => id

export const useDeadLetters = () =>
  useList(
    ['dead-letters'],
    (query, signal) => api().read('/dead-letters', { query, ...(signal && { signal }) }),
    { follows: about.deadLetters, keyOf: idOf },
  )

export const useDrain = () =>
  useAct(
    (worker: string) => api().post('/workers/:id/drain', { params: { id: worker } }),
    ({ session, holds }) =>
      holds === 0
        ? `${session} takes no new work.`
        : `${session} takes no new work, and finishes the ${holds === 1 ? 'task' : `${holds} tasks`} it holds.`,
    { right: 'work' },
  )

export const useUnregister = () =>
  useAct(
    (worker: string) =>
      api().delete('/workers/:id', { params: { id: worker }, query: { reason: 'unregistered by a person' } }),
    (_, worker) => `${worker} is unregistered. What it held is queued again.`,
    { right: 'work' },
  )

/** Undefined: all of them. */
export const useRetryDead = () =>
  useAct(
    (taskIds: readonly string[] | undefined) =>
      api().post('/dead-letters/retry', { body: taskIds === undefined ? {} : { taskIds } }),
    ({ retried, results }) => {
      const refused = results.filter(({ reason }) => reason !== 'DONE')
      const title = `${retried === 1 ? 'One task is' : `${retried} tasks are`} queued again.`
      const [first] = refused
      if (!first) return title
      const why = 'detail' in first && typeof first.detail === 'string' ? first.detail : ''
      return {
        kind: 'note' as const,
        title,
        text: `${refused.length === 1 ? 'One was' : `${refused.length} were`} refused. ${why}`,
      }
    },
  )
