import type { Follower } from '../kernel/follower.ts'
import type { UpkeepContext } from '../kernel/upkeep-context.ts'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { ServerStore } from './server-store.ts'

/** The parts of a pass of the coordinator, in their order. Steps of the last are chores: they depend on time alone, and are not reported. */
export const PHASES = ['expire', 'settle', 'assign', 'tell', 'repair', 'clean'] as const

/** What a step of the coordinator is called with. */
export interface StepContext extends UpkeepContext<ServerStore> {
  /** The one object of a class that steps keep between passes: a hint, which is lost with the process. */
  kept<T>(made: new () => T): T
  /** A person asked for everything that is due. */
  isRequested?: boolean
  /** How this node reaches programs outside. */
  outgoing?: Outgoing | undefined
  /** For work that a pass does not wait for. Without it, such work is left alone. */
  beside?: WorkBeside | undefined
}

/** Work beside the passes of the coordinator: under one name, one at a time. */
export interface WorkBeside {
  /** The names under which work is under way that begin like this. */
  busy(beginning: string): string[]
  /** `work` ends soon after it is told to stop, and does not fail. */
  start(name: string, work: (stopping: AbortSignal) => Promise<void>): void
}

interface Step {
  /** The figure of the step in the report of a pass. */
  name: string
  phase: (typeof PHASES)[number]
  /** 0: in every pass. */
  everyMs: number
}

/** A step of the coordinator. When it has something to do by time alone, its kind states the time in Postgres (`due`). */
export interface UpkeepStep extends Step {
  /** Returns how many records it handled. */
  run: (context: StepContext) => Promise<number>
}

/** A step that follows the log. */
export interface FollowingStep extends Step {
  follower: Follower<ServerStore>
}

/** Keeps one object of each class. */
export function keeper(): StepContext['kept'] {
  const all = new Map<unknown, unknown>()
  return <T>(made: new () => T) => {
    if (!all.has(made)) all.set(made, new made())
    return all.get(made) as T
  }
}
