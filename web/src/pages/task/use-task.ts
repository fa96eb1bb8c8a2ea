import { useEffect, useRef } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import type { TaskState } from '../../../../src/core/states.ts'
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

/** The card shows progress; nothing else of the task changes with it but its last checkpoint. */
const changesTask =
  ({ id, state }: Pick<Task, 'id' | 'state'>) =>
  ({ taskId, type, payload }: LiveEvent) =>
    taskId === id
      ? type === 'task_progress'
        ? payload.checkpoint === true
        : type !== 'task_logged'
      : // While it is queued it says which agents could take it.
        state === 'queued' && type.startsWith('agent_')

/** A task by its id, its key or its number. */
export function useTask(idOrKey: string) {
  const read = useRef<Task | null>(null)
  const snapshot = useSnapshot<Task>(
    ['task', idOrKey],
    ({ signal }) => api().read('/tasks/:id', { params: { id: idOrKey }, signal }),
    { apply: afterEvent, refetchOn: (event) => read.current !== null && changesTask(read.current)(event) },
  )
  const { data = null } = snapshot
  useEffect(() => {
    read.current = data
  }, [data])
  return snapshot
}

/** The card knows what happened a moment ago, and acts that are on their way. Archived tasks have none. */
function shownTask(task: Task, card: ShownCard | undefined) {
  const isNewer = card !== undefined && (card.version >= task.version || card.pending !== undefined)
  return {
    state: isNewer ? card.state : task.state,
    isPending: card?.pending !== undefined,
    generation: isNewer ? card.generation : task.generation,
    attempt: isNewer ? card.attempt : task.attempt,
    priority: isNewer ? card.priority : task.priority,
    agent: isNewer ? card.agent : task.agent,
    holder: isNewer ? card.holder : holderOf(task),
    percent: isNewer ? card.percent : (task.progress?.percent ?? null),
    step: isNewer ? card.step : (task.progress?.step ?? null),
    dueAt: isNewer ? card.dueAt : task.dueAt === null ? null : Date.parse(task.dueAt),
    costUsd: card?.costUsd ?? task.cost,
    tokens: card?.tokens ?? task.tokensUsed,
    awaits: isNewer ? card.awaits : task.awaits === null ? null : AWAITS[task.awaits.kind],
    resultDigest: isNewer ? card.resultDigest : task.resultDigest,
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

const holderOf = ({ holder }: Task) =>
  holder && { agent: holder.agent, leaseExpiresAt: Date.parse(holder.leaseExpiresAt) }

export function useShownTask(task: Task): ShownTask {
  return shownTask(task, useCard(task.id))
}

const MOST_CLAIMS_CHANGE: readonly string[] = [
  'task_progress',
  'task_logged',
  'task_updated',
  'comment_added',
]

/** One for each generation, the newest first. */
export const useGenerations = (id: string) =>
  useSnapshot(
    ['task-claims', id],
    ({ signal }) => api().read('/tasks/:id/claims', { params: { id }, signal }),
    {
      refetchOn: ({ taskId, type }) => taskId === id && !MOST_CLAIMS_CHANGE.includes(type),
    },
  )

const RUNS_CHANGE_ON: readonly string[] = [
  'run_queued',
  'run_started',
  'run_finished',
  'run_cancel_requested',
]

export const useTaskRuns = (id: string) =>
  useSnapshot(
    ['task-runs', id],
    ({ signal }) => api().read('/tasks/:id/runs', { params: { id }, query: { limit: '200' }, signal }),
    {
      refetchOn: ({ type, payload, taskId }) =>
        (taskId === id || payload.taskId === id) && RUNS_CHANGE_ON.includes(type),
    },
  )
