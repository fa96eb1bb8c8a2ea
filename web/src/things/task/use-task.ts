import { useEffect, useRef } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import type { TaskState } from '../../../../src/pure/states.ts'
import { about } from '../../live/about.ts'
import type { LiveEvent } from '../../live/card.ts'
import { useCard } from '../../live/hooks.ts'
import type { ShownCard } from '../../live/pending-acts.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

export type Task = AnswerTo<'GET', '/tasks/:id'>
export type Neighbour = Task['blockedBy'][number]
export type Generation = AnswerTo<'GET', '/tasks/:id/claims'>['items'][number]
export type TaskRun = AnswerTo<'GET', '/tasks/:id/runs'>['items'][number]

const withState = (neighbours: readonly Neighbour[], id: string, state: TaskState) =>
  neighbours.map((one) => (one.taskId === id ? { ...one, state } : one))

/** What an event says about the task's neighbours. Its own changes are on its card at once, and are read again with all they bring. */
function afterEvent(task: Task, { taskId, to }: LiveEvent): Task {
  if (taskId === null || to === null || taskId === task.id) return task
  const isNeighbour = (one: Neighbour) => one.taskId === taskId
  if (!task.blockedBy.some(isNeighbour) && !task.blocks.some(isNeighbour)) return task
  const state = to as TaskState
  return {
    ...task,
    blockedBy: withState(task.blockedBy, taskId, state),
    blocks: withState(task.blocks, taskId, state),
  }
}

/** A task by its id, its key or its number. */
export function useTask(idOrKey: string) {
  const read = useRef<Task | null>(null)
  const snapshot = useSnapshot<Task>(
    ['task', idOrKey],
    ({ signal }) => api().read('/tasks/:id', { params: { id: idOrKey }, signal }),
    {
      apply: afterEvent,
      follows: (event) => {
        if (read.current === null) return false
        const { id, state } = read.current
        // A queued task says which agents could take it.
        return about.task(id)(event) || (state === 'queued' && about.agentsThemselves(event))
      },
    },
  )
  const { data = null } = snapshot
  useEffect(() => {
    read.current = data
  }, [data])
  return snapshot
}

/** What the card says as well, in its form. */
function asCard({ state, generation, attempt, priority, agent, resultDigest, ...task }: Task) {
  const { holder, progress, dueAt, awaits } = task
  return {
    ...{ state, generation, attempt, priority, agent, resultDigest },
    holder: holder && { agent: holder.agent, leaseExpiresAt: Date.parse(holder.leaseExpiresAt) },
    percent: progress?.percent ?? null,
    step: progress?.step ?? null,
    dueAt: dueAt === null ? null : Date.parse(dueAt),
    awaits: awaits && AWAITS[awaits.kind],
  }
}

/** The card knows what happened a moment ago, and acts that are on their way. Archived tasks have none. */
function shownTask(task: Task, card: ShownCard | undefined) {
  const isNewer = card !== undefined && (card.version >= task.version || card.pending !== undefined)
  const changing: ReturnType<typeof asCard> = isNewer ? card : asCard(task)
  return {
    ...changing,
    isPending: card?.pending !== undefined,
    costUsd: card?.costUsd ?? task.costUsd,
    tokensUsed: card?.tokensUsed ?? task.tokensUsed,
    purpose: task.purpose,
  }
}
export type ShownTask = ReturnType<typeof shownTask>

const AWAITS = {
  question: 'question',
  review: 'result',
  budget: 'budget',
  dead_letter: 'person',
  alert: 'agent',
} as const

export function useShownTask(task: Task): ShownTask {
  return shownTask(task, useCard(task.id))
}

/** One for each generation, the newest first. */
export const useGenerations = (id: string) =>
  useSnapshot(
    ['task-claims', id],
    ({ signal }) => api().read('/tasks/:id/claims', { params: { id }, signal }),
    { follows: about.task(id) },
  )

export const useTaskRuns = (id: string) =>
  useSnapshot(
    ['task-runs', id],
    ({ signal }) => api().read('/tasks/:id/runs', { params: { id }, query: { limit: '200' }, signal }),
    { follows: about.runsOfTask(id) },
  )
