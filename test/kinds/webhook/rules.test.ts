import { describe, expect, test } from 'vitest'
import { problemOfUrl, shownUrl, withoutTokens } from '../../../src/kinds/webhook/rules/address.ts'
import { deliveryId, seqOfDelivery } from '../../../src/kinds/webhook/rules/delivery.ts'
import { messageFor, type Told } from '../../../src/kinds/webhook/rules/messages.ts'
import { asPattern, fits } from '../../../src/kinds/webhook/rules/patterns.ts'
import {
  holdMs,
  MOST_ATTEMPTS,
  retryAfterIn,
  retryAfterMs,
} from '../../../src/kinds/webhook/rules/schedule.ts'
import { isSigningSecret, secretHint, signingSecret } from '../../../src/kinds/webhook/rules/signing.ts'

/** The rules of webhooks: addresses, patterns, times and messages. */

const ID = '01890000-0000-7000-8000-000000000001'
const told = (more: Partial<Told> = {}): Told => ({
  ...{
    type: 'task_completed',
    at: '2026-01-02T03:04:05.000Z',
    seq: 7,
    workspaceId: 'ws',
    entityType: 'task',
  },
  ...{ entityId: ID, taskId: ID, missionId: null, runId: null, generation: 1, from: 'running' },
  ...{
    to: 'completed',
    actor: 'agent:alpha',
    sentence: 'It was completed.',
    url: 'http://baton/tasks/1',
    ...more,
  },
})

describe('the address of a webhook', () => {
  test.each([
    ['https://ci.example/hook', 'https://ci.example/hook'],
    ['https://a.example/services/T0AB/B0CD/x9Yz', 'https://a.example/services/…/…/…'],
    ['https://a.example/v1/hook?token=abc&k=1', 'https://a.example/v1/hook?token=…&k=…'],
    ['https://a.example/0123456789abcdef', 'https://a.example/…'],
  ])('%s is shown as %s', (given, shown) => {
    expect(shownUrl(given, 'baton')).toBe(shown)
  })

  test('is a secret as a whole for Slack, Discord and ntfy', () => {
    expect(shownUrl('https://ntfy.sh/mytopic', 'ntfy')).toBe('https://ntfy.sh/…')
    expect(withoutTokens('{"topic":"mytopic"}', 'https://ntfy.sh/mytopic', 'ntfy')).toBe('{"topic":"…"}')
  })

  test.each([
    ['ftp://a.example/', 'must be an address that begins with http:// or https://'],
    ['nothing', 'must be an address that begins with http:// or https://'],
    ['https://me:word@a.example/', 'must not contain a login'],
    ['https://a.example/#part', 'must not contain a "#"'],
  ])('%s is refused: it %s', (given, problem) => {
    expect(problemOfUrl(given)).toBe(problem)
  })

  test('is not repeated from an answer of the receiver', () => {
    const url = 'https://a.example/services/B0CD-secret/?token=a%2Fb%2Fcdefg'
    expect(withoutTokens('no B0CD-secret with a/b/cdefg or a%2Fb%2Fcdefg', url, 'baton')).toBe(
      'no … with … or …',
    )
  })
})

test('patterns name a type, or the beginning of types, with a dot or an underscore', () => {
  expect(asPattern('task.*')).toBe('task_*')
  expect([fits('task_*', 'task_failed'), fits('task_*', 'tasks'), fits('*', 'key_created')]).toEqual([
    ...[true, false, true],
  ])
  expect([fits('task_failed', 'task_failed'), fits('task_failed', 'task_failed_again')]).toEqual([
    true,
    false,
  ])
})

describe('attempts', () => {
  test('are made ten times within a day, after Standard Webhooks’ schedule', () => {
    const waits = Array.from({ length: MOST_ATTEMPTS - 1 }, (_, place) => retryAfterMs(place + 1, 0)!)
    const at = waits.map((_, place) => waits.slice(0, place + 1).reduce((sum, ms) => sum + ms, 0) / 1_000)
    expect(at).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400])
    expect(retryAfterMs(MOST_ATTEMPTS, 0)).toBeNull()
  })

  test('wait a little longer at random', () => {
    expect([retryAfterMs(1, 0), retryAfterMs(1, 0.5), retryAfterMs(1, 1)]).toEqual([5_000, 5_250, 5_500])
    expect([holdMs(1, 0), holdMs(2, 0), holdMs(99, 0)]).toEqual([5_000, 10_000, 300_000])
  })

  test('respect Retry-After in seconds and as a date, for a day at most', () => {
    const now = Date.parse('2026-01-02T00:00:00Z')
    expect(retryAfterIn('120', now)).toBe(120_000)
    expect(retryAfterIn('Fri, 02 Jan 2026 00:01:00 GMT', now)).toBe(60_000)
    expect(retryAfterIn('Thu, 01 Jan 2026 00:00:00 GMT', now)).toBe(0)
    expect(retryAfterIn('999999999', now)).toBe(86_400_000)
    expect([retryAfterIn(undefined, now), retryAfterIn('soon', now)]).toEqual([null, null])
  })
})

test('the id of a delivery says which event of which webhook it is', () => {
  const id = deliveryId(ID, 42)
  expect(id).toBe('msg_01890000000070008000000000000001_42')
  expect(seqOfDelivery(ID, id)).toBe(42)
  for (const other of ['msg_1', `${id}x`, 'msg_01890000000070008000000000000002_42', ''])
    expect(seqOfDelivery(ID, other)).toBeNull()
})

test('keys that sign have 24 to 64 bytes', () => {
  const secret = signingSecret(new Uint8Array(32).fill(7))
  expect(isSigningSecret(secret)).toBe(true)
  for (const other of [
    '',
    'whsec_',
    'whsec_short',
    secret.slice(6),
    `${secret}=`,
    signingSecret(new Uint8Array(65)),
  ])
    expect(isSigningSecret(other)).toBe(false)
  expect(secretHint(secret)).toBe('whsec_…HBwc')
})

describe('a message', () => {
  test("is Baton's event: what happened to what", () => {
    const { body, contentType } = messageFor('baton', told())!
    expect(contentType).toBe('application/json')
    expect(JSON.parse(body)).toEqual({
      ...{ type: 'task_completed', timestamp: '2026-01-02T03:04:05.000Z' },
      data: {
        ...{
          seq: 7,
          workspaceId: 'ws',
          entityType: 'task',
          entityId: ID,
          taskId: ID,
          missionId: null,
          runId: null,
        },
        ...{
          generation: 1,
          from: 'running',
          to: 'completed',
          actor: 'agent:alpha',
          url: 'http://baton/tasks/1',
        },
      },
    })
  })

  test("is Mosaic's change of status, with its six fields and its states", () => {
    expect(JSON.parse(messageFor('mosaic', told())!.body)).toEqual({
      ...{ event: 'task.status_changed', taskId: ID, previousStatus: 'RUNNING', newStatus: 'COMPLETED' },
      ...{ workspaceId: 'ws', timestamp: '2026-01-02T03:04:05.000Z' },
    })
    expect(JSON.parse(messageFor('mosaic', told({ to: 'awaiting_retry' }))!.body).newStatus).toBe('ABORTED')
    // The same state for Mosaic, no state, no task.
    expect(messageFor('mosaic', told({ to: 'continuing' }))).toBeNull()
    expect(messageFor('mosaic', told({ to: null }))).toBeNull()
    expect(messageFor('mosaic', told({ taskId: null }))).toBeNull()
  })

  test('is a line with a link for people, in which no name calls anybody', () => {
    const sentence = 'The key "<!channel> @everyone **x**" was created.'
    const slack = JSON.parse(messageFor('slack', told({ sentence }))!.body)
    expect(slack.text).toBe(
      'The key "&lt;!channel&gt; @everyone **x**" was created. <http://baton/tasks/1|Open in Baton>',
    )
    const discord = JSON.parse(messageFor('discord', told({ sentence }))!.body)
    expect(discord).toEqual({
      content: 'The key "<!channel\\> @everyone \\*\\*x\\*\\*" was created. <http://baton/tasks/1>',
      allowed_mentions: { parse: [] },
    })
    expect(messageFor('ntfy', told({ sentence: 'It was completed.' }))).toEqual({
      ...{ contentType: 'text/plain; charset=utf-8', body: 'It was completed.' },
      headers: { title: 'Baton', click: 'http://baton/tasks/1' },
    })
  })
})
