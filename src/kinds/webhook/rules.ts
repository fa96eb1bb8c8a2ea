import { type Refusal, refuse } from '../../pure/errors.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { DisabledBecause, Format, WebhookRecord } from './record.ts'
import { shownUrl } from './rules/address.ts'

/** What a command does to a webhook. */

export interface WebhookSettings {
  name: string
  url: string
  events: readonly string[]
  format: Format
}

export type WebhookCommand =
  | { kind: 'create'; settings: WebhookSettings; signing: string }
  | { kind: 'update'; ifVersion: number | null; set: Partial<WebhookSettings> }
  | { kind: 'pause' }
  | { kind: 'resume' }
  /** `former`: how long the key that it replaces signs as well. */
  | { kind: 'rotate'; signing: string; keepFormerMs: number }
  /** Baton gives it up, unless it was changed since. */
  | { kind: 'disable'; because: DisabledBecause; version: number }
  | { kind: 'redeliver'; count: number }
  | { kind: 'remove' }

interface WebhookContext {
  now: number
  origin: Origin
  /** How many the workspace has. */
  count: number
}

interface WebhookDecision {
  refusal: Refusal | null
  /** Null: there is none. */
  record: WebhookRecord | null
  events: EventDraft[]
}

/** Each costs a look at every event. */
const MOST_WEBHOOKS = 100

const refused = (record: WebhookRecord | null, refusal: Refusal): WebhookDecision => ({
  ...{ refusal, record, events: [] },
})

export function decideWebhook(
  before: WebhookRecord | null,
  webhookId: string,
  command: WebhookCommand,
  context: WebhookContext,
): WebhookDecision {
  if (command.kind === 'create') return create(webhookId, command, context)
  if (!before)
    return refused(before, refuse('NOT_FOUND', `There is no webhook ${webhookId} in this workspace.`))
  const decided = ACTS[command.kind](before, command as never, context)
  if (decided === null) return { refusal: null, record: before, events: [] }
  if ('code' in decided) return refused(before, decided)
  const { type, set = {}, payload = {} } = decided
  const { now, origin } = context
  const record = { ...before, ...set, version: before.version + 1, updatedAt: now }
  const about = { webhookId, name: record.name, ...payload }
  return {
    refusal: null,
    record: command.kind === 'remove' ? null : command.kind === 'redeliver' ? before : record,
    events: [workspaceEvent(type, about, { ...origin, now })],
  }
}

function create(
  webhookId: string,
  { settings, signing }: Extract<WebhookCommand, { kind: 'create' }>,
  { now, origin, count }: WebhookContext,
): WebhookDecision {
  if (count >= MOST_WEBHOOKS)
    return refused(null, refuse('LIMIT_REACHED', `A workspace may have ${MOST_WEBHOOKS} webhooks.`))
  const { name, url, events, format } = settings
  const record: WebhookRecord = {
    ...{
      webhookId,
      name,
      shownUrl: shownUrl(url, format),
      events,
      format,
      state: 'active',
      disabledBecause: null,
    },
    secrets: { url, signing, former: null },
    ...{ version: 1, createdBy: origin.actor, createdAt: now, updatedAt: now },
  }
  const payload = { webhookId, name, events, format }
  return { refusal: null, record, events: [workspaceEvent('webhook_created', payload, { ...origin, now })] }
}

/** What changes, and the event of it; null: nothing does. */
type Decided =
  | { type: EventDraft['type']; set?: Partial<WebhookRecord>; payload?: Record<string, unknown> }
  | Refusal
  | null

type Act<K extends WebhookCommand['kind']> = (
  webhook: WebhookRecord,
  command: Extract<WebhookCommand, { kind: K }>,
  context: WebhookContext,
) => Decided

const update: Act<'update'> = (webhook, { ifVersion, set: { url = webhook.secrets.url, ...plain } }) => {
  if (ifVersion !== null && ifVersion !== webhook.version)
    return refuse('VERSION_MISMATCH', `The webhook is at version ${webhook.version}.`, {
      currentVersion: webhook.version,
    })
  const fields = [...Object.keys(plain), ...(url === webhook.secrets.url ? [] : ['url'])]
  if (fields.length === 0) return null
  const shown = shownUrl(url, plain.format ?? webhook.format)
  const set = { ...plain, shownUrl: shown, secrets: { ...webhook.secrets, url } }
  return { type: 'webhook_updated', set, payload: { fields } }
}

const pause: Act<'pause'> = ({ state }) => {
  if (state === 'disabled') return refuse('WRONG_STATE', 'The webhook is disabled: nothing is sent to it.')
  return state === 'paused' ? null : { type: 'webhook_paused', set: { state: 'paused' } }
}

const resume: Act<'resume'> = ({ state }) =>
  state === 'active' ? null : { type: 'webhook_resumed', set: { state: 'active', disabledBecause: null } }

const rotate: Act<'rotate'> = ({ secrets }, { signing, keepFormerMs }, { now }) => ({
  type: 'webhook_rotated',
  set: {
    secrets: {
      ...{ ...secrets, signing },
      former: keepFormerMs > 0 ? { signing: secrets.signing, until: now + keepFormerMs } : null,
    },
  },
})

const disable: Act<'disable'> = ({ state, version }, { because, version: seen }) =>
  state !== 'active' || version !== seen
    ? null
    : { type: 'webhook_disabled', set: { state: 'disabled', disabledBecause: because }, payload: { because } }

const redeliver: Act<'redeliver'> = (_webhook, { count }) => ({
  ...{ type: 'webhook_redelivered', payload: { count } },
})

const remove: Act<'remove'> = () => ({ type: 'webhook_removed' })

const ACTS: { [K in Exclude<WebhookCommand['kind'], 'create'>]: Act<K> } = {
  ...{ update, pause, resume, rotate, disable, redeliver, remove },
}
