import { setTimeout as sleep } from 'node:timers/promises'
import type { Postmaster } from './postmaster.ts'

const FIRST_WAIT_MS = 100
const LONGEST_WAIT_MS = 5_000

/** Restarts the server whenever it dies, until it is stopped. */
export function keepRunning(
  first: Postmaster,
  startAgain: () => Postmaster,
  log: (line: string) => void,
): { pid(): number; stop(): Promise<void> } {
  let current = first
  const stopping = new AbortController()

  // A crash of Baton must not leave a server behind; only kill -9 can, and the next start handles that.
  const stopAtExit = () => current.interrupt()
  process.on('exit', stopAtExit)

  const watching = (async () => {
    for (;;) {
      const ending = await current.ended
      if (stopping.signal.aborted) return
      log(`Postgres (process ${current.pid}) ended: ${ending}. Restarting it.`)
      await startUntilReady()
      if (stopping.signal.aborted) return
      log(`Postgres is running again (process ${current.pid}).`)
    }
  })()

  async function startUntilReady(): Promise<void> {
    let waitMs = FIRST_WAIT_MS
    while (!stopping.signal.aborted) {
      current = startAgain()
      try {
        return await current.ready
      } catch (error) {
        if (stopping.signal.aborted) return
        log(`Postgres did not start (${(error as Error).message}). Next attempt in ${waitMs} ms.`)
        await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {})
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
      }
    }
  }

  return {
    pid: () => current.pid,
    async stop() {
      stopping.abort()
      await current.stop()
      await watching
      process.off('exit', stopAtExit)
    },
  }
}
