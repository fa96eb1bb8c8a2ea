import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { Work } from './tasks.ts'

/** Work on a memory store whose clock stands still until the test moves it. */
export function manualClock(limits: Partial<Limits> = {}) {
  let now = Date.UTC(2026, 0, 4, 6)
  const store = new MemoryStore({ now: () => now })
  store.addWorkspace(1, limits)
  return {
    work: new Work(store, 1),
    now: () => now,
    pass(ms: number): void {
      now += ms
    },
  }
}
