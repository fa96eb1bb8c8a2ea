import type { StoredEvent } from '../../src/kinds/events.ts'
import { TASK_TRANSITIONS, type TaskState, type TransitionName } from '../../src/pure/states.ts'

/** The state that a task's events lead to. Throws when log and table contradict each other: a write bypassed the rules. */
export function replay(events: readonly StoredEvent[]): { state: TaskState; generation: number } | null {
  let now: { state: TaskState; generation: number } | null = null
  for (const event of events) {
    if (event.to === null || event.taskId === null) continue
    if (now && event.from !== now.state)
      throw new Error(`event ${event.seq} leaves ${event.from}, but the task was ${now.state}`)
    if (event.type !== 'task_created') {
      const rule = TASK_TRANSITIONS[event.type as TransitionName]
      if (!now || !(rule.from as readonly TaskState[]).includes(now.state) || rule.to !== event.to)
        throw new Error(`event ${event.seq} (${event.type}) is not in the transition table`)
      if (event.generation! < now.generation) throw new Error(`event ${event.seq} lowers the generation`)
    }
    now = { state: event.to as TaskState, generation: event.generation! }
  }
  return now
}
