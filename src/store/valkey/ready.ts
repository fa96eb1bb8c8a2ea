import type { Redis } from 'ioredis'
import { StartRefused } from '../../core/refusal.ts'
import { ask, isFromServer } from './connect.ts'

const OLDEST_MAJOR = 7
/** The version of the stored format. A change of the format raises it. */
const FORMAT = '2'
/** Formats of earlier commits, before any release. */
const UNRELEASED = ['1']

type Field = (name: string) => string | undefined

/** Throws when the server cannot keep what it is given, in one sentence that says what to change. */
export async function assertServerKeepsPromises(client: Redis): Promise<void> {
  const text = await ask(client, () => client.info())
  const info = new Map(text.split(/\r?\n/).map((line) => line.split(/:(.*)/s, 2) as [string, string]))
  const complaint =
    whatIsWrong((name) => info.get(name)) ?? (await whatIsNotDurable(client, (name) => info.get(name)))
  if (complaint) throw new StartRefused(complaint)
}

/** Also from the answers of servers that hide some of them, and of ones we have not got. */
export function whatIsWrong(field: Field): string | null {
  const version = field('valkey_version') ?? field('redis_version') ?? 'an unknown version'
  const name = field('valkey_version') ? 'Valkey' : 'Redis'
  const mode = field('server_mode') ?? field('redis_mode')
  if (mode === 'sentinel')
    return 'The address is that of a Sentinel, which keeps nothing itself; give the address of the server it watches.'
  if (!(Number.parseInt(version, 10) >= OLDEST_MAJOR))
    return `Baton needs Valkey or Redis ${OLDEST_MAJOR} or newer; this is ${name} ${version}.`
  if (mode === 'cluster' || field('cluster_enabled') === '1')
    return 'The server is part of a cluster, which Baton cannot use; give it a server of its own.'
  if (field('role') === 'slave')
    return 'The server is a replica, which takes no writes; give the address of its primary.'
  return null
}

/** What is acknowledged must be in a file, and nothing may be thrown out to make room. */
async function whatIsNotDurable(client: Redis, field: Field): Promise<string | null> {
  const aof = field('aof_enabled') ?? (await setting(client, 'appendonly'))
  if (aof !== '1' && aof !== 'yes')
    return 'The server forgets what it was told when it is killed: set "appendonly yes" (and "appendfsync always").'
  const policy = field('maxmemory_policy') ?? (await setting(client, 'maxmemory-policy'))
  if (policy !== 'noeviction')
    return `The server throws out data when its memory is full (${policy ?? 'it does not say how'}): set "maxmemory-policy noeviction".`
  return null
}

/** Managed servers forbid to ask. */
async function setting(client: Redis, name: string): Promise<string | undefined> {
  try {
    const answer = (await client.config('GET', name)) as string[]
    return answer[1]
  } catch (error) {
    if (isFromServer(error)) return undefined
    throw error
  }
}

/** The stored data must have the format that this version writes. */
export async function assertFormat(client: Redis, key: string): Promise<void> {
  const [, format] = await ask(client, async () => [
    await client.set(key, FORMAT, 'NX'),
    await client.get(key),
  ])
  if (UNRELEASED.includes(format ?? ''))
    throw new StartRefused(
      `The data on this Valkey server was written by an earlier, unreleased version of Baton (format ${format}); give this version an empty server or another prefix.`,
    )
  if (format !== FORMAT)
    throw new StartRefused(
      `The data on this Valkey server was written by another version of Baton (format ${format}, not ${FORMAT}).`,
    )
}
