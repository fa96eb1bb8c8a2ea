import type { Limits } from '../../src/core/limits.ts'
import { MemoryStore } from '../../src/store/memory/store.ts'
import { PostgresStore } from '../../src/store/postgres/store.ts'
import { createWorkspace } from '../../src/store/postgres/workspaces.ts'
import type { Store } from '../../src/store/store.ts'
import { freshDatabase } from './database.ts'

export interface StoreUnderTest {
  store: Store
  addWorkspace(limits?: Partial<Limits>): Promise<number>
  close(): Promise<void>
}

/** Every claim store Baton has, opened fresh. One suite runs on all of them. */
export const openStore: Record<'memory' | 'postgres', () => Promise<StoreUnderTest>> = {
  async memory() {
    const store = new MemoryStore()
    let last = 0
    const addWorkspace = async (limits?: Partial<Limits>) => {
      store.addWorkspace(++last, limits)
      return last
    }
    return { store, addWorkspace, close: async () => undefined }
  },

  async postgres() {
    const database = await freshDatabase()
    const store = await PostgresStore.open(database.url)
    return {
      store,
      addWorkspace: async (limits) =>
        (await createWorkspace(store.writers, 'test', 'test', limits)).workspaceId,
      async close() {
        await store.close()
        await database.drop()
      },
    }
  },
}
