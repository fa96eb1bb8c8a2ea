import { setTimeout as sleep } from 'node:timers/promises'
import { allPids, bootId, entryOf, markerOf, type ProcessEntry } from './identity.ts'

/** Ends all processes of a run, and only those. */

export interface TreeRoot {
  /** The spawned process; it leads a process group of its own. */
  pid: number
  startTime: string | null
  bootId: string | null
  runId: string
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

/**
 * Ends the process group of a run, every other process that carries its id, and all their descendants: SIGTERM, after the
 * grace period SIGKILL, until none is left. `isWatched` means that the caller has spawned the root itself and watched it
 * since: then the group is known to belong to the run even after the root has ended.
 */
export async function endTree(root: TreeRoot, graceMs: number, { isWatched = false } = {}): Promise<void> {
  // No process survives a reboot, and the pids belong to other processes now.
  if (root.bootId !== null && root.bootId !== bootId()) return
  if (allPids() === null) return endGroup(root.pid, graceMs, isWatched)
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
    if (remaining.length === 0 || signal === 'SIGKILL') remaining = membersOf(root, isWatched)
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

function membersOf(root: TreeRoot, isWatched: boolean): ProcessEntry[] {
  const entries = (allPids() ?? []).flatMap((pid) => entryOf(pid) ?? [])
  const leader = entries.find(({ pid }) => pid === root.pid)
  const own = entries.find(({ pid }) => pid === process.pid)
  // The number of the group is not reused while the root or any other member of the group is alive.
  const isItsGroup = leader ? leader.startTime === root.startTime : isWatched
  const isGroupMember = ({ group }: ProcessEntry) => isItsGroup && group === root.pid && group !== own?.group
  const isMember = (entry: ProcessEntry) => isGroupMember(entry) || markerOf(entry.pid) === root.runId
  const members = new Map(entries.filter(isMember).map((entry) => [entry.pid, entry]))
  // Parents usually come first, but a reused pid may be lower than its parent's.
  for (let known = -1; known !== members.size; ) {
    known = members.size
    for (const entry of entries) if (members.has(entry.parent)) members.set(entry.pid, entry)
  }
  members.delete(process.pid)
  return [...members.values()].filter(({ isZombie }) => !isZombie)
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
