import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FOLLOWERS } from '../../src/kinds/all.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'
import { granted, holder, Work } from '../support/tasks.ts'

const alpha = holder('alpha')

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
  const { workspaceId: workspace } = await createWorkspace(store, 'test', 'test')
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
/** Nothing comes of it: the cursors of the followers of every workspace are only cached. */
const followAll = async () => {
  for (const name of Object.keys(FOLLOWERS))
    for (const range of await store.followers.behind(name))
      await store.followers.advance(range, range.upTo, false)
}
const next = async (by: PostgresStore, name: string) => (await by.followers.behind(name))[0]!

describe('retention', () => {
  test('waits for the slowest follower, and for none that is gone', async () => {
    const { workspace, claims } = await doneLongAgo()
    await followAll()
    await store.followers.follow(workspace, 'slow', 'beginning')
    await store.applyRetention()
    expect(await claims(), 'its end is still to be seen').toBe(1)
    await store.followers.advance(await next(store, 'slow'), 1, true)
    await store.applyRetention()
    expect(await claims(), 'it is not there yet').toBe(1)
    const rest = await next(store, 'slow')
    await store.followers.advance(rest, rest.upTo, true)
    await store.applyRetention()
    expect(await claims()).toBe(0)
  })

  test('deletes when the follower that it waited for is removed', async () => {
    const { workspace, claims } = await doneLongAgo()
    await followAll()
    await store.followers.follow(workspace, 'gone', 'beginning')
    await store.applyRetention()
    expect(await claims()).toBe(1)
    await store.followers.unfollow(workspace, 'gone')
    await store.applyRetention()
    expect(await claims()).toBe(0)
  })

  test('waits until ends were followed, also where so little happened that it is not written down', async () => {
    const { workspace, claims } = await doneLongAgo()
    await store.applyRetention()
    expect(await claims(), 'nobody has followed yet').toBe(1)
    await followAll()
    expect(await store.followers.followedByAll(workspace), 'only cached').toBe(0)
    await store.applyRetention()
    expect(await claims()).toBe(0)
  })
})

test('a follower continues where it was when another process starts', async () => {
  const { workspace } = await doneLongAgo()
  await store.followers.follow(workspace, 'seals', 'beginning')
  await store.followers.advance(await next(store, 'seals'), 2, true)
  const another = await PostgresStore.open(database.url)
  const range = await next(another, 'seals')
  await another.close()
  expect(range).toMatchObject({ workspaceId: workspace, after: 2 })
})
