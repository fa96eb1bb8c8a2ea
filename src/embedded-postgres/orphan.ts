import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefused } from '../pure/refusal.ts'
import { folderIdentity } from './folder-lock.ts'
import { commandLineOf, startOf } from './process-identity.ts'

const FAST_STOP_MS = 10_000
const IMMEDIATE_STOP_MS = 10_000

/**
 * Every server that Baton starts has this on its command line, which any user can read. It distinguishes the server from a
 * process that got its pid later, and from the server of the folder that this one was copied from.
 */
export async function serverMark(cluster: string): Promise<string> {
  return `baton.cluster=${await folderIdentity(cluster)}`
}

/**
 * Stops a server that outlived its Baton server. It is stopped, not adopted: only a child process reports its end, sends its
 * log to Baton and has the settings of this version; and the restart takes less than 100 ms.
 * Call it with the folder locked: then no live Baton server uses the database.
 */
export async function stopOrphan(cluster: string, log: (line: string) => void): Promise<void> {
  const pid = await pidInFile(cluster)
  // If the process has ended, its file stays: Postgres itself checks whether leftover children still use the memory.
  if (pid === undefined || startOf(pid) === undefined) return
  if (!` ${commandLineOf(pid)} `.includes(` ${await serverMark(cluster)} `)) {
    // Postgres would take any live process of its user for another server.
    await rm(pidFile(cluster), { force: true })
    return
  }
  log(`Stopping the Postgres server (process ${pid}) that an earlier Baton server left running.`)
  if (await ends(pid, 'SIGINT', FAST_STOP_MS)) return
  if (await ends(pid, 'SIGQUIT', IMMEDIATE_STOP_MS)) return
  throw new StartRefused(
    `The Postgres server of an earlier start (process ${pid}) does not stop: end it by hand.`,
  )
}

async function pidInFile(cluster: string): Promise<number | undefined> {
  const text = await readFile(pidFile(cluster), 'utf8').catch(() => '')
  // Negative while Postgres runs without a network, as during set-up.
  const pid = Math.abs(Number.parseInt(text, 10))
  return pid > 1 ? pid : undefined
}

async function ends(pid: number, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  const start = startOf(pid)
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return true
    throw error
  }
  // It is not a child process, so no event reports its end.
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await sleep(10)) {
    if (startOf(pid) !== start) return true
  }
  return false
}

function pidFile(cluster: string): string {
  return join(cluster, 'postmaster.pid')
}
