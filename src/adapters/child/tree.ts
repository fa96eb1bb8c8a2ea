import { setTimeout as sleep } from 'node:timers/promises'
import { allPids, bootId, entryOf, markerOf, type ProcessEntry } from './identity.ts'

/** Ending all processes of a run, and only those. */

export interface TreeRoot {
  /** Of the process that was spawned; it leads a process group of its own. */
  pid: number
  startTime: string | null
  bootId: string | null
  runId: string
}

/** Some processes could not be ended: they wait for a device, or belong to somebody else. */
class ProcessesRemain extends Error {
  override name = 'ProcessesRemain'
}

/** A killed process is gone within milliseconds, unless the kernel itself is stuck with it. */
const KILL_PATIENCE_MS = 30_000
const FIRST_LOOK_MS = 5
const SLOWEST_LOOK_MS = 200

/** The processes that carry this run's id. */
export function processesOf(runId: string): number[] {
  return processesWithMarkers().get(runId) ?? []
}

/** All processes that carry the id of a run, by run. This process itself is not among them. */
export function processesWithMarkers(): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const pid of allPids() ?? []) {
    const runId = pid === process.pid ? null : markerOf(pid)
    // The dead have no environment, so they are not among them either.
    if (runId === null) continue
    found.set(runId, [...(found.get(runId) ?? []), pid])
  }
  return found
}

/**
 * Ends the process group of a run and whoever else carries its id or descends from one of them: SIGTERM, then after the
 * grace SIGKILL, until nobody is left. `isWatched` says that whoever asks has spawned the root itself and seen it all the
 * time: then its group is known to be its own though the root has ended.
 */
export async function endTree(root: TreeRoot, graceMs: number, { isWatched = false } = {}): Promise<void> {
  // Of another boot nothing is left, and its pids mean others now.
  if (root.bootId !== null && root.bootId !== bootId()) return
  if (allPids() === null) return endGroup(root.pid, graceMs, isWatched)
  const killAt = performance.now() + graceMs
  const giveUpAt = killAt + KILL_PATIENCE_MS
  const told = new Map<string, NodeJS.Signals>()
  let lookMs = FIRST_LOOK_MS
  let emptyLooks = 0
  let remaining: ProcessEntry[] = []
  for (;;) {
    // Whoever is known is looked at alone, for a look at all processes costs milliseconds.
    remaining = remaining.filter(isThere)
    const signal = performance.now() >= killAt ? 'SIGKILL' : 'SIGTERM'
    if (remaining.length === 0 || signal === 'SIGKILL') remaining = membersOf(root, isWatched)
    // A fork or an exec in the very moment of a look hides a process from it: one empty look proves nothing.
    emptyLooks = remaining.length === 0 ? emptyLooks + 1 : 0
    if (emptyLooks === 2) return
    for (const member of remaining) tell(member, signal, told)
    if (performance.now() > giveUpAt)
      throw new ProcessesRemain(
        `Processes of run ${root.runId} could not be ended: ${remaining.map(({ pid }) => pid).join(', ')}.`,
      )
    const untilKillMs = killAt - performance.now()
    await sleep(untilKillMs > 0 ? Math.min(lookMs, untilKillMs) : FIRST_LOOK_MS)
    lookMs = Math.min(lookMs * 2, SLOWEST_LOOK_MS)
  }
}

function membersOf(root: TreeRoot, isWatched: boolean): ProcessEntry[] {
  const entries = (allPids() ?? []).flatMap((pid) => entryOf(pid) ?? [])
  const leader = entries.find(({ pid }) => pid === root.pid)
  const own = entries.find(({ pid }) => pid === process.pid)
  // While the root lives, and while anybody is left in its group, its number is not given out again.
  const isItsGroup = leader ? leader.startTime === root.startTime : isWatched
  const isGroupMember = ({ group }: ProcessEntry) => isItsGroup && group === root.pid && group !== own?.group
  const isMember = (entry: ProcessEntry) => isGroupMember(entry) || markerOf(entry.pid) === root.runId
  const members = new Map(entries.filter(isMember).map((entry) => [entry.pid, entry]))
  // Parents mostly come first, but a pid that was given out again may be lower than its parent's.
  for (let known = -1; known !== members.size; ) {
    known = members.size
    for (const entry of entries) if (members.has(entry.parent)) members.set(entry.pid, entry)
  }
  members.delete(process.pid)
  return [...members.values()].filter(({ isZombie }) => !isZombie)
}

function isThere({ pid, startTime }: ProcessEntry): boolean {
  const entry = entryOf(pid)
  return entry !== null && !entry.isZombie && entry.startTime === startTime
}

/** Each signal once: an agent that tidies up at SIGTERM may take a second one as an order to hurry. */
function tell(member: ProcessEntry, signal: NodeJS.Signals, told: Map<string, NodeJS.Signals>): void {
  const name = `${member.pid} ${member.startTime}`
  if (told.get(name) === signal || !isThere(member)) return
  told.set(name, signal)
  send(member.pid, signal)
}

/** Where there is no /proc only the group is known, and only if nobody else can have got its number meanwhile. */
async function endGroup(pid: number, graceMs: number, isWatched: boolean): Promise<void> {
  if (!isWatched) return
  const killAt = performance.now() + graceMs
  let lookMs = FIRST_LOOK_MS
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; send(-pid, signal); ) {
    await sleep(lookMs)
    lookMs = Math.min(lookMs * 2, SLOWEST_LOOK_MS)
    if (performance.now() > killAt + KILL_PATIENCE_MS)
      throw new ProcessesRemain(`The process group ${pid} could not be ended.`)
    signal = performance.now() >= killAt ? 'SIGKILL' : 0
  }
}

/** Whether there was anybody to send it to. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
