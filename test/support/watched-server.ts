import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { freshDatabase } from './database.ts'
import { compiledFile, launch, ownerKeyIn } from './launched.ts'
import { callsTo, type ServerUnderTest } from './server.ts'

const WATCH = compiledFile('test/support/processes/loop-watch.ts')

/** As `npm start` starts it: its memory is limited like that of every installation. */
const NODE_ARGS = (
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')).scripts.start as string
)
  .split(' ')
  .filter((word) => word.startsWith('--'))

export interface WatchedServer extends Pick<ServerUnderTest, 'api' | 'ownerKey' | 'call' | 'databaseUrl'> {
  /** The longest hold of its event loop since this was last called, as CPU time. */
  longestHoldMs(): Promise<number>
  /** Does this, and returns for how long the event loop was held meanwhile. */
  heldBy(act: () => Promise<unknown>): Promise<number>
  isRunning(): boolean
  stderr(): string
  close(): Promise<void>
}

/** A server in a process of its own, with the memory that people give it, whose event loop is watched. */
export async function startWatchedServer(env: Record<string, string> = {}): Promise<WatchedServer> {
  const database = await freshDatabase()
  const folder = mkdtempSync(join(inject('scratch'), 'watched-'))
  const launched = launch(
    { BATON_DATA: folder, DATABASE_URL: database.url, BATON_LOG_LEVEL: 'error', ...env },
    { nodeArgs: [...NODE_ARGS, '--import', WATCH], isConnected: true },
  )
  const { child, ended } = launched
  const api = `${await launched.ready}/api/v1`
  const ownerKey = ownerKeyIn(folder)
  const longestHoldMs = async () => {
    const answered = once(child, 'message')
    child.send('longest hold?')
    const [said] = await Promise.race([answered, ended.then(() => [])])
    if (!said) throw new Error(`Baton has ended: ${launched.stderr().slice(-2_000)}`)
    return (said as { longestHoldMs: number }).longestHoldMs
  }
  return {
    api,
    ownerKey,
    databaseUrl: database.url,
    call: callsTo(api, ownerKey),
    longestHoldMs,
    async heldBy(act) {
      await longestHoldMs()
      await act()
      return longestHoldMs()
    },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stderr: launched.stderr,
    async close() {
      child.kill('SIGTERM')
      await ended
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
