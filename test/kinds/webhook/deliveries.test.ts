import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type Receiver, status, useReceivers } from '../../support/receivers.ts'

/** What a receiver gets, in which order, and what becomes of what it does not take. */

const { workspace } = useServer()
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
