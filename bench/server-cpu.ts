import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, independent of its own clock. */
const TICK_MS = 10

interface Usage {
  pid: number
  parent: number
  /** Of the process itself and of its children that have ended. */
  cpuMs: number
}

/** CPU that a server, its children and its ended children have used, in milliseconds; NaN where there is no /proc. */
export function cpuMsOfProcessTree(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(usageOf)
    .filter((usage) => usage !== null)
  const root = all.find((usage) => usage.pid === pid)
  if (!root) return Number.NaN
  const tree = [root]
  // Grows while it is walked, until the last process has no children.
  for (const { pid: parent } of tree) tree.push(...all.filter((usage) => usage.parent === parent))
  return tree.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
}

/** Null for a process that ended since the folder was listed. */
function usageOf(pid: string): Usage | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // The second field is the name in brackets, and a name may hold spaces and brackets.
  const [, parent, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, userOfEnded, systemOfEnded] = fields.slice(9, 13).map(Number)
  const ticks = user! + system! + userOfEnded! + systemOfEnded!
  return { pid: Number(pid), parent: Number(parent), cpuMs: ticks * TICK_MS }
}
