import { sign } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import {
  deliveriesOf,
  fromGitHub,
  GITHUB_EVENT,
  type Hook,
  makeHook,
  notedOf,
  send,
} from '../../support/hooks.ts'
import { expectRefusal, useServer } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import type { Answer } from '../../support/server.ts'

/** Deliveries prove where they come from, as the official libraries of the senders do it. */

const { served, workspace } = useServer()

const BODY = JSON.stringify(GITHUB_EVENT)
const NOT_HERE = 'There is no hook at this address, or the delivery does not prove where it comes from.'
const isUnknown = (answer: Answer) => {
  expectRefusal(answer, 404, 'NOT_FOUND')
  expect(answer.body.detail).toBe(NOT_HERE)
}
/** The same text with another last bit in one place. */
const bitChanged = (text: string, at: number) =>
  text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
const at = ({ id }: Hook) => `/api/v1/hooks/${id}`

describe('GitHub', () => {
  const deliver = (hook: Hook, body: string, signature: string, delivery = 'one') =>
    send(served(), at(hook), body, {
      'x-github-event': 'issues',
      'x-github-delivery': delivery,
      'x-hub-signature-256': signature,
    })

  test('is believed with the signature of its own library, and with no other', async () => {
    const w = await workspace()
    const hook = await makeHook(w)
    const signature = await sign(hook.secret, BODY)
    expect(await deliver(hook, BODY, signature)).toMatchObject({ status: 200, body: { verdict: 'done' } })
    isUnknown(await deliver(hook, bitChanged(BODY, 30), signature, 'two'))
    isUnknown(await deliver(hook, BODY, bitChanged(signature, 20), 'two'))
    isUnknown(await deliver(hook, BODY, await sign(bitChanged(hook.secret, 3), BODY), 'two'))
    isUnknown(await send(served(), at(hook), BODY, {}))
    expect((await w.call('GET', '/tasks')).body.items).toHaveLength(1)
    const refused = (await notedOf(w, hook, 5)).filter(
      ({ verdict }: { verdict: string }) => verdict === 'refused',
    )
    expect(refused.map(({ reason }: { reason: string }) => reason).sort()).toEqual([
      'It has no X-Hub-Signature-256.',
      ...Array(3).fill('Its X-Hub-Signature-256 is wrong.'),
    ])
  })

  test('passes the guards of hosts and origins, as every request', async () => {
    const w = await workspace()
    const hook = await makeHook(w)
    const from = (origin: string) => fromGitHub(served(), hook, GITHUB_EVENT, { origin })
    expectRefusal(await from('https://evil.example'), 403, 'ORIGIN_NOT_ALLOWED')
    expect(await from(new URL(served().url).origin)).toMatchObject({ status: 200 })
  })

  test('is answered the same at the address of no hook', async () => {
    const w = await workspace()
    const hook = await makeHook(w)
    await w.call('DELETE', `/hooks/${hook.id}`)
    isUnknown(await fromGitHub(served(), hook))
    isUnknown(await fromGitHub(served(), { ...hook, id: '0198c0de-0000-7000-8000-000000000001' }))
  })
})

describe('Standard Webhooks', () => {
  const standard = { scheme: 'standard_webhooks', name: 'events' }
  const sentAt = (hook: Hook, when: Date, id = 'msg_1', body = BODY) =>
    send(served(), at(hook), body, {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(when.getTime() / 1000)),
      'webhook-signature': new Webhook(hook.secret).sign(id, when, body),
    })
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)

  test('are believed as their own library signs them', async () => {
    const w = await workspace()
    const hook = await makeHook(w, standard)
    expect(hook.secret).toMatch(/^whsec_/)
    expect(await sentAt(hook, new Date())).toMatchObject({ status: 200, body: { verdict: 'done' } })
    const [delivery] = await deliveriesOf(w, hook)
    expect(delivery).toMatchObject({ sentAs: 'msg_1', verdict: 'done', made: { kind: 'task' } })
  })

  test('are refused with one bit changed in body, id, time or signature', async () => {
    const w = await workspace()
    const hook = await makeHook(w, standard)
    const when = new Date()
    const right = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(when.getTime() / 1000)),
      'webhook-signature': new Webhook(hook.secret).sign('msg_1', when, BODY),
    }
    isUnknown(await send(served(), at(hook), bitChanged(BODY, 30), right))
    for (const name of Object.keys(right) as (keyof typeof right)[])
      isUnknown(await send(served(), at(hook), BODY, { ...right, [name]: bitChanged(right[name], 4) }))
    expect(await send(served(), at(hook), BODY, right)).toMatchObject({ status: 200 })
  })

  test('are refused when they are more than five minutes old, or from the future', async () => {
    const w = await workspace()
    const hook = await makeHook(w, standard)
    isUnknown(await sentAt(hook, ago(310)))
    isUnknown(await sentAt(hook, ago(-310)))
    expect(await sentAt(hook, ago(240))).toMatchObject({ status: 200 })
    const reasons = (await notedOf(w, hook, 3)).map(({ reason }: { reason: string }) => reason)
    expect(reasons).toHaveLength(3)
    expect(reasons).toContainEqual(expect.stringContaining('message timestamp too new'))
    expect(reasons).toContainEqual(expect.stringContaining('message timestamp too old'))
  })

  test('take the secret of the sender, which is not shown', async () => {
    const w = await workspace()
    const secret = `whsec_${Buffer.from('a secret of the sender').toString('base64')}`
    const hook = await makeHook(w, { ...standard, secret })
    expect(hook.secret).toBeNull()
    expect(await sentAt({ ...hook, secret }, new Date())).toMatchObject({ status: 200 })
    const wrong = await w.post('/hooks', {
      ...standard,
      name: 'b',
      does: { kind: 'task', title: 'x' },
      secret: 'no base64 at all!'.replaceAll(' ', '_'),
    })
    expectRefusal(wrong, 400, 'VALIDATION_FAILED', { errors: [expect.objectContaining({ field: 'secret' })] })
  })
})

test('GitLab is believed by its token', async () => {
  const w = await workspace()
  const hook = await makeHook(w, { scheme: 'gitlab', name: 'gitlab' })
  const deliver = (token: string, key = 'k1') =>
    send(served(), at(hook), BODY, {
      'x-gitlab-token': token,
      'x-gitlab-event': 'Issue Hook',
      'idempotency-key': key,
    })
  expect(await deliver(hook.secret)).toMatchObject({ status: 200, body: { isRepeat: false } })
  expect(await deliver(hook.secret)).toMatchObject({ status: 200, body: { isRepeat: true } })
  isUnknown(await deliver(bitChanged(hook.secret, 5), 'k2'))
  expect(await notedOf(w, hook, 2)).toMatchObject([
    { verdict: 'refused' },
    { event: 'Issue Hook', sentAs: 'k1', repeats: 1 },
  ])
})

test('others are believed by an address that nobody can guess', async () => {
  const w = await workspace()
  const hook = await makeHook(w, { scheme: 'secret_url', name: 'others' })
  expect(hook.path).toBe(`${at(hook)}?token=${hook.secret}`)
  expect(await send(served(), hook.path, BODY, {})).toMatchObject({ status: 200, body: { verdict: 'done' } })
  isUnknown(await send(served(), at(hook), BODY, {}))
  isUnknown(await send(served(), `${at(hook)}?token=${bitChanged(hook.secret, 5)}`, BODY, {}))
})

test('a new secret leaves the one before valid for a day', async () => {
  const w = await workspace()
  const hook = await makeHook(w)
  const rotated = (await w.post(`/hooks/${hook.id}/rotate`)).body
  expect(rotated).toMatchObject({ id: hook.id, previousSecretUntil: expect.any(String) })
  expect(rotated.secret).not.toBe(hook.secret)
  expect(await fromGitHub(served(), hook)).toMatchObject({ status: 200 })
  expect(await fromGitHub(served(), rotated)).toMatchObject({ status: 200 })
  await superuser(served().databaseUrl, (client) =>
    client.query(`update baton.hooks set previous_ends_at = now() - interval '1 second' where hook_id = $1`, [
      hook.id,
    ]),
  )
  isUnknown(await fromGitHub(served(), hook))
  expect(await fromGitHub(served(), rotated)).toMatchObject({ status: 200 })
})

test('secrets are in no answer but the first, in no event, and of tokens not in the database', async () => {
  const w = await workspace()
  const made: Hook[] = []
  for (const scheme of ['github', 'standard_webhooks', 'gitlab', 'secret_url'])
    made.push(await makeHook(w, { scheme, name: scheme }))
  for (const hook of made) await send(served(), `${at(hook)}?token=${hook.secret}`, BODY, {})
  const shown = JSON.stringify([
    (await w.call('GET', '/hooks')).body,
    (await w.call('GET', `/hooks/${made[0]!.id}`)).body,
    await w.events(),
    await Promise.all(made.map((hook) => deliveriesOf(w, hook))),
  ])
  for (const { secret } of made) expect(shown).not.toContain(secret)
  const rows = await superuser(served().databaseUrl, (client) =>
    client.query('select secret, scheme from baton.hooks where hook_id = any($1)', [
      made.map(({ id }) => id),
    ]),
  )
  const kept = rows.rows.map(({ secret }) => secret)
  expect(kept).toHaveLength(4)
  for (const { secret } of made.slice(2)) expect(kept).not.toContain(secret)
})
