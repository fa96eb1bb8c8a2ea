import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, test } from 'vitest'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { emptyDatabase, serverUrl } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'
import { granted, holder, outcome, Work } from '../support/tasks.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const act of undo.splice(0).reverse()) await act()
})

const asSuperuser = (text: string) => superuser(serverUrl(), (client) => client.query(text))
const freshName = (what: string) => `${what}_${randomUUID().replaceAll('-', '')}`

/** A database, and its owner, who is no superuser; the role that the server is to use does not exist yet. */
async function ownDatabase(rights: 'createrole' | 'nocreaterole') {
  const [owner, role] = [freshName('owner'), freshName('server')]
  undo.push(() => asSuperuser(`drop role if exists ${owner}, ${role}`))
  await asSuperuser(`create role ${owner} login password 'secret' ${rights}`)
  const database = await emptyDatabase(`owner ${owner}`)
  undo.push(database.drop)
  const url = Object.assign(new URL(database.url), { username: owner, password: 'secret' }).href
  return { url, owner, role }
}

async function opened(url: string, role: string): Promise<PostgresStore> {
  const store = await PostgresStore.open(url, role)
  undo.push(() => store.close())
  return store
}

async function refusal(url: string, role: string): Promise<string> {
  const error = await opened(url, role).then(
    () => expect.fail('nothing was refused'),
    (error: Error) => error,
  )
  expect(error).toBeInstanceOf(StartRefused)
  return error.message
}

/** It works, as that role, and no workspace sees another. */
async function expectServing(store: PostgresStore, role: string): Promise<void> {
  expect((await store.writers.query('select current_user as name')).rows).toEqual([{ name: role }])
  const { workspaceId } = await createWorkspace(store, 'test', 'test')
  const work = new Work(store, workspaceId)
  const task = await work.create()
  const hold = granted(await work.claim(task, holder('alpha')))
  expect(outcome(await work.submit(task, hold))).toBe('ACCEPTED')
  const other = await createWorkspace(store, 'test', 'other')
  expect(await store.task(other.workspaceId, task.id)).toBeNull()
  expect((await store.readers.query('select from tasks')).rowCount, 'without a workspace').toBe(0)
}

const nothingIsLeft = (url: string) =>
  superuser(url, async (client) => {
    const { rows } = await client.query(`select to_regnamespace('baton') is null as gone`)
    expect(rows).toEqual([{ gone: true }])
  })

describe('the owner of a database, who is no superuser,', () => {
  test('sets Baton up alone if it may create roles, and again', async () => {
    const { url, role } = await ownDatabase('createrole')
    await expectServing(await opened(url, role), role)
    await opened(url, role)
  })

  test('notes what waits for people when it migrates, although the rows of no workspace are its own', async () => {
    const { url, role } = await ownDatabase('createrole')
    const before = await opened(url, role)
    const work = new Work(before, (await createWorkspace(before, 'test', 'test')).workspaceId)
    const task = await work.create({ verification: 'human' })
    await work.submit(task, granted(await work.claim(task, holder('alpha'))))
    const database = Object.assign(new URL(serverUrl()), { pathname: new URL(url).pathname }).href
    await superuser(database, (client) =>
      client.query(`set search_path = baton; delete from schema_migrations where name like '%waiting_for_people%';
        update task_details set waits_kind = null, waits_since = null, waits_because = null`),
    )
    expect(await work.details(task)).toMatchObject({ waitsKind: null })
    await opened(url, role)
    expect(await work.details(task)).toMatchObject({ waitsKind: 'review' })
  })

  test('keeps the index of tags, and fills it when it migrates, although the rows of no workspace are its own', async () => {
    const { url, role } = await ownDatabase('createrole')
    const before = await opened(url, role)
    const work = new Work(before, (await createWorkspace(before, 'test', 'test')).workspaceId)
    const task = await work.create({ tags: ['blue'] })
    const tagged = async (tag: string) => (await before.records(work.workspace, { tag }, 9)).length
    await work.update(task, { tags: ['red'] })
    expect([await tagged('blue'), await tagged('red')]).toEqual([0, 1])
    const database = Object.assign(new URL(serverUrl()), { pathname: new URL(url).pathname }).href
    await superuser(database, (client) =>
      client.query(`set search_path = baton; delete from schema_migrations where name like '%tags_and_reports%';
        delete from task_tags`),
    )
    expect(await tagged('red')).toBe(0)
    await opened(url, role)
    expect(await tagged('red')).toBe(1)
  })

  test('gets the statements to ask for if it may not, and nothing is left behind', async () => {
    const { url, owner, role } = await ownDatabase('nocreaterole')
    expect(await refusal(url, role)).toBe(
      `The database user ${owner} cannot take on the role ${role}, which the server uses; a superuser must run: create role ${role} nologin; grant ${role} to ${owner};`,
    )
    await nothingIsLeft(url)
  })

  test('sets it up when a superuser has run exactly those', async () => {
    const { url, role } = await ownDatabase('nocreaterole')
    const [, orders] = (await refusal(url, role)).split('run: ')
    await asSuperuser(orders!)
    await expectServing(await opened(url, role), role)
  })

  test('is asked for the role alone if it exists and belongs to others', async () => {
    const { url, owner, role } = await ownDatabase('nocreaterole')
    await asSuperuser(`create role ${role} nologin`)
    const [, orders] = (await refusal(url, role)).split('run: ')
    expect(orders).toBe(`grant ${role} to ${owner};`)
    await nothingIsLeft(url)
    await asSuperuser(orders!)
    await expectServing(await opened(url, role), role)
  })
})

test('a user who may create nothing in the database is refused in the words of the database', async () => {
  const { url, role } = await ownDatabase('nocreaterole')
  const stranger = freshName('stranger')
  undo.push(() => asSuperuser(`drop role if exists ${stranger}`))
  await asSuperuser(`create role ${stranger} login password 'secret'`)
  const own = Object.assign(new URL(url), { username: stranger }).href
  expect(await refusal(own, role)).toMatch(
    /^The database could not be set up: permission denied for database .*\.$/,
  )
  await nothingIsLeft(url)
})
