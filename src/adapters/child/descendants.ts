import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { allPids, entryOf, type ProcessEntry } from './identity.ts'

/**
 * Remembers the descendants of programs while they run. A process whose parent has ended belongs to init, and if it also left
 * its process group and cleared its environment, only somebody who saw it before knows where it came from.
 */

const LOOK_EVERY_MS = 200
/** Looking takes no more than this share of the time, however many processes the machine has. */
const LARGEST_SHARE = 0.05
/** Reading so many processes takes a few milliseconds. */
const PROCESSES_PER_TURN = 200

/** The descendants of one process that were seen and may still be alive. */
export class Descendants {
  /** Start times by pid. */
  readonly #seen: Map<number, string>

  constructor(root: { pid: number; startTime: string | null }) {
    this.#seen = new Map(root.startTime === null ? [] : [[root.pid, root.startTime]])
  }

  has({ pid, startTime }: Pick<ProcessEntry, 'pid' | 'startTime'>): boolean {
    return this.#seen.get(pid) === startTime
  }

  /** Adds the descendants among these, and forgets what has ended. These must be all processes. */
  learn(entries: readonly ProcessEntry[], children = childrenAmong(entries)): void {
    if (this.#seen.size === 0) return
    const present = new Map(entries.map(({ pid, startTime }) => [pid, startTime]))
    // Another process has the pid now, and its children are not descendants.
    for (const [pid, startTime] of this.#seen)
      if (present.has(pid) && present.get(pid) !== startTime) this.#seen.delete(pid)
    // A parent that ended while the processes were read may be missing where its child still names it.
    const parents = [...this.#seen.keys()]
    for (let at = 0; at < parents.length; at++)
      for (const { pid, startTime } of children.get(parents[at]!) ?? []) {
        if (this.#seen.get(pid) === startTime) continue
        this.#seen.set(pid, startTime)
        parents.push(pid)
      }
    for (const pid of this.#seen.keys()) if (!present.has(pid)) this.#seen.delete(pid)
  }
}

export function childrenAmong(entries: readonly ProcessEntry[]): Map<number, ProcessEntry[]> {
  const children = new Map<number, ProcessEntry[]>()
  for (const entry of entries) {
    const siblings = children.get(entry.parent)
    if (siblings) siblings.push(entry)
    else children.set(entry.parent, [entry])
  }
  return children
}

const watched = new Set<Descendants>()
let isLooking = false

/** Looks for descendants of a process until `stop`. All processes that are watched share one look. */
export function watchDescendants(root: { pid: number; startTime: string | null }) {
  const descendants = new Descendants(root)
  watched.add(descendants)
  if (!isLooking) void lookWhileWatched()
  return { descendants, stop: () => void watched.delete(descendants) }
}

async function lookWhileWatched(): Promise<void> {
  isLooking = true
  while (watched.size > 0) {
    const startedAt = performance.now()
    const entries = await allProcesses()
    if (entries === null) break
    const children = childrenAmong(entries)
    for (const descendants of watched) descendants.learn(entries, children)
    const tookMs = performance.now() - startedAt
    await sleep(Math.max(LOOK_EVERY_MS, tookMs / LARGEST_SHARE), undefined, { ref: false })
  }
  isLooking = false
}

/** Null without /proc. */
async function allProcesses(): Promise<ProcessEntry[] | null> {
  const pids = allPids()
  if (pids === null) return null
  const entries: ProcessEntry[] = []
  for (let at = 0; at < pids.length; at += PROCESSES_PER_TURN) {
    if (at > 0) await nextTurn()
    for (const pid of pids.slice(at, at + PROCESSES_PER_TURN)) {
      const entry = entryOf(pid)
      if (entry) entries.push(entry)
    }
  }
  return entries
}
