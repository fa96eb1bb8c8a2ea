import type { SeenTask, Sight } from '../observer.ts'
import type { World } from '../world.ts'

/** An invariant of every task after every step, and the message when it is broken. */
export interface TaskInvariant {
  readonly says: string
  readonly broken: (task: SeenTask, world: World) => string | false | null | undefined
}

/** The same for the world as a whole. */
export interface WorldInvariant {
  readonly says: string
  readonly broken: (sight: Sight, world: World) => string | false | null | undefined
}
