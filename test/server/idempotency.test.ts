import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'
import type { Answer } from '../support/server.ts'

/** Idempotency keys belong to the API key that uses them. */

const { served, workspace } = useServer()

let w: Workspace
let keys: string[]
beforeAll(async () => {
  w = await workspace()
  const made = await Promise.all(['one', 'two'].map((name) => w.post('/keys', { name })))
  keys = made.map(({ body }) => body.key)
})
const as = (key: string, path: string, body: Json, headers: Record<string, string> = {}) =>
  served().call('POST', path, body, { key, headers })

describe('two keys that use the same idempotency key', () => {
  test('for equal requests both do what they request, and each gets its own answer again', async () => {
    const ask = (key: string) => as(key, '/tasks', { title: 'alike' }, { 'idempotency-key': 'k-1' })
    const [one, two] = [await ask(keys[0]!), await ask(keys[1]!)]
    expect(one.body.id).not.toBe(two.body.id)
    expect([(await ask(keys[0]!)).body.id, (await ask(keys[1]!)).body.id]).toEqual([one.body.id, two.body.id])
  })

  test('for different requests do not affect each other', async () => {
    const ask = (key: string) => as(key, '/tasks', { title: key.slice(-5) }, { 'idempotency-key': 'k-2' })
    expect([(await ask(keys[0]!)).status, (await ask(keys[1]!)).status]).toEqual([201, 201])
    expect((await as(keys[0]!, '/tasks', { title: 'another' }, { 'idempotency-key': 'k-2' })).status).toBe(
      422,
    )
  })

  test('of a task create a task each, also where the header of one is the key of the other', async () => {
    const once = { title: 'once', idempotencyKey: 'k-3' }
    const ids = [
      (await as(keys[0]!, '/tasks', once)).body.id,
      (await as(keys[1]!, '/tasks', once)).body.id,
      (await as(keys[1]!, '/tasks', { title: 'once' }, { 'idempotency-key': 'k-3' })).body.id,
    ]
    expect(new Set(ids).size).toBe(3)
    expect((await as(keys[0]!, '/tasks', once)).body.id).toBe(ids[0])
  })

  test('for projects and workers create one each', async () => {
    const header = { 'idempotency-key': 'k-4' }
    const projects = await Promise.all(keys.map((key, i) => as(key, '/projects', { slug: `p-${i}` }, header)))
    expect(projects.map(({ status }) => status)).toEqual([201, 201])
    const other = { 'idempotency-key': 'k-4-workers' }
    const workers = await Promise.all(keys.map((key) => as(key, '/workers', { capacity: 1 }, other)))
    expect(new Set(workers.map(({ body }) => body.session)).size).toBe(2)
  })

  test.each([
    ['in the body', (key: string): [Json, Record<string, string>] => [{ idempotencyKey: key }, {}]],
    ['in the header', (key: string): [Json, Record<string, string>] => [{}, { 'idempotency-key': key }]],
  ])('%s of a wakeup wake the agent each', async (_where, under) => {
    await w.call('PUT', '/agents/idle', { adapterType: 'simulated', adapterConfig: { steps: [] } })
    const wake = async (key: string) => (await as(key, '/agents/idle/wakeup', ...under('k-5'))).body.wakeup.id
    const [one, two] = [await wake(keys[0]!), await wake(keys[1]!)]
    expect(one).not.toBe(two)
    expect(await wake(keys[0]!)).toBe(one)
  })
})

describe('a repeated request whose answer had a secret in it', () => {
  const twice = async (path: string, body: Json) => {
    const header = { 'idempotency-key': `secret ${path}`.replaceAll(/[ /]/g, '-') }
    const key = path === '/workspaces' ? served().ownerKey : w.ownerKey
    const ask = (what: Json) => as(key, path, what, header)
    return { first: await ask(body), again: await ask(body), other: await ask({ ...body, name: 'other' }) }
  }
  const refused = (again: Answer, made: string) => {
    expect(again).toMatchObject({ status: 409, body: { code: 'ALREADY_EXISTS' } })
    expect(again.body.detail).toContain(made)
  }

  test('for a key is refused with the id of the key, and makes no second one', async () => {
    const { first, again, other } = await twice('/keys', { name: 'only one' })
    expect(first.status).toBe(201)
    refused(again, `key ${first.body.id}`)
    expect(other.body.code).toBe('IDEMPOTENCY_KEY_REUSED')
    const { items } = (await w.call('GET', '/keys')).body
    expect(items.filter(({ name }: Json) => name === 'only one')).toHaveLength(1)
  })

  test('for a workspace is refused with the id of the workspace', async () => {
    const { first, again, other } = await twice('/workspaces', { name: 'only one' })
    expect(first.status).toBe(201)
    refused(again, `workspace ${first.body.id}`)
    expect(other.body.code).toBe('IDEMPOTENCY_KEY_REUSED')
  })

  test('for a sign-in link is refused with the id of its key', async () => {
    const { first, again } = await twice('/session/link', {})
    expect(first.status).toBe(201)
    refused(again, 'a sign-in link of key ')
  })

  test('is nowhere in the database', async () => {
    const made = (await as(w.ownerKey, '/keys', { name: 'secret' }, { 'idempotency-key': 'nowhere' })).body
    const stored = await superuser(
      served().databaseUrl,
      async (client) =>
        (
          await client.query(
            `select reply::text as reply from baton.idempotency_keys where key like '%nowhere'`,
          )
        ).rows,
    )
    expect(stored).toHaveLength(1)
    expect(stored[0].reply).toContain(made.id)
    expect(stored[0].reply).not.toContain(made.key)
    const hash = createHash('sha256').update(made.key).digest('hex')
    expect(stored[0].reply).not.toContain(hash)
  })
})

describe('a repeated request that no batch decides', () => {
  const under = (header: string, path: string, body: Json = {}, on = w) =>
    on.post(path, body, { 'idempotency-key': header })
  const reused = (answer: Answer) =>
    expect([answer.status, answer.body.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
  const doneTo = async (type: string, agent: string) =>
    (await w.events()).filter((event: Json) => event.type === type && (event.payload as Json).agent === agent)

  test('resumes an agent once, however it is by then, and shows it as it is', async () => {
    await w.call('PUT', '/agents/once', { adapterType: 'simulated', adapterConfig: { steps: [] } })
    await w.post('/agents/once/pause', {})
    const first = await under('resume-1', '/agents/once/resume')
    expect(first).toMatchObject({ status: 200, body: { state: 'idle' } })
    await w.post('/agents/once/pause', {})
    const again = await under('resume-1', '/agents/once/resume')
    expect(again).toMatchObject({ status: 200, body: { state: 'paused', adapterConfig: { steps: [] } } })
    expect(await doneTo('agent_resumed', 'once')).toHaveLength(1)
    reused(await under('resume-1', '/agents/once/pause'))
  })

  test('about an agent leaves none of its settings in the database', async () => {
    const secret = 'a-word-that-is-nowhere-else'
    await w.call('PUT', '/agents/sealed', {
      adapterType: 'simulated',
      adapterConfig: { steps: [{ say: secret }] },
    })
    expect((await under('sealed-1', '/agents/sealed/pause')).status).toBe(200)
    const replies = await superuser(
      served().databaseUrl,
      async (client) =>
        (await client.query(`select reply::text from baton.idempotency_keys where key like '%sealed-1'`))
          .rows,
    )
    expect(replies).toHaveLength(1)
    expect(replies[0].reply).toContain('sealed')
    expect(replies[0].reply).not.toContain(secret)
  })

  test('is one heartbeat of an agent, a worker and a session, and renews leases once', async () => {
    await w.call('PUT', '/agents/beats', {})
    await w.post('/workers', { worker: 'w-beats', capacity: 1 })
    await w.post('/sessions', { session: 's-beats', agent: 'beats' })
    const task = await w.make()
    await w.claim(task, 'beats', { leaseSeconds: 60 })
    for (const path of [
      '/agents/beats/heartbeat',
      '/workers/w-beats/heartbeat',
      '/sessions/s-beats/heartbeat',
    ]) {
      const first = await under('beat-1', path)
      // Another one meanwhile: the repeat does not say what that did.
      expect((await w.post(path, {})).status, path).toBe(200)
      const again = await under('beat-1', path)
      const shown = ({ status, body }: Answer) => [status, JSON.stringify(body).replace(/"ttlMs":\d+/g, '')]
      if (path.startsWith('/agents')) {
        expect(shown(again), path).toEqual(shown(first))
        reused(await under('beat-1', path, { status: 'degraded' }))
      } else reused(again)
    }
    for (const path of ['/workers/w-beats/heartbeat', '/sessions/s-beats/heartbeat']) {
      const first = await under(`beat-${path}`.replaceAll('/', '-'), path)
      await w.post(path, {})
      const again = await under(`beat-${path}`.replaceAll('/', '-'), path)
      expect([again.status, again.body.expiresAt], path).toEqual([200, first.body.expiresAt])
    }
  })

  test('resets what an agent keeps once, and says how much that was', async () => {
    await w.call('PUT', '/agents/forgets', { adapterType: 'simulated', adapterConfig: { steps: [] } })
    const ask = () => under('reset-1', '/agents/forgets/reset-session')
    const [first, again] = [await ask(), await ask()]
    expect(again).toMatchObject({ status: 200, body: first.body })
    const both = await Promise.all([1, 2, 3].map(() => under('reset-2', '/agents/forgets/reset-session')))
    expect(both.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(await doneTo('runtime_state_reset', 'forgets')).toHaveLength(2)
    reused(await under('reset-1', '/agents/forgets/reset-session', { taskKey: 'other' }))
  })

  test('recovers a workspace once, and gives the first figures again', async () => {
    const own = await workspace()
    const first = await under('recover-1', '/coordinator/recover', {}, own)
    const again = await under('recover-1', '/coordinator/recover', {}, own)
    expect([first.status, again.status]).toEqual([200, 200])
    expect(again.body).toEqual(first.body)
    expect(await own.count('recovery_forced')).toBe(1)
    reused(await under('recover-1', '/coordinator/recover', { workspaceId: own.id }, own))
  })
})

test('no caller can use the key of one of Baton’s own wakeups', async () => {
  await w.call('PUT', '/agents/timed', {
    ...{ adapterType: 'simulated', adapterConfig: { steps: [] }, coordinatorEnabled: false },
    runtimeConfig: { heartbeat: { intervalSec: 3_600 } },
  })
  const clock = (text: string) =>
    superuser(
      served().databaseUrl,
      async (client) => (await client.query(text)).rows[0]?.at as string | undefined,
    )
  // The due time is set to a known one in the future, its key is used up, and then it comes.
  await until(() =>
    clock(
      `select next_timer_at as at from baton.agent_runtime_state where agent = 'timed' and next_timer_at is not null`,
    ),
  )
  const soon =
    await clock(`update baton.agent_runtime_state set next_timer_at = date_trunc('second', now()) + interval '3 seconds'
    where agent = 'timed' returning (extract(epoch from next_timer_at) * 1000)::bigint::text as at`)
  for (const key of [w.ownerKey, ...keys])
    expect((await as(key, '/agents/timed/wakeup', { idempotencyKey: `timer:${soon}` })).status).toBe(202)
  await until(async () => {
    const { items } = (await w.call('GET', '/agents/timed/wakeups')).body
    return items.some(({ source }: Json) => source === 'timer')
  })
})
