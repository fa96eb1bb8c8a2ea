import { sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { childrenAmong, type Descendants } from './descendants.ts'
import { allPids, bootId, entryOf, markerOf, type ProcessEntry, workingFolderOf } from './identity.ts'

/** Ends all processes of a run, and only those. */

export interface TreeRoot {
  /** The spawned process; it leads a process group of its own. */
  pid: number
  startTime: string | null
  bootId: string | null
  runId: string
  /** A real path that only this run works in, such as its worktree: processes that work there are ended as well. */
  folder?: string | null
}

/** A pid alone does not identify a process. */
export interface LiveProcess {
  pid: number
  startTime: string
}

/** Some processes could not be ended: they wait for a device, or belong to another user. */
class ProcessesRemain extends Error {
  override name = 'ProcessesRemain'
}

/** A killed process ends within milliseconds, unless it is stuck in the kernel. */
const KILL_TIMEOUT_MS = 30_000
const FIRST_POLL_MS = 5
const SLOWEST_POLL_MS = 200

/** The processes that carry the id of this run. */
export function processesOf(runId: string): number[] {
  return processesWithMarkers().get(runId) ?? []
}

/** All processes that carry the id of a run, by run, without this process itself. */
export function processesWithMarkers(): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const pid of allPids() ?? []) {
    const runId = pid === process.pid ? null : markerOf(pid)
    // Ended processes have no environment, so they are not included either.
    if (runId === null) continue
    found.set(runId, [...(found.get(runId) ?? []), pid])
  }
  return found
}

/** The live processes that carry the id of a run or, if it has a folder of its own, work there. */
export function processesOfRun(runId: string, folder: string | null): LiveProcess[] {
  const entries = allEntries()
  const isOfRun = markedOrInFolder(runId, folder, entries)
  return entries
    .filter((entry) => !entry.isZombie && entry.pid !== process.pid && isOfRun(entry))
    .map(({ pid, startTime }) => ({ pid, startTime }))
}

/** The live processes that work in this folder, except those that were started in a terminal. */
export function processesInFolder(folder: string): LiveProcess[] {
  const entries = allEntries()
  const own = ownAncestors(entries)
  return entries
    .filter((entry) => !entry.isZombie && worksIn(folder, entry, own))
    .map(({ pid, startTime }) => ({ pid, startTime }))
}

interface EndOptions {
  /** The caller has spawned the root itself and watched it since: the group is known to be the run's even without its root. */
  isWatched?: boolean
  /** The descendants of the root that the caller has seen. */
  seen?: Descendants
}

/**
 * Ends the process group of a run, every other process that carries its id, was seen as a descendant or works in its folder,
 * and all their descendants: SIGTERM, after the grace period SIGKILL, until none is left.
 */
export async function endTree(root: TreeRoot, graceMs: number, options: EndOptions = {}): Promise<void> {
  // No process survives a reboot, and the pids belong to other processes now.
  if (root.bootId !== null && root.bootId !== bootId()) return
  if (allPids() === null) return endGroup(root.pid, graceMs, options.isWatched ?? false)
  const killAt = performance.now() + graceMs
  const giveUpAt = killAt + KILL_TIMEOUT_MS
  const sent = new Map<string, NodeJS.Signals>()
  let pollMs = FIRST_POLL_MS
  let emptyScans = 0
  let remaining: ProcessEntry[] = []
  for (;;) {
    // Known processes are checked individually: a scan of all processes takes milliseconds.
    remaining = remaining.filter(isAlive)
    const signal = performance.now() >= killAt ? 'SIGKILL' : 'SIGTERM'
    if (remaining.length === 0 || signal === 'SIGKILL') remaining = membersOf(root, options)
    // A fork or exec during a scan may hide a process from it: one empty scan proves nothing.
    emptyScans = remaining.length === 0 ? emptyScans + 1 : 0
    if (emptyScans === 2) return
    for (const member of remaining) signalOnce(member, signal, sent)
    if (performance.now() > giveUpAt)
      throw new ProcessesRemain(
        `Processes of run ${root.runId} could not be ended: ${remaining.map(({ pid }) => pid).join(', ')}.`,
      )
    const untilKillMs = killAt - performance.now()
    await sleep(untilKillMs > 0 ? Math.min(pollMs, untilKillMs) : FIRST_POLL_MS)
    pollMs = Math.min(pollMs * 2, SLOWEST_POLL_MS)
  }
}

function membersOf(root: TreeRoot, { isWatched = false, seen }: EndOptions): ProcessEntry[] {
  const entries = allEntries()
  seen?.learn(entries)
  const leader = entries.find(({ pid }) => pid === root.pid)
  const own = entries.find(({ pid }) => pid === process.pid)
  // The number of the group is not reused while the root or any other member of the group is alive.
  const isItsGroup = leader ? leader.startTime === root.startTime : isWatched
  const isGroupMember = ({ group }: ProcessEntry) => isItsGroup && group === root.pid && group !== own?.group
  const isOfRun = markedOrInFolder(root.runId, root.folder ?? null, entries)
  const isMember = (entry: ProcessEntry) => isGroupMember(entry) || seen?.has(entry) || isOfRun(entry)
  const members = withDescendants(entries.filter(isMember), entries)
  members.delete(process.pid)
  return [...members.values()].filter(({ isZombie }) => !isZombie)
}

const allEntries = () => (allPids() ?? []).flatMap((pid) => entryOf(pid) ?? [])

function withDescendants(
  some: readonly ProcessEntry[],
  entries: readonly ProcessEntry[],
): Map<number, ProcessEntry> {
  const children = childrenAmong(entries)
  const found = new Map(some.map((entry) => [entry.pid, entry]))
  const pids = [...found.keys()]
  for (let at = 0; at < pids.length; at++)
    for (const child of children.get(pids[at]!) ?? []) {
      if (found.has(child.pid)) continue
      found.set(child.pid, child)
      pids.push(child.pid)
    }
  return found
}

/**
 * Whether a process works in the folder and may be ended for it. One that was started in a terminal is a person's, who looks
 * at the folder; processes of agents have no terminal.
 */
function worksIn(folder: string, { pid, hasTerminal }: ProcessEntry, except: ReadonlySet<number>): boolean {
  if (hasTerminal || except.has(pid)) return false
  const path = workingFolderOf(pid)
  return path !== null && (path === folder || path.startsWith(`${folder}${sep}`))
}

/** This process and those it was started by. */
function ownAncestors(entries: readonly ProcessEntry[]): Set<number> {
  const parents = new Map(entries.map(({ pid, parent }) => [pid, parent]))
  const found = new Set<number>()
  for (let pid: number | undefined = process.pid; pid && !found.has(pid); pid = parents.get(pid))
    found.add(pid)
  return found
}

/** Processes of other runs are not of this one wherever they work, and neither is Baton itself. */
function markedOrInFolder(runId: string, folder: string | null, entries: readonly ProcessEntry[]) {
  const markers = new Map(entries.map(({ pid }) => [pid, markerOf(pid)]))
  const isMarked = ({ pid }: ProcessEntry) => markers.get(pid) === runId
  if (folder === null) return isMarked
  const isOfAnother = ({ pid }: ProcessEntry) => (markers.get(pid) ?? runId) !== runId
  const others = withDescendants(entries.filter(isOfAnother), entries)
  const except = new Set([...ownAncestors(entries), ...others.keys()])
  return (entry: ProcessEntry) => isMarked(entry) || worksIn(folder, entry, except)
}

function isAlive({ pid, startTime }: ProcessEntry): boolean {
  const entry = entryOf(pid)
  return entry !== null && !entry.isZombie && entry.startTime === startTime
}

/** Sends each signal once: an agent that cleans up on SIGTERM may take a second one as an order to hurry. */
function signalOnce(member: ProcessEntry, signal: NodeJS.Signals, sent: Map<string, NodeJS.Signals>): void {
  const name = `${member.pid} ${member.startTime}`
  if (sent.get(name) === signal || !isAlive(member)) return
  sent.set(name, signal)
  send(member.pid, signal)
}

/** Without /proc only the group is known, and only if its number cannot have been reused meanwhile. */
async function endGroup(pid: number, graceMs: number, isWatched: boolean): Promise<void> {
  if (!isWatched) return
  const killAt = performance.now() + graceMs
  let pollMs = FIRST_POLL_MS
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; send(-pid, signal); ) {
    await sleep(pollMs)
    pollMs = Math.min(pollMs * 2, SLOWEST_POLL_MS)
    if (performance.now() > killAt + KILL_TIMEOUT_MS)
      throw new ProcessesRemain(`The process group ${pid} could not be ended.`)
    signal = performance.now() >= killAt ? 'SIGKILL' : 0
  }
}

/** False if there is no such process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
