import { randomBytes } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import type { z } from 'zod'
import { actsOf, type Door } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { freshUuid } from '../../kernel/fresh-uuid.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { namesForbiddenAddress, refusalOf } from '../../outgoing/addresses.ts'
import type { Outgoing } from '../../outgoing/outgoing.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { typesNamed } from '../event-filter.ts'
import { saying } from './acts/announce.ts'
import { Sender } from './acts/send.ts'
import { entityIn } from './acts/told.ts'
import * as api from './api.ts'
import {
  type DeliveryRow,
  listDeliveries,
  redeliverFailed,
  redeliverOne,
  retryAtOnce,
  stateOfDelivery,
} from './postgres/deliveries.ts'
import { findWebhook, listWebhooks, type WebhookSeen } from './postgres.ts'
import { problemOfUrl } from './rules/address.ts'
import { deliveryId, seqOfDelivery } from './rules/delivery.ts'
import { messageFor } from './rules/messages.ts'
import { asPattern } from './rules/patterns.ts'
import { isSigningSecret, NOT_A_SECRET, secretHint, signingSecret } from './rules/signing.ts'
import type { WebhookCommand, WebhookSettings } from './rules.ts'
import type { DeliveryView, TestAnswer, WebhookPatch, WebhookView } from './shapes.ts'

/** Webhooks: added, changed, tested, and what became of what they were sent. */

const HOUR_MS = 3_600_000
const SECRET_BYTES = 32

async function requireWebhook(kernel: ServerKernel, { workspaceId }: Caller, id: string) {
  const found = await findWebhook(kernel.store.readers, workspaceId, id)
  if (!found) throw new Refused('NOT_FOUND', `There is no webhook ${id} in this workspace.`)
  return found
}

const act = async (kernel: ServerKernel, caller: Caller, id: string, command: WebhookCommand) =>
  granted(await kernel.run(caller, { on: 'webhook', key: id, uuid: id, command })).record

function view(seen: WebhookSeen): AnswerOf<typeof WebhookView> {
  const { webhookId, name, shownUrl, events, format, state, disabledBecause, secrets } = seen
  const { behind, waiting, failed, version, createdBy } = seen
  const former = secrets.former && secrets.former.until > Date.now() ? secrets.former : null
  return {
    ...{ id: webhookId, name, url: shownUrl, events, format, state, disabledBecause },
    secretHint: secretHint(secrets.signing),
    formerSecretUntil: former && instant(former.until),
    ...{ behind, waiting, failed },
    lastDeliveredAt: instant(seen.lastDeliveredAt),
    failingSince: instant(seen.failingSince),
    heldUntil: instant(seen.heldUntil),
    ...{ version, createdBy, createdAt: instant(seen.createdAt), updatedAt: instant(seen.updatedAt) },
  }
}

const shown = async (kernel: ServerKernel, caller: Caller, id: string) =>
  view(await requireWebhook(kernel, caller, id))

const deliveryView =
  (webhookId: string) =>
  ({ seq, type, entity, firstAt, lastAt, nextAt, ...rest }: DeliveryRow): AnswerOf<typeof DeliveryView> => ({
    ...{ id: deliveryId(webhookId, seq), seq, type, ...entityIn(entity) },
    ...{ state: rest.state, attempts: rest.attempts, httpStatus: rest.httpStatus },
    ...{ durationMs: rest.durationMs, answer: rest.answer, error: rest.error },
    firstAttemptAt: instant(firstAt),
    lastAttemptAt: instant(lastAt),
    nextAttemptAt: instant(nextAt),
  })

/** Which events it is for. One that names none, or an address that is not allowed, is refused before it is written. */
async function settingsIn(
  { url, events, name, format }: z.output<typeof WebhookPatch>,
  outgoing: Outgoing,
): Promise<Partial<WebhookSettings>> {
  if (url !== undefined) await refuseAddress(url, outgoing)
  return {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: patternsIn(events) }),
    ...(name !== undefined && { name }),
    ...(format !== undefined && { format }),
  }
}

function patternsIn(given: readonly string[]): string[] {
  const patterns = [...new Set(given.map(asPattern))]
  const [unknown] = typesNamed(patterns).unknown
  if (unknown !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'events', `name no type of event: "${unknown}"`)
  return patterns
}

const LONGEST_LOOKUP_MS = 2_000

/** A name that cannot be resolved now may be so later: it is checked again for each connection. */
async function refuseAddress(given: string, { rule }: Outgoing): Promise<void> {
  const problem = problemOfUrl(given)
  if (problem !== null) throw Refused.field('VALIDATION_FAILED', 'url', problem)
  const url = new URL(given)
  const refusal = () =>
    Refused.field(
      'VALIDATION_FAILED',
      'url',
      `is not allowed: ${refusalOf(url.hostname, rule).message.replace(/\.$/, '')}`,
    )
  if (namesForbiddenAddress(url, rule)) throw refusal()
  if (rule.trusts(url.hostname) || url.hostname.startsWith('[')) return
  const late = new Promise<null>((resolve) => setTimeout(resolve, LONGEST_LOOKUP_MS, null).unref())
  const found = await Promise.race([lookup(url.hostname, { all: true }).catch(() => null), late])
  if (found?.every(({ address }) => rule.forbids(address))) throw refusal()
}

async function test(
  { kernel, outgoing }: Pick<Door, 'kernel' | 'outgoing'>,
  caller: Caller,
  id: string,
): Promise<AnswerOf<typeof TestAnswer>> {
  const { format, secrets } = await requireWebhook(kernel, caller, id)
  const { uuid } = await kernel.store.workspaces.read(caller.workspaceId)
  const sentence = 'This is a test of a webhook of Baton.'
  const told = saying('webhook_test', new Date().toISOString(), sentence, uuid, outgoing.appUrl())
  const task = { taskId: freshUuid(), from: 'queued', to: 'running' } as const
  const message = messageFor(format, format === 'mosaic' ? { ...told, ...task } : told)!
  const sender = new Sender({ secrets, format }, outgoing)
  const messageId = `msg_${freshUuid().replaceAll('-', '')}`
  try {
    const attempt = await sender.send(messageId, message, new AbortController().signal)
    const { isDelivered, httpStatus, durationMs, answer, error } = attempt!
    return { id: messageId, isDelivered, httpStatus, durationMs, answer, error }
  } finally {
    sender.close()
  }
}

/** Returns how many are sent again. */
async function again(kernel: ServerKernel, caller: Caller, id: string, delivery: string | undefined) {
  await requireWebhook(kernel, caller, id)
  const { writers, readers } = kernel.store
  const { workspaceId } = caller
  if (delivery === undefined) return redeliverFailed(writers, workspaceId, id)
  const seq = seqOfDelivery(id, delivery)
  const state = seq === null ? null : await stateOfDelivery(readers, workspaceId, id, seq)
  if (seq === null || state === null)
    throw new Refused('NOT_FOUND', `There is no delivery ${delivery} of this webhook.`)
  if (state === 'waiting')
    throw new Refused('WRONG_STATE', 'It waits for a delivery before it about the same thing: send that one.')
  return state === 'retrying'
    ? retryAtOnce(writers, workspaceId, id, seq)
    : redeliverOne(writers, workspaceId, id, seq)
}

/** The one that is given, or a new one. How long it is, its shape does not say. */
function secretIn(given: string | undefined): string {
  if (given === undefined) return signingSecret(randomBytes(SECRET_BYTES))
  if (!isSigningSecret(given)) throw Refused.field('VALIDATION_FAILED', 'secret', NOT_A_SECRET)
  return given
}

export const webhookActs = actsOf(api)({
  async createWebhook({ kernel, outgoing }, { body: { secret: own, ...given }, caller }) {
    const secret = secretIn(own)
    const { url, name, format = 'baton' } = given
    await refuseAddress(url, outgoing)
    const events = patternsIn(given.events)
    const settings = { url, events, format, name: name ?? new URL(url).hostname }
    const id = freshUuid()
    await act(kernel, caller, id, { kind: 'create', settings, signing: secret })
    return { ...(await shown(kernel, caller, id)), secret }
  },
  async listWebhooks({ kernel }, { caller: { workspaceId }, page }) {
    const found = await listWebhooks(kernel.store.readers, workspaceId, page.after, page.rows)
    return page.of(found, view, ({ webhookId }) => webhookId)
  },
  readWebhook: ({ kernel }, { params, caller }) => shown(kernel, caller, params.id),
  async changeWebhook({ kernel, outgoing }, { params, body, caller, ifVersion }) {
    await requireWebhook(kernel, caller, params.id)
    const set = await settingsIn(body, outgoing)
    await act(kernel, caller, params.id, { kind: 'update', ifVersion, set })
    return shown(kernel, caller, params.id)
  },
  async deleteWebhook({ kernel }, { params, caller }) {
    await act(kernel, caller, params.id, { kind: 'remove' })
  },
  testWebhook: (door, { params, caller }) => test(door, caller, params.id),
  async pauseWebhook({ kernel }, { params, caller }) {
    await act(kernel, caller, params.id, { kind: 'pause' })
    return shown(kernel, caller, params.id)
  },
  async resumeWebhook({ kernel }, { params, caller }) {
    await act(kernel, caller, params.id, { kind: 'resume' })
    return shown(kernel, caller, params.id)
  },
  async rotateWebhook({ kernel }, { params, body: { secret: own, keepHours }, caller }) {
    const secret = secretIn(own)
    const keepFormerMs = keepHours * HOUR_MS
    await act(kernel, caller, params.id, { kind: 'rotate', signing: secret, keepFormerMs })
    return { ...(await shown(kernel, caller, params.id)), secret }
  },
  async redeliverWebhook({ kernel }, { params, body: { delivery }, caller }) {
    const count = await again(kernel, caller, params.id, delivery)
    // Written after it: what it says has happened.
    if (count > 0) await act(kernel, caller, params.id, { kind: 'redeliver', count })
    return { count }
  },
  async listDeliveries({ kernel }, { params, query, caller, page }) {
    const { webhookId } = await requireWebhook(kernel, caller, params.id)
    const of = { before: page.after, state: query.state }
    const found = await listDeliveries(kernel.store.readers, caller.workspaceId, webhookId, of, page.rows)
    return page.of(found, deliveryView(webhookId), ({ seq }) => seq)
  },
})
