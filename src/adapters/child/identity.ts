import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Identifies processes. Pids are reused, so a pid alone does not identify a process; together with its start time and the
 * boot id of the machine it does. Without /proc none of this is known.
 */

/** Every process of a run carries the run's id in this variable, even if it left the process group. */
export const RUN_MARKER = 'BATON_RUN_ID'

export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  /** In clock ticks since boot. */
  startTime: string
  /** It was started in a terminal. */
  hasTerminal: boolean
  /** It has ended, but its parent has not read its exit code yet. */
  isZombie: boolean
}

/** The scope in which pids are unique: containers on one machine may share a host name but not their processes. */
export function thisMachine(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

/** Whether this process, and so what it starts, has all rights on the machine. */
export const isRoot = () => process.geteuid?.() === 0

export function bootId(): string | null {
  return textOf('/proc/sys/kernel/random/boot_id')?.trim() || null
}

export function startTimeOf(pid: number): string | null {
  return entryOf(pid)?.startTime ?? null
}

/** Null when there is no such process. */
export function entryOf(pid: number): ProcessEntry | null {
  const stat = textOf(`/proc/${pid}/stat`)
  if (stat === null) return null
  // The second field is the name of the program in parentheses, and the name may itself contain spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group] = fields
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    startTime: fields[19]!,
    hasTerminal: fields[4] !== '0',
    isZombie: state === 'Z' || state === 'X',
  }
}

/** The run a process belongs to by its environment. Null for a process that hides its environment, as ssh-agent does. */
export function markerOf(pid: number): string | null {
  const environment = textOf(`/proc/${pid}/environ`)
  const prefix = `${RUN_MARKER}=`
  const variable = environment?.split('\0').find((entry) => entry.startsWith(prefix))
  return variable?.slice(prefix.length) ?? null
}

/** The working folder of a process; null if it has ended or belongs to another user. */
export function workingFolderOf(pid: number): string | null {
  try {
    // The system adds this to the path of a folder that was removed meanwhile.
    return readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, '')
  } catch {
    return null
  }
}

/** All pids; null without /proc. */
export function allPids(): number[] | null {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return null
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
