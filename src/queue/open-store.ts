import { StartRefused } from '../core/refusal.ts'
import type { Store } from '../store/store.ts'

/** Which store a URL means. Each is loaded only when it is asked for. */
const OPENERS: Record<string, (url: string) => Promise<Store>> = {
  postgres: async (url) => (await import('../store/postgres/store.ts')).PostgresStore.open(url),
  redis: openValkey,
  mysql: async (url) => (await import('../store/mysql/store.ts')).MysqlStore.open(url),
  memory: async () => new (await import('../store/memory/store.ts')).MemoryStore(),
}

/** `?prefix=shop` keeps all keys below that name, where a server is shared. */
async function openValkey(given: string): Promise<Store> {
  const { ValkeyStore } = await import('../store/valkey/store.ts')
  const url = new URL(given)
  const prefix = url.searchParams.get('prefix')
  url.searchParams.delete('prefix')
  return ValkeyStore.open(url.href, prefix === null ? {} : { prefix })
}

const ALSO_KNOWN_AS: Record<string, string> = {
  postgresql: 'postgres',
  rediss: 'redis',
  valkey: 'redis',
  valkeys: 'redis',
  mariadb: 'mysql',
}

export async function openStore(url: string): Promise<Store> {
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? ''
  const open = OPENERS[ALSO_KNOWN_AS[scheme] ?? scheme]
  // The URL itself is not repeated: it may hold a password.
  if (!open)
    throw new StartRefused('A queue lives at a postgres:, redis:, valkey:, mysql:, mariadb: or memory: URL.')
  return open(url)
}
