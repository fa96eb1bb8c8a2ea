import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PostgresStore } from '../src/store/postgres/store.ts'
import { freshDatabase } from './support/database.ts'
import { superuser } from './support/nodes.ts'
import { granted, holder, Work } from './support/tasks.ts'

const alpha = holder('alpha')
const MOST = { workspaces: 10, events: 1_000, leaseMs: 3_600_000 }

const database = await freshDatabase()
let store: PostgresStore
beforeAll(async () => {
  store = await PostgresStore.open(database.url)
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

const query = (text: string, values: unknown[]) =>
  superuser(database.url, async (client) => (await client.query(text, values)).rows)

/** A task that was done a year ago. */
async function doneLongAgo() {
  const { workspaceId: workspace } = await store.workspaces.create('test', 'test')
  const work = new Work(store, workspace)
  const task = await work.create()
  await work.submit(task, granted(await work.claim(task, alpha)))
  await query(`update baton.events set at = at - interval '1 year' where workspace_id = $1`, [workspace])
  await query(
    `update baton.attempts set acquired_at = acquired_at - interval '1 year', ended_at = ended_at - interval '1 year'
      where workspace_id = $1`,
    [workspace],
  )
  return { work, workspace, claims: async () => (await store.claims(workspace, task.id)).length }
}
const followDependents = async () => {
  for (let passes = 0; passes < 3; passes++) await (await store.missedTasks(1_000)).followed()
}

describe('retention', () => {
  test('waits for the slowest follower, and for none that is gone', async () => {
    const { workspace, claims } = await doneLongAgo()
    await followDependents()
    await store.followers.follow(workspace, 'slow', 'beginning')
    await store.applyRetention()
    expect(await claims(), 'its end is still to be seen').toBe(1)
    const [first] = await store.followers.next('slow', { ...MOST, events: 1 })
    await store.followers.advance(first!)
    await store.applyRetention()
    expect(await claims(), 'it is not there yet').toBe(1)
    const [rest] = await store.followers.next('slow', MOST)
    await store.followers.advance(rest!)
    await store.applyRetention()
    expect(await claims()).toBe(0)
  })

  test('deletes when the follower that it waited for is removed', async () => {
    const { workspace, claims } = await doneLongAgo()
    await followDependents()
    await store.followers.follow(workspace, 'gone', 'beginning')
    await store.applyRetention()
    expect(await claims()).toBe(1)
    await store.followers.unfollow(workspace, 'gone')
    await store.applyRetention()
    expect(await claims()).toBe(0)
  })

  test('waits until ends were followed to dependents, also where so little happened that it is not written down', async () => {
    const { workspace, claims } = await doneLongAgo()
    await store.applyRetention()
    expect(await claims(), 'nobody has followed yet').toBe(1)
    await followDependents()
    expect(await store.followers.followedByAll(workspace), 'only cached').toBe(0)
    await store.applyRetention()
    expect(await claims()).toBe(0)
  })
})

test('a follower continues where it was when another process starts', async () => {
  const { workspace } = await doneLongAgo()
  await store.followers.follow(workspace, 'seals', 'beginning')
  const [first] = await store.followers.next('seals', { ...MOST, events: 2 })
  await store.followers.advance(first!)
  const another = await PostgresStore.open(database.url)
  const [next] = await another.followers.next('seals', MOST)
  await another.close()
  expect(next).toMatchObject({ workspaceId: workspace, after: 2 })
})
