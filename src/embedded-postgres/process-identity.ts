import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a process permanently: a pid alone is reused, and means nothing on another machine or in a container. */
export interface ProcessIdentity {
  /** Within one realm two processes can see each other by pid. */
  realm: string
  pid: number
  startedAt: string
}

const onLinux = process.platform === 'linux'

export function ownIdentity(): ProcessIdentity {
  return { realm: ownRealm(), pid: process.pid, startedAt: startOf(process.pid) ?? '' }
}

export function ownRealm(): string {
  if (!onLinux) return hostname()
  return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`
}

/** Valid only for identities of this process's own realm. */
export function isAlive(identity: ProcessIdentity): boolean {
  return startOf(identity.pid) === identity.startedAt
}

/** When the process started, or undefined if there is none; a zombie counts as none. */
export function startOf(pid: number): string | undefined {
  if (!onLinux) return ps(pid, 'stat=,lstart=')?.match(/^[^Z\s]\S*\s+(.*)$/)?.[1]
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before ')' may itself contain spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

export function commandLineOf(pid: number): string {
  if (!onLinux) return ps(pid, 'args=') ?? ''
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

function ps(pid: number, columns: string): string | undefined {
  try {
    return execFileSync('/bin/ps', ['-ww', '-o', columns, '-p', String(pid)], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    return undefined
  }
}
