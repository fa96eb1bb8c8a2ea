import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { find, type Machine, thisMachine } from './machine.ts'
import { type Kind, locateOrThrow, obtain, type Server, type Skipped } from './obtain.ts'
import { type PrivateServer, type Recipe, startPrivateServer } from './private-server.ts'

/** As `valkey.conf` names them. */
export type ValkeySettings = Record<string, string>

/** What is acknowledged is on disk, and nothing is evicted. */
const DURABLE: ValkeySettings = {
  appendonly: 'yes',
  appendfsync: 'always',
  'maxmemory-policy': 'noeviction',
  save: '',
}
const OLDEST_MAJOR = 7
const ASK_MS = 2_000

const VALKEY: Kind<string> = {
  name: 'Valkey',
  wanted: `valkey-server or redis-server of version ${OLDEST_MAJOR} or later`,
  variables: ['VALKEY_URL'],
  packages: [
    { names: ['valkey-server'], service: 'valkey-server' },
    { names: ['redis-server'], service: 'redis-server' },
  ],
  async locate(machine) {
    for (const name of ['valkey-server', 'redis-server']) {
      const program = find(name, machine)
      if (program && (await majorVersionOf(program, machine)) >= OLDEST_MAJOR) return program
    }
    return undefined
  },
  startPrivate: (program) => startPrivateServer(recipe(program, {})),
}

/** The Valkey or Redis for the test run. */
export const startValkey = (machine: Machine = thisMachine): Promise<Server | Skipped> =>
  obtain(VALKEY, machine)

/** One of its own for a test, with settings of its own. */
export async function startPrivateValkey(
  settings: ValkeySettings = {},
  machine: Machine = thisMachine,
): Promise<PrivateServer> {
  return startPrivateServer(recipe(await locateOrThrow(VALKEY, machine), settings))
}

export const canStartPrivateValkey = async (): Promise<boolean> =>
  (await VALKEY.locate(thisMachine)) !== undefined

/** The prefix of one test's own keys. */
export const freshValkeyPrefix = (): string => `test-${randomUUID()}:`

const recipe = (program: string, settings: ValkeySettings): Recipe => ({
  name: 'Valkey',
  program,
  url: (port) => `redis://127.0.0.1:${port}`,
  args(data, port) {
    const ours = { bind: '127.0.0.1', port: String(port), dir: data, daemonize: 'no', logfile: '' }
    return Object.entries({ ...DURABLE, ...settings, ...ours }).flatMap(([key, value]) => [`--${key}`, value])
  },
  async isUp(url, { pid }) {
    const once = { lazyConnect: true, retryStrategy: () => null }
    const client = new Redis(url, { ...once, connectTimeout: ASK_MS, commandTimeout: ASK_MS })
    client.on('error', () => undefined)
    try {
      await client.connect()
      // Refused while it still loads its data.
      await client.ping()
      return (await client.info('server')).includes(`process_id:${pid}\r\n`)
    } finally {
      client.disconnect()
    }
  },
})

/** Both say `… server v=8.1.1 …`. */
async function majorVersionOf(program: string, machine: Machine): Promise<number> {
  const { output } = await machine.run(program, ['--version'])
  return Number(/ v=(\d+)\./.exec(output)?.[1] ?? 0)
}
