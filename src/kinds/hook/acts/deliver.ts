import { randomBytes } from 'node:crypto'
import type { Call, Door } from '../../../door/door.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { StoreUnavailable } from '../../../kernel/store/store.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { HookDeliveryTypes } from '../../hook-delivery/kind.ts'
import { isKnown } from '../../hook-delivery/postgres.ts'
import { deliveryKey } from '../../hook-delivery/record.ts'
import type { DeliverCommand } from '../../hook-delivery/rules.ts'
import { WakeupRequests, wakeByCallback } from '../../run/acts/wakeups.ts'
import { SKIP_REASONS, type SkipReason } from '../../run/rules/wakeups.ts'
import { isSkipped } from '../../run/states.ts'
import type { deliverToHook } from '../api.ts'
import { type CalledHook, calledHook } from '../postgres.ts'
import { actorOf, type HookRecord } from '../record.ts'
import type { DeliveryAnswer } from '../shapes.ts'
import { HookLimits } from './limits.ts'
import { materialOf, type Plan, planOf } from './plan.ts'
import { schemeOf, whyNotProved } from './proof.ts'

/** What comes to a hook from outside. */

type Answer = AnswerOf<typeof DeliveryAnswer>
type Verdict = Pick<DeliverCommand, 'verdict' | 'reason' | 'makes'>

/** What is known of a delivery once it is believed. */
interface Arrived {
  id: string
  sentAs: string | null
  event: string | null
  bytes: number
}

/** Deliveries to hooks that do not exist are proved against this one: their answer takes as long as that of a wrong proof. */
const NOBODY = {
  ...{ hookId: '', scheme: 'github', secret: randomBytes(32).toString('hex') },
  ...{ previousSecret: null, previousEndsAt: null },
} as unknown as HookRecord

/** The same words for both: an address that nobody was told says nothing of whether it exists. The log of the hook says more. */
const notHere = () =>
  new Refused(
    'NOT_FOUND',
    'There is no hook at this address, or the delivery does not prove where it comes from.',
  )

/** As a caller of the API, whose acts are those of the hook. */
const callerOf = (hook: CalledHook, address: string): Caller => ({
  ...{ workspaceId: hook.workspaceId, actor: actorOf(hook), address, rights: new Set(['operate']) },
  outside: { agent: null, rights: new Set(['operate']) },
})

export async function deliver(door: Door, call: Call<typeof deliverToHook>): Promise<Answer> {
  const { params, body, headers, query, address } = call
  const { kernel } = door
  const limits = door.shared(HookLimits)
  const hook = await calledHook(kernel.store.readers, params.id)
  const { bytes } = body
  const whyNot = whyNotProved(hook ?? NOBODY, { headers, token: query.token, bytes }, hook?.now ?? 0)
  if (!hook) throw notHere()
  const caller = callerOf(hook, address)
  const scheme = schemeOf(hook)
  const arrived = { id: freshUuid(), sentAs: scheme.idIn(headers), event: null, bytes: bytes.length }
  if (whyNot !== null) {
    // Not waited for: the time of the answer would say that there is a hook.
    noteRefusal(kernel, limits, caller, hook, arrived, whyNot).catch((error) =>
      kernel.fault(error, 'a refused delivery could not be noted'),
    )
    throw notHere()
  }
  const retryAfterSeconds = limits.waitSeconds(hook.hookId, hook.perMinute)
  if (retryAfterSeconds > 0) {
    const reason = `More than ${hook.perMinute} deliveries came in a minute.`
    await noteRefusal(kernel, limits, caller, hook, arrived, reason)
    throw new Refused('TOO_MANY_DELIVERIES', reason, { retryAfterSeconds })
  }
  const payload = await readPayload(call).catch(async (error: unknown) => {
    if (error instanceof Refused)
      await noteRefusal(kernel, limits, caller, hook, arrived, error.refusal.detail)
    throw error
  })
  return act(door, caller, hook, { ...arrived, event: scheme.eventIn(headers, payload) }, payload)
}

async function readPayload({ body }: Call<typeof deliverToHook>): Promise<unknown> {
  const payload = await body.read()
  if (payload === undefined) throw new Refused('MALFORMED_JSON', 'The delivery has no body.')
  return payload
}

/** A routine may be changed between reading and starting it. */
const MOST_TRIES = 3

async function act(
  door: Door,
  caller: Caller,
  hook: CalledHook,
  arrived: Arrived,
  payload: unknown,
): Promise<Answer> {
  const known = await repeatOf(door.kernel, caller, hook, arrived)
  if (known) return known
  for (let tries = 1; ; tries++) {
    const plan = await planOf(door.kernel, caller, hook, arrived.event, payload)
    const verdict = await verdictOf(door, caller, hook, arrived, plan, payload)
    const answer = await note(door.kernel, caller, hook, arrived, verdict).catch(async (error: unknown) => {
      if (!(error instanceof Refused)) throw error
      if (error.code === 'CHANGED_SINCE' && tries < MOST_TRIES) return null
      const failed = { verdict: 'failed', reason: error.refusal.detail, makes: null } as const
      return note(door.kernel, caller, hook, arrived, failed)
    })
    if (!answer) continue
    if (answer.verdict === 'failed') throw new Refused('DELIVERY_FAILED', answer.reason!)
    return answer
  }
}

/** It was done: whatever the hook does by now, it is not done again. */
async function repeatOf(
  kernel: ServerKernel,
  caller: Caller,
  { hookId }: HookRecord,
  { id, sentAs }: Arrived,
): Promise<Answer | null> {
  if (sentAs === null) return null
  const key = deliveryKey(hookId, { id, sentAs })
  if (!(await isKnown(kernel.store.readers, caller.workspaceId, key))) return null
  const reply = await kernel.run(caller, { on: 'hookDelivery', key, uuid: id, command: { kind: 'repeat' } })
  // Forgotten in between: it is as good as new.
  return reply.ok ? answerOf(reply) : null
}

async function verdictOf(
  door: Door,
  caller: Caller,
  hook: HookRecord,
  arrived: Arrived,
  { verdict, reason, would }: Plan,
  payload: unknown,
): Promise<Verdict> {
  if (!would) return { verdict, reason, makes: null }
  if (would.makes) return { verdict: 'done', reason: null, makes: would.makes }
  const { id, sentAs } = arrived
  const key = `${caller.actor} ${hook.hookId} ${sentAs ?? id}`
  const wake = (idempotencyKey: string) =>
    wakeByCallback(door.shared(WakeupRequests), caller, would.agent!, {
      ...{ id, idempotencyKey },
      reason: would.text ?? `The hook "${hook.name}" was called`,
      payload: materialOf(hook, arrived.event, payload),
    })
  // Before it is noted: a repeated delivery gets the first wakeup, and an agent is not left asleep by a crash in between.
  const first = await wake(key)
  // One that was skipped before may come again.
  const wakeup = first && isSkipped(first.status) && first.id !== id ? await wake(`${key} ${id}`) : first
  if (!wakeup) return { verdict: 'failed', reason: `There is no agent "${would.agent}".`, makes: null }
  if (isSkipped(wakeup.status))
    return { verdict: 'ignored', reason: SKIP_REASONS[wakeup.skipReason as SkipReason], makes: null }
  return { verdict: 'done', reason: null, makes: { kind: 'wakeup', id: wakeup.id } }
}

/** Writes a delivery down, and in the same transaction does what it does. */
async function note(
  kernel: ServerKernel,
  caller: Caller,
  { hookId, name }: HookRecord,
  { id, sentAs, event, bytes }: Arrived,
  verdict: Verdict,
): Promise<Answer> {
  // What did nothing may be sent again, and do it then.
  const key = deliveryKey(hookId, { id, sentAs: verdict.verdict === 'done' ? sentAs : null })
  const command = { kind: 'deliver', hookId, hookName: name, sentAs, event, bytes, ...verdict } as const
  return answerOf(granted(await kernel.run(caller, { on: 'hookDelivery', key, uuid: id, command })))
}

const answerOf = ({ record, isNew }: HookDeliveryTypes['granted']): Answer => ({
  ...{ id: record.deliveryId, verdict: record.verdict, reason: record.reason, isRepeat: !isNew },
})

/** Some of them, so that nobody can fill the log. That it cannot be written now is no reason to answer otherwise. */
async function noteRefusal(
  kernel: ServerKernel,
  limits: HookLimits,
  caller: Caller,
  hook: HookRecord,
  arrived: Arrived,
  reason: string,
): Promise<void> {
  if (!limits.mayNote(hook.hookId)) return
  // An id that nobody has proved is not to be believed.
  const unknown = { ...arrived, sentAs: null }
  await note(kernel, caller, hook, unknown, { verdict: 'refused', reason, makes: null }).catch(
    (error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error
    },
  )
}
