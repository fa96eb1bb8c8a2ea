import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/**
 * Which process a pid means. Pids are given out again, so a pid alone is no name: with its start time and the boot of the
 * machine it is one. Where there is no /proc, nothing of this is known.
 */

/** Every process of a run carries its run here, those that left its process group too. */
export const RUN_MARKER = 'BATON_RUN_ID'

export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  /** In clock ticks since the boot. */
  startTime: string
  /** It has ended; only its parent has not asked for its exit code yet. */
  isZombie: boolean
}

/** Where pids mean the same: containers on one machine may have one host name, but not the same processes. */
export function thisMachine(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}

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
  // The second field is the name of the program in parentheses, and the name may itself have spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group] = fields
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    startTime: fields[19]!,
    isZombie: state === 'Z' || state === 'X',
  }
}

/** The run a process says it belongs to. Whoever hides its environment (ssh-agent does) says nothing. */
export function markerOf(pid: number): string | null {
  const environment = textOf(`/proc/${pid}/environ`)
  const prefix = `${RUN_MARKER}=`
  const variable = environment?.split('\0').find((entry) => entry.startsWith(prefix))
  return variable?.slice(prefix.length) ?? null
}

/** All pids there are; null where there is no /proc. */
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
