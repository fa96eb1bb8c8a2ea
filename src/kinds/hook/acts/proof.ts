import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import { Refused } from '../../../pure/errors.ts'
import type { HookRecord, HookScheme } from '../record.ts'

/** How deliveries prove where they come from. */

/** What was delivered, before anybody believes it. */
export interface Delivered {
  headers: IncomingHttpHeaders
  /** Of the address. */
  token: string | undefined
  bytes: Buffer
}

interface Scheme {
  /** A new secret, as the sender gets it. */
  make(): string
  /** What is kept of a secret. Refused when the sender could not sign with it. */
  kept(secret: string): string
  /** Why it is not proved by what is kept; null: it is. */
  whyNot(kept: string, delivered: Delivered): string | null
  /** The id of a delivery: the same when it is repeated. */
  idIn(headers: IncomingHttpHeaders): string | null
  /** What happened, as the sender calls it. */
  eventIn(headers: IncomingHttpHeaders, payload: unknown): string | null
}

const KEY_BYTES = 32
const TOKEN_BYTES = 32
const sha256 = (text: string) => hash('sha256', text)

/** Of any lengths, in a time that says nothing of where they differ. */
const isSame = (a: string, b: string) =>
  timingSafeEqual(Buffer.from(sha256(a), 'hex'), Buffer.from(sha256(b), 'hex'))

const one = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' && header !== '' ? header : null

const LONGEST_NAME = 200
/** What a sender calls it; longer or stranger ones are as good as none. */
const named = (given: unknown): string | null =>
  typeof given === 'string' && given.length <= LONGEST_NAME && /^[\x20-\x7e]+$/.test(given) ? given : null

const typeIn = (payload: unknown): string | null =>
  payload !== null && typeof payload === 'object' && 'type' in payload ? named(payload.type) : null

const token = {
  make: () => randomBytes(TOKEN_BYTES).toString('base64url'),
  kept: sha256,
}

const SCHEMES: Record<HookScheme, Scheme> = {
  standard_webhooks: {
    make: () => `whsec_${randomBytes(KEY_BYTES).toString('base64')}`,
    kept: withKey,
    whyNot: whyNotStandard,
    idIn: (headers) => named(one(headers['webhook-id'])),
    eventIn: (_headers, payload) => typeIn(payload),
  },
  github: {
    make: token.make,
    kept: (secret) => secret,
    whyNot(secret, { headers, bytes }) {
      const given = one(headers['x-hub-signature-256'])
      if (given === null) return 'It has no X-Hub-Signature-256.'
      const right = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`
      return isSame(given, right) ? null : 'Its X-Hub-Signature-256 is wrong.'
    },
    idIn: (headers) => named(one(headers['x-github-delivery'])),
    eventIn: (headers) => named(one(headers['x-github-event'])),
  },
  gitlab: {
    ...token,
    whyNot(kept, { headers }) {
      const given = one(headers['x-gitlab-token'])
      if (given === null) return 'It has no X-Gitlab-Token.'
      return isSame(sha256(given), kept) ? null : 'Its X-Gitlab-Token is wrong.'
    },
    idIn: (headers) => named(one(headers['idempotency-key'])),
    eventIn: (headers) => named(one(headers['x-gitlab-event'])),
  },
  secret_url: {
    ...token,
    whyNot(kept, { token: given }) {
      if (given === undefined) return 'Its address has no token.'
      return isSame(sha256(given), kept) ? null : 'The token of its address is wrong.'
    },
    idIn: (headers) => named(one(headers['idempotency-key'])),
    eventIn: (_headers, payload) => typeIn(payload),
  },
}

export const schemeOf = ({ scheme }: Pick<HookRecord, 'scheme'>): Scheme => SCHEMES[scheme]

function withKey(secret: string): string {
  try {
    new Webhook(secret)
    return secret
  } catch {
    throw Refused.field('VALIDATION_FAILED', 'secret', 'must be base64, with or without "whsec_" before it')
  }
}

/** The package refuses timestamps that are more than five minutes old, or ahead. */
function whyNotStandard(secret: string, { headers, bytes }: Delivered): string | null {
  const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headers
  const given = Object.entries({ 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature })
  const sent = given.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  try {
    new Webhook(secret).verify(bytes, Object.fromEntries(sent), { jsonParse: false })
    return null
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return `Its signature is not accepted: ${error.message.toLowerCase()}.`
  }
}

/** Why a delivery is not of the sender of this hook; null: it is. Both secrets are tried while both are valid. */
export function whyNotProved(hook: HookRecord, delivered: Delivered, now: number): string | null {
  const { whyNot } = schemeOf(hook)
  const why = whyNot(hook.secret, delivered)
  const { previousSecret, previousEndsAt } = hook
  if (why === null || previousSecret === null || previousEndsAt! <= now) return why
  return whyNot(previousSecret, delivered) === null ? null : why
}
