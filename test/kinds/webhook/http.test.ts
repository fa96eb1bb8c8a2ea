import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { expectRefusal, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { status, useReceivers } from '../../support/receivers.ts'

/** Webhooks over HTTP: added, changed, masked, paused, tested, and given new keys. */

const { workspace, served } = useServer()
const receiver = useReceivers()
const NOBODY = '00000000-0000-7000-8000-000000000000'
const CLOSED = 'http://127.0.0.1:9/services/T0AB12/B0CD-token'
/** It does not happen in these tests. */
const events = ['routine_failed']

async function made(w: Workspace, body: Json = {}) {
  const answer = await w.post('/webhooks', { url: CLOSED, events, ...body })
  expect(answer.body).toMatchObject({ id: expect.any(String) })
  expect(answer.status).toBe(201)
  return answer.body
}
const show = async (w: Workspace, { id }: { id: string }) => (await w.call('GET', `/webhooks/${id}`)).body
const headersOf = (headers: object) => headers as Record<string, string>

describe('a webhook', () => {
  test('is shown without its key and without what may be a token in its address', async () => {
    const w = await workspace()
    const { secret, ...shown } = await made(w, { events: ['mission.*', 'task_failed', 'task.failed'] })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toMatchObject({
      ...{ name: '127.0.0.1', url: 'http://127.0.0.1:9/services/…/…', events: ['mission_*', 'task_failed'] },
      ...{ format: 'baton', state: 'active', version: 1, waiting: 0, failed: 0, heldUntil: null },
      secretHint: `whsec_…${secret.slice(-5, -1)}`,
    })
    expect(await show(w, shown)).toEqual(shown)
    const everywhere = [
      (await w.call('GET', '/webhooks')).body,
      await show(w, shown),
      (await w.call('PATCH', `/webhooks/${shown.id}`, { name: 'ci' })).body,
      (await w.post(`/webhooks/${shown.id}/test`)).body,
      await w.events(),
    ]
    for (const said of everywhere) {
      expect(JSON.stringify(said)).not.toContain('B0CD-token')
      expect(JSON.stringify(said)).not.toContain(secret.slice(6, 20))
    }
  })

  test('is changed, with its version; what it is not given stays', async () => {
    const w = await workspace()
    const hook = await made(w)
    const patch = (body: Json, version?: number) =>
      w.call('PATCH', `/webhooks/${hook.id}`, body, version ? { 'if-match': `"${version}"` } : {})
    const changed = await patch({ name: 'ci', format: 'slack', url: 'http://127.0.0.1:9/other' }, 1)
    expect(changed.body).toMatchObject({
      ...{ name: 'ci', format: 'slack', url: 'http://127.0.0.1:9/…', events, version: 2 },
    })
    expectRefusal(await patch({ name: 'late' }, 1), 412, 'VERSION_MISMATCH')
    expect((await patch({})).body).toMatchObject({ version: 2 })
    const types = (await w.events()).map(({ type }: { type: string }) => type)
    expect(types.filter((type: string) => type.startsWith('webhook'))).toEqual([
      ...['webhook_created', 'webhook_updated'],
    ])
  })

  test('is paused, resumed and removed', async () => {
    const w = await workspace()
    const hook = await made(w)
    const act = async (what: string) => (await w.post(`/webhooks/${hook.id}/${what}`)).body
    expect(await act('pause')).toMatchObject({ state: 'paused', version: 2 })
    expect(await act('pause')).toMatchObject({ state: 'paused', version: 2 })
    expect(await act('resume')).toMatchObject({ state: 'active', version: 3 })
    expect((await w.call('DELETE', `/webhooks/${hook.id}`)).status).toBe(204)
    expectRefusal(await w.call('GET', `/webhooks/${hook.id}`), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', `/webhooks/${hook.id}/deliveries`), 404, 'NOT_FOUND')
    expectRefusal(await w.post(`/webhooks/${NOBODY}/redeliver`), 404, 'NOT_FOUND')
  })

  test('is changed by admins alone, and read by all', async () => {
    const w = await workspace()
    const hook = await made(w)
    const { key } = (await w.post('/keys', { name: 'a member', role: 'member' })).body
    const asMember = (method: string, path: string, body?: Json) => served().call(method, path, body, { key })
    expect((await asMember('GET', '/webhooks')).body.items).toMatchObject([{ id: hook.id }])
    expectRefusal(await asMember('POST', '/webhooks', { url: CLOSED, events }), 403, 'FORBIDDEN')
    for (const act of ['test', 'pause', 'resume', 'rotate', 'redeliver'])
      expectRefusal(await asMember('POST', `/webhooks/${hook.id}/${act}`, {}), 403, 'FORBIDDEN')
  })

  test('has its key in one answer only, also when the request is repeated', async () => {
    const w = await workspace()
    const body = { url: CLOSED, events }
    const headers = { 'idempotency-key': 'once' }
    expect((await w.post('/webhooks', body, headers)).status).toBe(201)
    expectRefusal(await w.post('/webhooks', body, headers), 409, 'ALREADY_EXISTS')
    expect((await w.call('GET', '/webhooks')).body.items).toHaveLength(1)
  })

  test.each([
    [{ events: ['nothing_such'] }, 'events', 'name no type of event: "nothing_such"'],
    [{ events: ['task'] }, 'events', 'name no type of event: "task"'],
    [{ url: 'ftp://a.example/' }, 'url', 'must be an address that begins with http:// or https://'],
    [{ url: 'http://me:word@127.0.0.1/' }, 'url', 'must not contain a login'],
    [{ url: 'http://10.1.2.3/' }, 'url', 'is not allowed: 10.1.2.3 is an inner address'],
    [{ url: 'http://[::1]:9/' }, 'url', 'is not allowed: [::1] is an inner address'],
    [{ secret: 'short' }, 'secret', 'does not have the right format'],
    [{ secret: 'whsec_AAAA' }, 'secret', 'must be "whsec_" and 24 to 64 bytes in base64'],
  ])('with %j is refused, and nothing is written', async (wrong, field, message) => {
    const w = await workspace()
    const answer = await w.post('/webhooks', { url: CLOSED, events, ...wrong })
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(answer.body.errors).toMatchObject([{ field, message: expect.stringContaining(message) }])
    expect((await w.call('GET', '/webhooks')).body.items).toEqual([])
  })
})

describe('a test', () => {
  test('is sent at once and signed, and says what the receiver answered', async () => {
    const w = await workspace()
    const to = await receiver()
    const { id, secret } = await made(w, { url: to.url })
    const test = await w.post(`/webhooks/${id}/test`)
    expect(test.body).toMatchObject({ isDelivered: true, httpStatus: 200, answer: 'ok', error: null })
    const [{ headers, text }] = to.received as [(typeof to.received)[0]]
    expect(headers['webhook-id']).toBe(test.body.id)
    expect(new Webhook(secret).verify(text, headersOf(headers))).toMatchObject({ type: 'webhook_test' })
    to.answers(status(302, { location: 'http://127.0.0.1:9/' }))
    expect((await w.post(`/webhooks/${id}/test`)).body).toMatchObject({
      ...{ isDelivered: false, httpStatus: 302 },
      error: 'The receiver answered 302: redirects are not followed.',
    })
    expect(to.received).toHaveLength(2)
  })

  test('says why nothing answered', async () => {
    const w = await workspace()
    const { id } = await made(w)
    expect((await w.post(`/webhooks/${id}/test`)).body).toMatchObject({
      ...{ isDelivered: false, httpStatus: null, answer: null },
      error: expect.stringMatching(/^The receiver could not be reached: .*ECONNREFUSED/),
    })
  })

  test('cuts an endless answer, and what the answer repeats of the address', async () => {
    const w = await workspace()
    const to = await receiver((_received, response) => {
      response.write(`B0CD-token1 ${'x'.repeat(1_000)}`)
      const more = setInterval(() => response.write('x'.repeat(10_000)), 1)
      response.on('close', () => clearInterval(more))
    })
    const { id } = await made(w, { url: `http://127.0.0.1:${to.port}/B0CD-token1` })
    const { isDelivered, answer } = (await w.post(`/webhooks/${id}/test`)).body
    expect(isDelivered).toBe(true)
    expect(answer).toHaveLength(500)
    expect(answer).toMatch(/^… x+$/)
  })
})

describe('a signature', () => {
  async function signed() {
    const w = await workspace()
    const to = await receiver()
    const { id, secret } = await made(w, { url: to.url })
    await w.post(`/webhooks/${id}/test`)
    const { headers, text } = to.received[0]!
    return { w, to, id, secret, text, headers: headersOf(headers) }
  }

  test('is refused by the official verifier when one bit is another', async () => {
    const { secret, text, headers } = await signed()
    const verifier = new Webhook(secret)
    verifier.verify(text, headers)
    const flipped = (value: string, place: number) =>
      value.slice(0, place) + String.fromCharCode(value.charCodeAt(place) ^ 1) + value.slice(place + 1)
    for (let place = 0; place < text.length; place++)
      expect(() => verifier.verify(flipped(text, place), headers)).toThrow('No matching signature found')
    for (const name of ['webhook-id', 'webhook-signature', 'webhook-timestamp']) {
      const changed = { ...headers, [name]: flipped(headers[name]!, headers[name]!.length - 2) }
      expect(() => verifier.verify(text, changed), name).toThrow()
    }
  })

  test('is refused when it is old', async () => {
    const { secret, text, headers } = await signed()
    const old = String(Number(headers['webhook-timestamp']) - 301)
    const at = new Date(Number(old) * 1_000)
    const verifier = new Webhook(secret)
    const again: Record<string, string> = { ...headers, 'webhook-timestamp': old }
    again['webhook-signature'] = verifier.sign(headers['webhook-id']!, at, text)
    expect(() => verifier.verify(text, again)).toThrow('Message timestamp too old')
  })

  test('is made by both keys after a new one was given, or by the new one alone', async () => {
    const { w, to, id, secret } = await signed()
    const rotated = (await w.post(`/webhooks/${id}/rotate`)).body
    expect(rotated.secret).not.toBe(secret)
    expect(rotated.formerSecretUntil).toMatch(/Z$/)
    await w.post(`/webhooks/${id}/test`)
    const both = to.received[1]!
    for (const one of [secret, rotated.secret]) new Webhook(one).verify(both.text, headersOf(both.headers))
    const third = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
    expect((await w.post(`/webhooks/${id}/rotate`, { secret: third, keepHours: 0 })).body).toMatchObject({
      ...{ secret: third, formerSecretUntil: null },
    })
    await w.post(`/webhooks/${id}/test`)
    const alone = to.received[2]!
    new Webhook(third).verify(alone.text, headersOf(alone.headers))
    expect(() => new Webhook(rotated.secret).verify(alone.text, headersOf(alone.headers))).toThrow()
  })
})
