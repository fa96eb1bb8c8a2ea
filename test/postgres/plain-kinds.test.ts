import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Changes, readSetOf, type View } from '../../src/kernel/batch/requests.ts'
import type { BatchStep } from '../../src/kernel/store/store.ts'
import { KINDS, NO_CHANGES, NO_KEYS } from '../../src/kinds/all.ts'
import type { Kind, KindName, KindShape } from '../../src/kinds/kind.ts'
import { noEffects } from '../../src/kinds/task/record.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { superuser } from '../support/nodes.ts'
import { PLAIN_KINDS } from '../support/plain-kinds.ts'
import { type SeededDatabase, seededDatabase } from '../support/seed.ts'

/** Kinds that are their fields and their rules: Postgres and its twin in memory hold the same of each. A new one is among them. */

let database: SeededDatabase
beforeAll(async () => {
  database = await seededDatabase()
})
afterAll(() => database.close())

interface Holding {
  transact<T>(workspaceId: number, step: BatchStep<T>): Promise<T>
}

const NOTHING: Changes = {
  ...noEffects(),
  ...{ tasks: [], created: [], dependencies: [], kinds: NO_CHANGES, grantedTasks: [], newReplies: [] },
  missions: { deltas: new Map(), claimedFrom: [], plans: [] },
  reservations: null,
  activeClaimsDelta: 0,
}

/** One record of one kind in a store, by its key. */
function place(store: Holding, workspaceId: number, kind: KindName, key: string) {
  const reads = { ...readSetOf([]), kinds: { ...NO_KEYS, [kind]: [key] } }
  const step = (changes: Changes) => ({
    ...{ on: 'batch' as const, reads },
    decide: (view: View) => ({ answer: view.kinds[kind].seen.get(key)?.record ?? null, changes }),
  })
  const change = (written: object[], removed: string[]) =>
    store.transact(
      workspaceId,
      step({ ...NOTHING, kinds: { ...NO_CHANGES, [kind]: { written, removed } } as Changes['kinds'] }),
    )
  return {
    look: () => store.transact(workspaceId, step(NOTHING)) as Promise<object | null>,
    write: (record: object) => change([record], []),
    remove: () => change([], [key]),
  }
}

test('there are some', () =>
  expect(PLAIN_KINDS.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['project', 'key'])))

describe.each(PLAIN_KINDS)('records of the kind $kind', ({ kind, table, key: column, may }) => {
  const { keyOf } = KINDS[kind] as unknown as Kind<KindShape>

  /** A record as Postgres reads it, in its place there and in memory. */
  async function both() {
    const { workspace } = database.a
    const { rows } = await superuser(database.url, (client) =>
      client.query(`select ${column} as key from baton.${table} where workspace_id = $1 order by 1`, [
        workspace,
      ]),
    )
    const { key } = rows[0]
    const twin = new MemoryStore({ now: () => Date.now() })
    twin.addWorkspace(workspace)
    return [
      place(database.store, workspace, kind, key),
      place(twin, workspace, kind, key),
      () => place(database.store, database.b.workspace, kind, key).look(),
    ] as const
  }

  test('are read as they were written, by Postgres and by its twin, and by no other workspace', async () => {
    const [postgres, twin, elsewhere] = await both()
    const record = await postgres.look()
    expect(record).not.toBeNull()
    for (const one of [postgres, twin]) {
      await one.write(record!)
      expect(await one.look()).toEqual(record)
    }
    expect(keyOf(record!)).toBe(keyOf((await twin.look())!))
    expect(await elsewhere()).not.toEqual(record)
  })

  test.skipIf(!may.includes('delete'))(
    'are gone when they are removed, and can be written again',
    async () => {
      const [postgres, twin] = await both()
      const record = (await postgres.look())!
      await twin.write(record)
      for (const one of [postgres, twin]) {
        await one.remove()
        expect(await one.look()).toBeNull()
        await one.write(record)
        expect(await one.look()).toEqual(record)
      }
    },
  )
})
