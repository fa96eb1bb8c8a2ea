import type { ServerKernel } from '../../door/server-kernel.ts'
import type { ServerStore } from '../../door/server-store.ts'
import type { FollowingStep, StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import type { Follower } from '../../kernel/follower.ts'
import { WEBHOOKS } from '../../kernel/store/log-followers.ts'
import { isEndOfPass } from '../../kernel/upkeep-context.ts'
import { USUAL_OUTGOING } from '../../outgoing/outgoing.ts'
import { KnownWebhooks } from './acts/announce.ts'
import { takeTurns } from './acts/turns.ts'
import { activeWebhooks } from './postgres/known.ts'
import {
  type DueWebhook,
  dueWebhooks,
  patternsIn,
  postponeTurn,
  type ToldRange,
  tellWebhooks,
} from './postgres/turns.ts'
import { fits } from './rules/patterns.ts'

/**
 * Webhooks follow the log: the follower notes for each that there is something for it, and how far; then each goes through the log by
 * itself, so that a slow one holds up neither the follower nor another.
 */

const follower: Follower<ServerStore> = {
  name: WEBHOOKS,
  wants: { to: [], forWebhooks: true },
  async handle({ kernel, again }, workspaceId, events) {
    const { readers, writers } = kernel.store
    const all = await patternsIn(readers, workspaceId)
    const told = all.flatMap(({ webhookId, events: patterns }): ToldRange[] => {
      const own = events.filter(({ type }) => patterns.some((pattern) => fits(pattern, type)))
      return own.length === 0 ? [] : [{ webhookId, first: own[0]!.seq, last: own.at(-1)!.seq }]
    })
    if (told.length > 0) await tellWebhooks(writers, workspaceId, told)
    again?.()
    return { did: told.length }
  },
}

/** At once. Those that hang end after their time. */
const MOST_AT_ONCE = 200
const keyOf = (webhookId: string) => `webhook ${webhookId}`

/** Begins the turns of those that are due; nobody waits for them. */
async function beginTurns(context: StepContext): Promise<number> {
  const { kernel, term, only, beside, outgoing = USUAL_OUTGOING } = context
  if (!beside) return 0
  const busy = beside.busy(keyOf(''))
  if (busy.length >= MOST_AT_ONCE) return 0
  const ids = busy.map((key) => key.slice(keyOf('').length))
  const due = await dueWebhooks(kernel.store.readers, ids, MOST_AT_ONCE - busy.length, only)
  for (const webhook of due)
    beside.start(keyOf(webhook.webhookId), (stopping) =>
      takeTurns({ kernel, term, outgoing }, webhook, stopping).catch((error: unknown) =>
        failed(kernel, webhook, error),
      ),
    )
  return due.length
}

/** A fault of Baton's own must not be tried again all the time. */
async function failed(kernel: ServerKernel, webhook: DueWebhook, error: unknown): Promise<void> {
  if (isEndOfPass(error)) return
  kernel.fault(error, 'events could not be sent to a webhook')
  await postponeTurn(kernel.store.writers, webhook).catch(() => undefined)
}

async function rememberWebhooks({ kernel, kept }: StepContext): Promise<number> {
  kept(KnownWebhooks).remember(await activeWebhooks(kernel.store.readers))
  return 0
}

export const webhookSteps: readonly (UpkeepStep | FollowingStep)[] = [
  { name: 'webhooksTold', phase: 'tell', everyMs: 0, follower },
  { name: 'webhooksBegun', phase: 'tell', everyMs: 0, run: beginTurns },
  // What is not in the database when it is away.
  { name: 'webhooksKnown', phase: 'tell', everyMs: 5_000, run: rememberWebhooks },
]
