import type { AnswerTo } from '../../../../src/client/client.ts'
import type { HookScheme } from '../../../../src/kinds/hook/record.ts'
import type { Verdict } from '../../../../src/kinds/hook-delivery/record.ts'
import type { Format } from '../../../../src/kinds/webhook/record.ts'
import type { Hue } from '../../theme/marks.ts'

/** Webhooks and hooks in the words of the page. Pure. */

export type Webhook = AnswerTo<'GET', '/webhooks'>['items'][number]
export type Sent = AnswerTo<'GET', '/webhooks/:id/deliveries'>['items'][number]
export type Hook = AnswerTo<'GET', '/hooks'>['items'][number]
export type Received = AnswerTo<'GET', '/hooks/:id/deliveries'>['items'][number]

/** What a form is open for; null: a new one. */
export type Edited = { kind: 'webhook'; webhook: Webhook | null } | { kind: 'hook'; hook: Hook | null }

interface Look {
  words: string
  hue: Hue
}

export function lookOfWebhook({ state, failingSince, heldUntil }: Webhook): Look {
  if (state === 'disabled') return { words: 'Disabled', hue: 'bad' }
  if (state === 'paused') return { words: 'Paused', hue: 'held' }
  if (failingSince !== null) return { words: 'Failing', hue: 'bad' }
  return heldUntil === null ? { words: 'Active', hue: 'done' } : { words: 'Asked to wait', hue: 'wait' }
}

export const WHY_DISABLED = {
  gone: 'Its receiver said that it is gone.',
  failing: 'Nothing has arrived for days.',
} as const satisfies Record<NonNullable<Webhook['disabledBecause']>, string>

export const LOOK_OF_SENT: Readonly<Record<string, Look>> = {
  delivered: { words: 'Delivered', hue: 'done' },
  retrying: { words: 'Tried again', hue: 'ask' },
  waiting: { words: 'Waits', hue: 'wait' },
  failed: { words: 'Given up', hue: 'bad' },
}

export const FORMAT_WORDS: Record<Format, string> = {
  baton: 'Baton’s events',
  mosaic: 'Mosaic’s task.status_changed',
  slack: 'Slack',
  discord: 'Discord',
  ntfy: 'ntfy',
}

export const SCHEME_WORDS: Record<HookScheme, { words: string; text: string }> = {
  standard_webhooks: {
    words: 'Standard Webhooks',
    text: 'Signed with the key: webhook-id, webhook-timestamp and webhook-signature.',
  },
  github: { words: 'GitHub', text: 'X-Hub-Signature-256 with the secret; content type application/json.' },
  gitlab: { words: 'GitLab', text: 'The secret token, in X-Gitlab-Token.' },
  secret_url: { words: 'Secret address', text: 'For those that sign nothing: the address has a token.' },
}

export const lookOfHook = ({ enabled }: Hook): Look =>
  enabled ? { words: 'Active', hue: 'done' } : { words: 'Paused', hue: 'held' }

export const LOOK_OF_VERDICT: Record<Verdict, Look> = {
  done: { words: 'Done', hue: 'done' },
  ignored: { words: 'Ignored', hue: 'wait' },
  failed: { words: 'Failed', hue: 'bad' },
  refused: { words: 'Refused', hue: 'ask' },
}

export function doesWords({ does }: Pick<Hook, 'does'>): string {
  if (does.kind === 'wake') return `Wakes ${does.agent}`
  if (does.kind === 'routine') return 'Starts a mission of a routine'
  return `Creates a task${does.agent === null ? '' : ` for ${does.agent}`}: ${does.title}`
}

/** What was made, and its page. */
export function pageOfMade({ made }: Received): { words: string; to: string | null } | null {
  if (made === null) return null
  if (made.kind === 'task') return { words: 'task', to: `/tasks/${made.id}` }
  return made.kind === 'mission'
    ? { words: 'mission', to: `/missions/${made.id}` }
    : { words: 'wakeup', to: null }
}

/** How a program calls it. Those that sign need the bytes that they send. */
export function curlOf(
  origin: string,
  { path, scheme }: Pick<Hook, 'path' | 'scheme'>,
  secret: string,
): string {
  const start = `BODY='{"type":"test"}'\n`
  const send = `curl -X POST '${origin}${path}' -H 'Content-Type: application/json'`
  const body = ` -d "$BODY"`
  switch (scheme) {
    case 'secret_url':
      return `${start}${send}${body}`
    case 'gitlab':
      return `${start}${send} -H 'X-Gitlab-Token: ${secret}'${body}`
    case 'github':
      return `${start}SIGNATURE=$(printf %s "$BODY" | openssl dgst -sha256 -hmac '${secret}' -r | cut -d' ' -f1)\n${send} -H "X-Hub-Signature-256: sha256=$SIGNATURE"${body}`
    case 'standard_webhooks':
      return [
        `${start}ID=msg_$(openssl rand -hex 8); AT=$(date +%s)`,
        `KEY=$(printf %s '${secret.replace(/^whsec_/, '')}' | openssl base64 -d -A | od -An -tx1 | tr -d ' \\n')`,
        `SIGNATURE=$(printf %s "$ID.$AT.$BODY" | openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -binary | openssl base64 -A)`,
        `${send} -H "webhook-id: $ID" -H "webhook-timestamp: $AT" -H "webhook-signature: v1,$SIGNATURE"${body}`,
      ].join('\n')
  }
}

/** "a, b" as a list. */
export const listIn = (text: string): string[] =>
  text
    .split(/[,\n]/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
