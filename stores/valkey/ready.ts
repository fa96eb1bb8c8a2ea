import type { Redis } from 'ioredis'
import { StartRefused } from '../../src/pure/refusal.ts'
import { ask, isFromServer } from './connect.ts'

const OLDEST_MAJOR = 7
/** The version of the stored format. A change of the format raises it. */
const FORMAT = '5'
/** Formats of earlier commits, before any release. */
const UNRELEASED = ['1', '2', '3', '4']

type Field = (name: string) => string | undefined

/** Throws when the server is not durable, in one sentence that says what to change. */
export async function assertDurable(client: Redis): Promise<void> {
  const text = await ask(client, () => client.info())
  const info = new Map(text.split(/\r?\n/).map((line) => line.split(/:(.*)/s, 2) as [string, string]))
  const problem =
    whatIsWrong((name) => info.get(name)) ?? (await whatIsNotDurable(client, (name) => info.get(name)))
  if (problem) throw new StartRefused(problem)
}

/** Separate, to be tested with answers of servers that hide some fields or that we do not have. */
export function whatIsWrong(field: Field): string | null {
  const version = field('valkey_version') ?? field('redis_version') ?? 'an unknown version'
  const name = field('valkey_version') ? 'Valkey' : 'Redis'
  const mode = field('server_mode') ?? field('redis_mode')
  if (mode === 'sentinel')
    return 'The address belongs to a Sentinel, which stores no data; use the address of the server it monitors.'
  if (!(Number.parseInt(version, 10) >= OLDEST_MAJOR))
    return `Baton needs Valkey or Redis ${OLDEST_MAJOR} or newer; this is ${name} ${version}.`
  if (mode === 'cluster' || field('cluster_enabled') === '1')
    return 'The server is part of a cluster, which Baton does not support; use a standalone server.'
  if (field('role') === 'slave')
    return 'The server is a replica, which accepts no writes; use the address of its primary.'
  return null
}

/** Acknowledged writes must be in a file, and nothing may be evicted. */
async function whatIsNotDurable(client: Redis, field: Field): Promise<string | null> {
  const aof = field('aof_enabled') ?? (await setting(client, 'appendonly'))
  if (aof !== '1' && aof !== 'yes')
    return 'The server loses acknowledged writes when it is killed: set "appendonly yes" (and "appendfsync always").'
  const policy = field('maxmemory_policy') ?? (await setting(client, 'maxmemory-policy'))
  if (policy !== 'noeviction')
    return `The server evicts data when its memory is full (${policy ?? 'unknown policy'}): set "maxmemory-policy noeviction".`
  return null
}

/** Managed servers do not allow CONFIG GET. */
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
      `The data on this Valkey server was written by an earlier, unreleased version of Baton (format ${format}); use an empty server or another prefix.`,
    )
  if (format !== FORMAT)
    throw new StartRefused(
      `The data on this Valkey server was written by another version of Baton (format ${format}, not ${FORMAT}).`,
    )
}
