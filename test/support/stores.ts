import { Redis } from 'ioredis'
import { inject } from 'vitest'
import type { Store } from '../../src/kernel/store/store.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { MemoryRunStore } from '../../src/memory/run-store.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { MysqlStore } from '../../stores/mysql/store.ts'
import { ValkeyStore } from '../../stores/valkey/store.ts'
import { freshDatabase } from './database.ts'
import { freshMysqlDatabase } from './servers/mysql-database.ts'
import { freshValkeyPrefix } from './servers/valkey.ts'

export interface StoreUnderTest {
  store: Store
  /** A second process would open the server again; memory is one process by nature, so there it is the same store. */
  another(): Promise<Store>
  addWorkspace(limits?: Partial<Limits>): Promise<number>
  close(): Promise<void>
}

/** Every claim store Baton has, opened fresh. One suite runs on all of them. */
export const openStore: Record<'memory' | 'postgres' | 'valkey' | 'mysql', () => Promise<StoreUnderTest>> = {
  async memory() {
    const store = new MemoryRunStore()
    let last = 0
    const addWorkspace = async (limits?: Partial<Limits>) => {
      store.addWorkspace(++last, limits)
      return last
    }
    return { store, addWorkspace, another: async () => store, close: async () => undefined }
  },

  async postgres() {
    const database = await freshDatabase()
    const store = await PostgresStore.open(database.url)
    return {
      store,
      another: () => PostgresStore.open(database.url),
      addWorkspace: async (limits) => (await createWorkspace(store, 'test', 'test', limits)).workspaceId,
      async close() {
        await store.close()
        await database.drop()
      },
    }
  },

  async valkey() {
    const url = inject('valkeyUrl')!
    const prefix = freshValkeyPrefix()
    const store = await ValkeyStore.open(url, { prefix })
    let last = 0
    return {
      store,
      another: () => ValkeyStore.open(url, { prefix }),
      addWorkspace: (limits) => store.workspace(`test-${++last}`, limits),
      async close() {
        await store.close()
        await deleteKeys(url, prefix)
      },
    }
  },

  async mysql() {
    const database = await freshMysqlDatabase(inject('mariadbUrl')!)
    const store = await MysqlStore.open(database.url)
    let last = 0
    return {
      store,
      another: () => MysqlStore.open(database.url),
      addWorkspace: (limits) => store.workspace(`test-${++last}`, limits),
      async close() {
        await store.close()
        await database.drop()
      },
    }
  },
}

// Where there is no server of a kind, its store is left out; global-setup has printed it.
if (inject('valkeyUrl') === null) Reflect.deleteProperty(openStore, 'valkey')
if (inject('mariadbUrl') === null) Reflect.deleteProperty(openStore, 'mysql')

async function deleteKeys(url: string, prefix: string): Promise<void> {
  const client = new Redis(url)
  for await (const names of client.scanStream({ match: `{${prefix}*`, count: 1_000 }))
    if (names.length > 0) await client.unlink(names as string[])
  client.disconnect()
}
