import { api } from './api.ts'

/** What people decide about one task beside the acts that a board offers. */

/** No undo: the agent continues with the answer. `generation`: the one whose question was read. */
export const answerQuestion = (id: string, answer: string, generation: number) =>
  api().post('/tasks/:id/answer', { params: { id }, body: { answer, generation } })

/** Its undo is putting the task back in the queue. */
export const completeByHand = (id: string, result: unknown, summary: string, generation: number) =>
  api().post('/tasks/:id/complete', {
    params: { id },
    body: { result, generation, ...(summary === '' ? {} : { summary }) },
  })

/** Its undo is putting the task back in the queue. */
export const skipTask = (id: string, reason: string, generation: number) =>
  api().post('/tasks/:id/skip', { params: { id }, body: { reason, generation } })

/** Its undo is another budget. A task that waited because it had spent its previous budget continues. */
export const setBudget = (id: string, budget: { maxUsd?: string; maxTokens?: number }) =>
  api().patch('/tasks/:id', { params: { id }, body: { budget } })

/** No undo but promoting another result. */
export const promoteResult = (id: string, ref: string, reason: string) =>
  api().post('/tasks/:id/results/:ref/promote', { params: { id, ref }, body: { reason } })
