import type { AnswerTo } from '../../../../../src/client/client.ts'
import type { TaskState } from '../../../../../src/pure/states.ts'
import { afterChange, type Row, withRun } from '../../../graphs/timeline.ts'
import { type LiveEvent, payloadField } from '../../../live/card.ts'

export type { Row } from '../../../graphs/timeline.ts'

/** The timeline of a mission as rows, and after further events. Pure. */

type Answer = AnswerTo<'GET', '/missions/:id/timeline'>

export function rowsFrom(answer: Answer): readonly Row[] {
  if (!('tasks' in answer)) return []
  const { tasks, segments } = answer
  const bars: Row['bars'][number][][] = tasks.map(() => [])
  for (const [n, place] of segments.task.entries())
    bars[place]?.push({
      attempt: segments.attempt[n]!,
      kind: segments.kind[n]!,
      from: segments.from[n]!,
      to: segments.to[n] ?? null,
      startedAt: segments.startedAt[n] ?? null,
      runId: segments.runId[n] ?? null,
    })
  return tasks.map((task, place) => ({ task, bars: bars[place]! }))
}

/** The rows after an event: a task moved, or a run began for one. */
export function rowsAfter(rows: readonly Row[], event: LiveEvent): readonly Row[] {
  const { taskId, to, generation, at, runId, type } = event
  if (type === 'run_started' || type === 'run_queued') {
    const task = taskId ?? payloadField(event, 'taskId', 'string')
    const attempt = payloadField(event, 'generation', 'number') ?? generation
    return task === undefined || runId === null || attempt === null
      ? rows
      : withRun(rows, task, attempt, runId)
  }
  if (taskId === null || to === null) return rows
  return afterChange(rows, taskId, {
    generation: generation ?? 0,
    state: to as TaskState,
    at: Date.parse(at),
  })
}
