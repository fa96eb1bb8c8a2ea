import type { ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'
import { ok, type Receiver, status, useReceivers } from '../../support/receivers.ts'

/** What a receiver gets, in which order, and what becomes of what it does not take. */

const { workspace, served } = useServer()
const receiver = useReceivers()

async function hooked(w: Workspace, to: Receiver, more: Json = {}) {
  const answer = await w.post('/webhooks', { url: to.url, events: ['task_*'], ...more })
  expect(answer.body).toMatchObject({ state: 'active' })
  expect(answer.status).toBe(201)
  return answer.body as { id: string; secret: string }
}
const deliveries = async (w: Workspace, { id }: { id: string }, query = '') =>
  (await w.call('GET', `/webhooks/${id}/deliveries${query}`)).body.items
const typesOf = (to: Receiver) => to.received.map(({ body }) => body.type)

describe('a receiver', () => {
  test('gets the events that it asked for, thin and signed as Standard Webhooks says', async () => {
    const w = await workspace()
    const to = await receiver()
    const { secret, id } = await hooked(w, to, { events: ['task_created', 'task.assigned'] })
    const task = await w.held({ title: 'A title that is nobody’s business' })
    const [created, assigned] = await to.gets(2)
    expect(created!.body).toMatchObject({
      type: 'task_created',
      timestamp: expect.stringMatching(/Z$/),
      data: { entityType: 'task', entityId: task.id, taskId: task.id, to: 'queued', workspaceId: w.id },
    })
    expect(assigned!.body).toMatchObject({ type: 'task_assigned', data: { from: 'queued', to: 'assigned' } })
    expect(created!.text).not.toContain('nobody’s business')
    const verifier = new Webhook(secret)
    for (const { text, headers } of [created!, assigned!])
      expect(verifier.verify(text, headers as Record<string, string>)).toEqual(JSON.parse(text))
    await until(async () => (await deliveries(w, { id })).length === 2)
    expect(await deliveries(w, { id })).toMatchObject([
      {
        id: assigned!.id,
        type: 'task_assigned',
        state: 'delivered',
        attempts: 1,
        httpStatus: 200,
        answer: 'ok',
      },
      { id: created!.id, type: 'task_created', state: 'delivered', entityType: 'task', entityId: task.id },
    ])
  })

  test('that does not take an event gets it again with the same id, and then what waited behind it, in order', async () => {
    const w = await workspace()
    const to = await receiver(status(500))
    const hook = await hooked(w, to)
    const task = await w.held()
    const [first] = await to.gets(1)
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    const waiting = () => deliveries(w, hook, '?state=waiting')
    await until(async () => (await waiting()).length >= 2)
    expect((await deliveries(w, hook, '?state=retrying'))[0]).toMatchObject({
      ...{ id: first!.id, attempts: 1, httpStatus: 500, answer: 'answer 500' },
      error: 'The receiver answered 500.',
    })
    to.answers((_received, response) => response.end())
    await until(async () => (await deliveries(w, hook, '?state=delivered')).length >= 3)
    const [, again] = to.received
    expect(again!.id).toBe(first!.id)
    const types = typesOf(to)
    expect(types.slice(0, 2)).toEqual(['task_created', 'task_created'])
    expect(types.filter((type) => ['task_assigned', 'task_completed'].includes(type))).toEqual([
      'task_assigned',
      'task_completed',
    ])
  })
})

/** As if the waits before the next attempts were over. */
const hasten = ({ id }: { id: string }) =>
  superuser(served().databaseUrl, async (client) => {
    await client.query(
      `update baton.webhook_deliveries set next_at = clock_timestamp() where webhook_id = $1 and state = 'retrying'`,
      [id],
    )
    await client.query(
      'update baton.webhook_progress set next_at = clock_timestamp(), held_until = null where webhook_id = $1',
      [id],
    )
  })
const show = async (w: Workspace, { id }: { id: string }) => (await w.call('GET', `/webhooks/${id}`)).body
const CREATED = { events: ['task_created'] }

describe('a receiver that does not answer well', () => {
  test('delays no other one, and nothing about anything else', async () => {
    const w = await workspace()
    const [hanging, fast] = [await receiver(() => undefined), await receiver()]
    await hooked(w, hanging, CREATED)
    await hooked(w, fast, CREATED)
    const tasks = [await w.make(), await w.make(), await w.make()]
    // It hangs for fifteen seconds; nobody waits for that.
    await fast.gets(3)
    expect((await hanging.gets(3)).map(({ body }) => body.data.taskId).sort()).toEqual(
      tasks.map(({ id }) => id).sort(),
    )
  })

  test('with Retry-After is left alone for as long as it asks', async () => {
    const w = await workspace()
    const to = await receiver(status(429, { 'retry-after': '7200' }))
    const hook = await hooked(w, to, CREATED)
    await w.make()
    await until(async () => (await show(w, hook)).heldUntil)
    const until7200 = Date.parse((await show(w, hook)).heldUntil) - Date.now()
    expect(until7200).toBeGreaterThan(7_100_000)
    await w.make()
    expect(await show(w, hook)).toMatchObject({ waiting: 1, failingSince: expect.any(String) })
    to.answers(ok)
    await hasten(hook)
    await until(async () => (await deliveries(w, hook, '?state=delivered')).length === 2)
    expect(await show(w, hook)).toMatchObject({ waiting: 0, failingSince: null, heldUntil: null })
  })

  test('that is gone disables its webhook; resumed, it gets what it missed', async () => {
    const w = await workspace()
    const to = await receiver(status(410))
    const hook = await hooked(w, to, CREATED)
    await w.make()
    await until(async () => (await show(w, hook)).state === 'disabled')
    expect(await show(w, hook)).toMatchObject({ disabledBecause: 'gone' })
    expect(await w.count('webhook_disabled')).toBe(1)
    await w.make()
    to.answers(ok)
    await w.post(`/webhooks/${hook.id}/resume`)
    // The one that was refused waits for its time.
    await to.gets(2)
    await hasten(hook)
    await to.gets(3)
    expect(new Set(to.received.map(({ id }) => id)).size).toBe(2)
  })

  test('from which nothing has arrived for five days disables its webhook', async () => {
    const w = await workspace()
    const to = await receiver(status(500))
    const hook = await hooked(w, to, CREATED)
    await w.make()
    await until(async () => (await show(w, hook)).failingSince)
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.webhook_progress set failing_since = now() - interval '6 days' where webhook_id = $1`,
        [hook.id],
      ),
    )
    await hasten(hook)
    await until(async () => (await show(w, hook)).state === 'disabled')
    expect(await show(w, hook)).toMatchObject({ disabledBecause: 'failing' })
  })

  test('is sent ten times at most; then what is behind goes on, and what was given up can be sent again', async () => {
    const w = await workspace()
    const to = await receiver((received, response) => {
      response.writeHead(received.body.type === 'task_created' ? 500 : 200).end()
    })
    const hook = await hooked(w, to)
    const task = await w.held()
    const created = () => to.received.filter(({ body }) => body.type === 'task_created')
    for (let attempt = 1; attempt < 10; attempt++) {
      await until(async () => (await deliveries(w, hook, '?state=retrying'))[0]?.attempts === attempt)
      await hasten(hook)
    }
    await to.gets(1, ({ body }) => body.type === 'task_assigned')
    expect(created()).toHaveLength(10)
    expect(new Set(created().map(({ id }) => id)).size).toBe(1)
    const [failed] = await until(async () => {
      const found = await deliveries(w, hook, '?state=failed')
      return found.length === 1 && found
    })
    expect(failed).toMatchObject({ attempts: 10, httpStatus: 500, entityId: task.id, nextAttemptAt: null })
    expect(await show(w, hook)).toMatchObject({ failed: 1, waiting: 0 })
    to.answers(ok)
    expect((await w.post(`/webhooks/${hook.id}/redeliver`)).body).toEqual({ count: 1 })
    await until(async () => created().length === 11)
    expect(created().at(-1)!.id).toBe(failed.id)
    await until(async () => (await show(w, hook)).failed === 0)
    expect((await w.post(`/webhooks/${hook.id}/redeliver`)).body).toEqual({ count: 0 })
  })
})

describe('a person', () => {
  test('pauses a webhook: nothing is sent until it is resumed, and then all of it', async () => {
    const w = await workspace()
    const to = await receiver()
    const hook = await hooked(w, to, CREATED)
    await w.post(`/webhooks/${hook.id}/pause`)
    await w.make()
    await w.make()
    await until(async () => (await show(w, hook)).behind > 0)
    expect(to.received).toEqual([])
    await w.post(`/webhooks/${hook.id}/resume`)
    await to.gets(2)
  })

  test('sends one again that has arrived, and not one that waits for another', async () => {
    const w = await workspace()
    const to = await receiver()
    const hook = await hooked(w, to, CREATED)
    await w.make()
    const [delivered] = await until(async () => {
      const found = await deliveries(w, hook, '?state=delivered')
      return found.length === 1 && found
    })
    const again = (delivery: string) => w.post(`/webhooks/${hook.id}/redeliver`, { delivery })
    expect((await again(delivered.id)).body).toEqual({ count: 1 })
    expect(await to.gets(2)).toMatchObject([{ id: delivered.id }, { id: delivered.id }])
    expectRefusal(await again('msg_1'), 404, 'NOT_FOUND')
    expectRefusal(await again(`${delivered.id}99`), 404, 'NOT_FOUND')
  })

  test('removes a webhook while something is on its way to it', async () => {
    const w = await workspace()
    const open: ServerResponse[] = []
    const to = await receiver((_received, response) => open.push(response))
    const hook = await hooked(w, to, CREATED)
    await w.make()
    await until(async () => open.length === 1)
    expect((await w.call('DELETE', `/webhooks/${hook.id}`)).status).toBe(204)
    open[0]!.end('ok')
    await w.make()
    // Another one goes on.
    const other = await receiver()
    await hooked(w, other, CREATED)
    await w.make()
    await other.gets(1)
    expect(to.received).toHaveLength(1)
    const rows = await superuser(served().databaseUrl, (client) =>
      client.query('select from baton.webhook_deliveries where webhook_id = $1', [hook.id]),
    )
    expect(rows.rowCount).toBe(0)
  })

  test('gives another address while the old one hangs: the next attempt goes there', async () => {
    const w = await workspace()
    const [old, next] = [await receiver(status(500)), await receiver()]
    const hook = await hooked(w, old, CREATED)
    await w.make()
    await until(async () => (await show(w, hook)).waiting === 1)
    await w.call('PATCH', `/webhooks/${hook.id}`, { url: next.url })
    await hasten(hook)
    const [arrived] = await next.gets(1)
    expect(arrived!.id).toBe(old.received[0]!.id)
  })
})

test('of those that arrived, the last thousand are kept', { timeout: 120_000 }, async () => {
  const w = await workspace()
  const to = await receiver()
  const hook = await hooked(w, to, CREATED)
  for (let batch = 0; batch < 3; batch++)
    await w.post('/tasks/batch', { tasks: Array.from({ length: 500 }, () => ({ title: 'One of many' })) })
  await to.gets(1_500)
  const kept = () =>
    superuser(served().databaseUrl, async (client) => {
      const { rows } = await client.query(
        `select count(*)::int as count, min(seq)::int as first from baton.webhook_deliveries where webhook_id = $1`,
        [hook.id],
      )
      return rows[0]
    })
  await until(async () => (await show(w, hook)).behind === 0)
  expect(await kept()).toMatchObject({ count: 1_000 })
  expect(new Set(to.received.map(({ id }) => id)).size).toBe(1_500)
})

test('a hundred thousand failures are sent again by indexes, however many wait', {
  timeout: 240_000,
}, async () => {
  const w = await workspace()
  const to = await receiver()
  const hook = await hooked(w, to, CREATED)
  await w.make()
  await to.gets(1)
  await until(async () => (await deliveries(w, hook)).length === 1)
  await superuser(served().databaseUrl, async (client) => {
    await client.query(
      `insert into baton.webhook_deliveries (workspace_id, webhook_id, seq, type, entity, lane, state, attempts, first_at, last_at)
       select p.workspace_id, p.webhook_id, 1000000 + n, 'task_created', 'task:x', 'lane ' || n % 20000, 'failed', 10, now(), now()
         from baton.webhook_progress p, generate_series(1, 100000) n where p.webhook_id = $1`,
      [hook.id],
    )
    await client.query('analyze baton.webhook_deliveries')
  })
  const scans = () =>
    superuser(served().databaseUrl, async (client) => {
      await client.query('select pg_stat_force_next_flush(), pg_stat_clear_snapshot()')
      const { rows } = await client.query(
        `select seq_scan::int as scans from pg_stat_user_tables where relname = 'webhook_deliveries'`,
      )
      return rows[0].scans
    })
  expect(await show(w, hook)).toMatchObject({ failed: 1_000 })
  const before = await scans()
  expect((await w.post(`/webhooks/${hook.id}/redeliver`)).body).toEqual({ count: 100_000 })
  // Their events are not in the log: nothing is sent of them, and the webhook goes on with what is.
  await w.make()
  await to.gets(2)
  expect(await scans()).toBe(before)
  expect((await w.call('DELETE', `/webhooks/${hook.id}`)).status).toBe(204)
})
