import type { Changes, Request, View } from '../../src/kernel/batch/requests.ts'
import type { Transactor } from '../../src/kernel/store/store.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import type { PausingMemory } from './backing.ts'
import type { Envelope } from './node.ts'

/** A bug outside the real code, to check that the simulation notices it. */
export interface PlantedBug {
  readonly says: string
  /** The invariants that may notice it first. */
  readonly foundBy: readonly string[]
  /** Another store in memory. */
  readonly Memory?: typeof PausingMemory
  /** What the broken server sees instead of what is there. */
  readonly view?: (view: View, envelopes: readonly Envelope[]) => View
  /** A request as the broken server understands it. */
  readonly request?: (request: Request, view: View) => Request
  /** What it writes instead of what was decided. */
  readonly changes?: (changes: Changes, requests: readonly Request[], view: View) => Changes
  /** How it goes to the store. */
  readonly wrap?: (store: Transactor<KindName>, now: () => number) => Transactor<KindName>
}
