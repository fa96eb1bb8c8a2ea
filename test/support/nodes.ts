import pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import type { ReadSet } from '../../src/kernel/batch/requests.ts'
import { Combiner } from '../../src/kernel/combiner.ts'
import type { BatchStep, Store, Transactor } from '../../src/kernel/store/store.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import type { PostgresStore } from '../../src/store/store.ts'
import { openStore, type StoreUnderTest } from './stores.ts'
import { Work } from './tasks.ts'

export type StoreKind = keyof typeof openStore
export const storeKinds = Object.keys(openStore) as StoreKind[]

/** Every request in a transaction of its own, many at once: the most races a workspace can have. */
export const NO_COMPANY = { largestBatch: 1, underWayPerWorkspace: 8 }
type CombinerOptions = ConstructorParameters<typeof Combiner>[1]

/** Two nodes on one store, for a suite: each has its own connections and its own combiner. */
export function useNodes(kind: StoreKind) {
  let under: StoreUnderTest
  let other: Store
  beforeAll(async () => {
    under = await openStore[kind]()
    other = await under.another()
  })
  afterAll(async () => {
    if (other !== under.store) await other.close()
    await under.close()
  })
  return {
    store: () => under.store,
    /** Work in a new workspace. */
    async work(limits?: Partial<Limits>, options?: CombinerOptions): Promise<Work> {
      return new Work(under.store, await under.addWorkspace(limits), new Combiner(under.store, options))
    },
    /** The same new workspace, seen from both nodes. */
    async pair(limits?: Partial<Limits>, options?: CombinerOptions): Promise<[Work, Work]> {
      const workspace = await under.addWorkspace(limits)
      const onNode = (store: Store) => new Work(store, workspace, new Combiner(store, options))
      return [onNode(under.store), onNode(other)]
    },
  }
}

export const databaseUrlOf = (store: Store) =>
  (store as PostgresStore).writers.options.connectionString as string

export async function superuser<T>(url: string, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'test-superuser' })
  await client.connect()
  try {
    return await act(client)
  } finally {
    await client.end()
  }
}

/** A step on tasks and the kinds beside them, as the combiner makes them. */
export const batchStep = <T, K extends KindName>(
  reads: ReadSet,
  decide: BatchStep<T, K>['decide'],
): BatchStep<T, K> => ({ on: 'batch', reads, decide })

/** The store, its clock behind (or, with a negative number, ahead): things done through it were done that long ago. */
export const earlier = (store: Transactor, ms: number): Transactor => ({
  transact: (workspaceId, { decide, ...step }) =>
    store.transact(workspaceId, { ...step, decide: (view) => decide({ ...view, now: view.now - ms }) }),
})

/** The store, as if the workspace had these limits. */
export const withLimits = (store: Transactor, limits: Partial<Limits>): Transactor => ({
  transact: (workspaceId, { decide, ...step }) =>
    store.transact(workspaceId, {
      ...step,
      decide: (view) => decide({ ...view, limits: { ...view.limits, ...limits } }),
    }),
})

/** The store, with its transactions counted. */
export function counting(store: Transactor): Transactor & { transactions: number } {
  const counted = {
    transactions: 0,
    transact: ((workspaceId, step) => {
      counted.transactions += 1
      return store.transact(workspaceId, step)
    }) as Transactor['transact'],
  }
  return counted
}

export type Ask<T> = () => Promise<T | null | undefined | false>

/**
 * Polls until the answer is yes, the longer it takes the less often: most answers come within milliseconds, and those that do
 * not would take the machine from what is asked about. The test's own time limit is the limit.
 */
export async function until<T>(ask: Ask<T>, { firstMs = 5, lastMs = 200 } = {}): Promise<T> {
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 1.4, lastMs)) {
    const answer = await ask()
    if (answer) return answer
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
