import type { StoredEvent } from '../../../src/kinds/events.ts'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import type { RoutineRecord } from '../../../src/kinds/routine/record.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import { isTerminal, type TaskState } from '../../../src/pure/states.ts'
import { hasEnded } from './children-invariants.ts'

/** A claim that the last commit granted. */
export interface Granted {
  readonly task: TaskRecord
  readonly agent: string
  /** Its place among the events of the commit. */
  readonly at: number
}

/** What was there before the last commit, and what it added. The store replaces what it changes. */
export class Seen {
  missions: ReadonlyMap<string, MissionRecord> = new Map()
  tasks: ReadonlyMap<number, TaskRecord> = new Map()
  routines: ReadonlyMap<string, RoutineRecord> = new Map()
  /** How many there were. */
  reports = 0
  /** The events of the last commit. */
  news: readonly StoredEvent[] = []
  /** How each task has ended, at any time. */
  readonly ends = new Map<number, Set<TaskState>>()
  /** Tasks that a person put into the queue, whatever they depend on. */
  readonly pushed = new Set<number>()
  /** Plans that were approved, by mission and version. */
  readonly approved = new Set<string>()
  /** Whose verdict the result of a task needed when it was handed in. */
  readonly reviews = new Map<number, TaskRecord['verification']>()
  /** What tasks continue after, and since which event. */
  readonly later = new Map<number, { after: readonly string[]; seq: number }>()
  /** Missions that have ended, at any time. */
  readonly endedMissions = new Set<number>()
  #events = 0

  see(now: Workspace): void {
    this.news = now.events.slice(this.#events)
    for (const { type, to, taskId, payload, seq, missionId } of this.news) {
      if (taskId === null && hasEnded(to)) this.endedMissions.add(missionId!)
      if (taskId === null) continue
      if (type === 'task_continues_later') this.later.set(taskId, { after: payload.after as string[], seq })
      if (to !== null && isTerminal(to as TaskState)) this.#endsOf(taskId).add(to as TaskState)
      if (type === 'task_retried' || type === 'task_reset') this.pushed.add(taskId)
      const isReady = type === 'task_queued' && payload.because === 'dependencies_met'
      if (to === 'pending' || isReady) this.pushed.delete(taskId)
    }
  }

  keep({ missions, tasks, routines, reports, events }: Workspace): void {
    for (const { taskId, to, seq } of this.news) {
      if (taskId === null || to === null) continue
      if (to === 'assigned' && (this.later.get(taskId)?.seq ?? seq) < seq) this.later.delete(taskId)
      if (to !== 'verifying' && to !== 'awaiting_human') this.reviews.delete(taskId)
      else if (!this.reviews.has(taskId)) this.reviews.set(taskId, tasks.get(taskId)!.verification)
    }
    this.missions = new Map(missions)
    this.tasks = new Map(tasks)
    this.routines = new Map(routines)
    this.reports = reports.length
    this.#events = events.length
  }

  #endsOf(taskId: number): Set<TaskState> {
    const ends = this.ends.get(taskId) ?? new Set()
    this.ends.set(taskId, ends)
    return ends
  }

  granted({ tasks }: Workspace): Granted[] {
    return this.news.flatMap(({ type, taskId, payload }, at) =>
      type === 'task_assigned' ? { task: tasks.get(taskId!)!, agent: payload.agent as string, at } : [],
    )
  }

  missionOf(missionId: number): MissionRecord | undefined {
    return [...this.missions.values()].find(({ id }) => id === missionId)
  }
}
