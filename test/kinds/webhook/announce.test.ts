import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { KnownWebhooks } from '../../../src/kinds/webhook/acts/announce.ts'
import type { KnownWebhook } from '../../../src/kinds/webhook/postgres/known.ts'
import { signingSecret } from '../../../src/kinds/webhook/rules/signing.ts'
import { forWebhooks } from '../../../src/outgoing/addresses.ts'
import { useReceivers } from '../../support/receivers.ts'

/** What is told from memory, while the database is away. */

const receiver = useReceivers()
const outgoing = { rule: forWebhooks(['127.0.0.1']), appUrl: () => 'http://baton.example' }
const never = new AbortController().signal
const signing = signingSecret(new Uint8Array(32).fill(9))
const known = (url: string, more: Partial<KnownWebhook> = {}): KnownWebhook => ({
  ...{ workspaceId: 1, workspaceUuid: 'ws-1', webhookId: 'w', format: 'baton', events: ['alert_*'] },
  ...{ secrets: { url, signing, former: null }, ...more },
})
const said = {
  ...{ type: 'alert_raised', at: Date.parse('2026-01-02T03:04:05Z'), severity: 'critical' },
  ...{ sentence: 'The database is away.', workspaceId: null },
}

test('all webhooks that want it are told, signed and in their format, and it is counted whom it reached', async () => {
  const [one, two, other] = [await receiver(), await receiver(), await receiver()]
  const webhooks = new KnownWebhooks()
  webhooks.remember([
    known(one.url),
    known(two.url, { workspaceId: 2, format: 'slack' }),
    known(other.url, { events: ['task_*'] }),
    known('http://127.0.0.1:9/'),
    known('http://10.0.0.1/'),
  ])
  expect(await webhooks.announce(outgoing, said, never)).toBe(2)
  const [{ text, headers, body }] = one.received as [(typeof one.received)[0]]
  expect(body).toMatchObject({
    ...{ type: 'alert_raised', timestamp: '2026-01-02T03:04:05.000Z' },
    data: { severity: 'critical', workspaceId: 'ws-1', seq: null },
  })
  new Webhook(signing).verify(text, headers as Record<string, string>)
  expect(two.received[0]!.body.text).toBe('The database is away. <http://baton.example|Open in Baton>')
  expect(other.received).toEqual([])
})

test('one workspace alone is told what concerns it alone', async () => {
  const [own, other] = [await receiver(), await receiver()]
  const webhooks = new KnownWebhooks()
  webhooks.remember([known(own.url), known(other.url, { workspaceId: 2 })])
  expect(await webhooks.announce(outgoing, { ...said, workspaceId: 1 }, never)).toBe(1)
  expect(other.received).toEqual([])
})
