import { bootId, startTimeOf } from '../adapters/child/identity.ts'
import {
  endTree,
  type LiveProcess,
  processesInFolder,
  processesOfRun,
  processesWithMarkers,
  type TreeRoot,
} from '../adapters/child/tree.ts'

/** Time and processes as the executor sees them. The simulation has its own of both. */

export interface Timers {
  /** Milliseconds that only grow. */
  now(): number
  /** Returns what cancels it. */
  after(ms: number, act: () => void): () => void
  every(ms: number, act: () => void): () => void
  /** From 0 to 1. */
  random(): number
}

export const realTimers: Timers = {
  now: () => performance.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
  every(ms, act) {
    const timer = setInterval(act, ms)
    return () => clearInterval(timer)
  },
  random: () => Math.random(),
}

/** Until the time is over or the signal fires. */
export function sleep(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const cancel = timers.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
  })
}

/** The processes of this machine. */
export interface Processes {
  /** Ends the processes of a run, all of them; with a folder, also those that work there. */
  end(root: TreeRoot, graceMs: number): Promise<void>
  /** The live processes of a run: those that carry its id and, if it has a folder of its own, those that work there. */
  ofRun(runId: string, folder: string | null): Promise<readonly LiveProcess[]>
  /** The live processes that work in a folder, except those that were started in a terminal. */
  inFolder(path: string): Promise<readonly LiveProcess[]>
  /** Runs that have processes here. */
  marked(): string[]
  bootId(): string | null
  startTimeOf(pid: number): string | null
}

export const realProcesses: Processes = {
  end: (root, graceMs) => endTree(root, graceMs),
  ofRun: async (runId, folder) => processesOfRun(runId, folder),
  inFolder: async (path) => processesInFolder(path),
  marked: () => [...processesWithMarkers().keys()],
  bootId,
  startTimeOf,
}
