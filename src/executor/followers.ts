import type { NodeMessage } from '../kernel/store/node-messages.ts'
import type { Timers } from './timers.ts'

/** Which output the readers of other nodes want, as those nodes say. A node that says nothing for a while wants nothing. */

/** How often a node repeats what its readers want. */
export const REPEAT_EVERY_MS = 5_000
const KNOWN_FOR_MS = 3 * REPEAT_EVERY_MS

interface Wanted {
  workspaceId: number
  /** Null: all. */
  runs: ReadonlySet<string> | null
  until: number
}

export class OtherFollowers {
  readonly #timers: Timers
  /** By node and workspace. */
  readonly #wanted = new Map<string, Wanted>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  hear(node: string, { workspaceId, runs }: Extract<NodeMessage, { follows: unknown }>['follows']): void {
    const name = `${node}/${workspaceId}`
    this.#wanted.delete(name)
    if (runs?.length === 0) return
    const until = this.#timers.now() + KNOWN_FOR_MS
    this.#wanted.set(name, { workspaceId, runs: runs && new Set(runs), until })
  }

  want({ workspaceId, runId }: { workspaceId: number; runId: string }): boolean {
    if (this.#wanted.size === 0) return false
    const now = this.#timers.now()
    for (const wanted of this.#wanted.values())
      if (wanted.workspaceId === workspaceId && wanted.until > now && (wanted.runs?.has(runId) ?? true))
        return true
    return false
  }

  forgetSilent(): void {
    const now = this.#timers.now()
    for (const [name, { until }] of this.#wanted) if (until <= now) this.#wanted.delete(name)
  }
}
