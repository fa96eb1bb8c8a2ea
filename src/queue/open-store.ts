import type { Store } from '../kernel/store/store.ts'
import { StartRefused } from '../pure/refusal.ts'

/** Store openers by URL scheme. Each store is loaded only when it is used. */
const OPENERS: Record<string, (url: string) => Promise<Store>> = {
  postgres: async (url) => (await import('../store/store.ts')).PostgresStore.open(url),
  redis: openValkey,
  mysql: async (url) => (await import('../../stores/mysql/store.ts')).MysqlStore.open(url),
  memory: async () => new (await import('../memory/store.ts')).MemoryStore(),
}

/** `?prefix=shop` puts all keys under that prefix, for a shared server. */
async function openValkey(given: string): Promise<Store> {
  const { ValkeyStore } = await import('../../stores/valkey/store.ts')
  const url = new URL(given)
  const prefix = url.searchParams.get('prefix')
  url.searchParams.delete('prefix')
  return ValkeyStore.open(url.href, prefix === null ? {} : { prefix })
}

const ALIASES: Record<string, string> = {
  postgresql: 'postgres',
  rediss: 'redis',
  valkey: 'redis',
  valkeys: 'redis',
  mariadb: 'mysql',
}

export async function openStore(url: string): Promise<Store> {
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? ''
  const open = OPENERS[ALIASES[scheme] ?? scheme]
  // The URL itself is not repeated: it may hold a password.
  if (!open)
    throw new StartRefused(
      'The URL of a queue must begin with postgres:, redis:, valkey:, mysql:, mariadb: or memory:.',
    )
  return open(url)
}
