import { writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const LOWER_BY = 10
const LOWEST = 19

/**
 * Gives a program that was just started, and all that it will start, less of the processors than this server while both want
 * them: pages and leases must not wait for compilers. Where that is not allowed, the program runs as it is.
 */
export function lowerPriority(pid: number): void {
  try {
    const priority = Math.min(getPriority() + LOWER_BY, LOWEST)
    setPriority(pid, priority)
    // Where Linux shares the processors by session first, the priority counts only between the processes of one.
    writeFileSync(`/proc/${pid}/autogroup`, String(priority))
  } catch {
    // It has ended already, belongs to somebody else, or the system has no such thing.
  }
}
