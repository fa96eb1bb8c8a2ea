import type { ServerKernel } from '../../../door/server-kernel.ts'
import { systemCaller, throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Outgoing } from '../../../outgoing/outgoing.ts'
import type { EventWithTask } from '../../task/record.ts'
import * as rows from '../postgres/turns.ts'
import { deliveryId } from '../rules/delivery.ts'
import { messageFor, type Told } from '../rules/messages.ts'
import { GIVEN_UP_AFTER_MS, holdMs } from '../rules/schedule.ts'
import { type StoredDelivery, Turn } from '../rules/turn.ts'
import { CONNECTIONS, type Receiving, Sender } from './send.ts'
import { entityText, toldOf } from './told.ts'

/**
 * Turns of a webhook, one after the other while something is due. Each reads what is to be sent, sends for a moment, and writes down how
 * that went, in one transaction. If the node dies in between, all of the turn is sent again, under the same ids.
 */

/** After this, a turn begins to send nothing more: a change of the webhook is seen by the next one. */
const SENDING_MS = 1_000

export interface Delivering {
  kernel: ServerKernel
  term: number | undefined
  outgoing: Outgoing
}

type Begun = rows.TurnBegun

export async function takeTurns(
  { kernel, term, outgoing }: Delivering,
  webhook: rows.DueWebhook,
  stopping: AbortSignal,
): Promise<void> {
  const senders = new Senders(outgoing)
  try {
    while (!stopping.aborted) {
      const begun = await rows.beginTurn(kernel.store.readers, webhook)
      if (begun?.state !== 'active') return
      const turn = { kernel, term, outgoing, webhook, begun, sender: senders.for(begun) }
      if ((await takeTurn(turn, stopping)) !== true) return
    }
  } finally {
    senders.close()
  }
}

/** The one of this address and these keys: its connections are used again from turn to turn. */
class Senders {
  readonly #outgoing: Outgoing
  #last: { of: string; sender: Sender } | undefined

  constructor(outgoing: Outgoing) {
    this.#outgoing = outgoing
  }

  for({ secrets, format }: Receiving): Sender {
    const of = JSON.stringify([secrets, format])
    if (this.#last?.of !== of) {
      this.close()
      this.#last = { of, sender: new Sender({ secrets, format }, this.#outgoing) }
    }
    return this.#last!.sender
  }

  close(): void {
    this.#last?.sender.close()
  }
}

interface OneTurn extends Delivering {
  webhook: rows.DueWebhook
  begun: Begun
  sender: Sender
}

async function takeTurn(of: OneTurn, stopping: AbortSignal): Promise<boolean | null> {
  const { kernel, term, webhook, begun } = of
  const { turn, told, upTo } = await prepared(of)
  await sendAll(of, turn, told, stopping)
  const { delivered, failed, ...result } = turn.result(upTo)
  const hasFailed = turn.isHeld && delivered === 0
  const holds = turn.isHeld ? (hasFailed ? begun.holds + 1 : 1) : delivered > 0 ? 0 : begun.holds
  const heldForMs = turn.isHeld ? (turn.holdMs ?? holdMs(holds, Math.random())) : null
  const isDue = await rows.endTurn(kernel.store.writers, webhook, begun.turn, {
    ...{ ...result, delivered, failed, heldForMs, holds },
  })
  if (isDue === null) return null
  const isGivenUp = delivered === 0 && failed > 0 && (begun.failingForMs ?? 0) >= GIVEN_UP_AFTER_MS
  const because = turn.isGone ? 'gone' : isGivenUp ? 'failing' : null
  if (because === null) return isDue
  const { workspaceId, webhookId } = webhook
  const command = { kind: 'disable', because, version: begun.version } as const
  const request = { on: 'webhook', key: webhookId, uuid: webhookId, command } as const
  throwIfNotLeader(await kernel.run(systemCaller(workspaceId, term), request))
  return false
}

/** What is to be sent, in its order, and what is told of each event. */
async function prepared({ kernel, webhook, begun, outgoing }: OneTurn) {
  const { readers } = kernel.store
  const read = await rows.readTurn(readers, webhook, begun)
  const appUrl = outgoing.appUrl()
  const tell = (event: EventWithTask): Told => toldOf(event, begun.workspaceUuid, appUrl)
  // Of those for which the format has no word, nothing is written.
  const news = read.fresh.map(tell).filter((one) => messageFor(begun.format, one) !== null)
  const fresh = news.map(asDelivery)
  const besides = await rows.readBesides(
    readers,
    webhook,
    [...new Set(fresh.map(({ lane }) => lane))],
    read.rows.map(({ seq }) => seq),
  )
  const whole = wholeLanes(read.rows)
  const closed = new Set([...besides.open].filter((lane) => !whole.has(lane)))
  const told = new Map([...besides.events.map(tell), ...news].map((one) => [one.seq!, one]))
  return { turn: new Turn(read.rows, fresh, closed, Math.random), told, upTo: read.upTo }
}

function asDelivery(told: Told): StoredDelivery {
  const entity = entityText(told)
  return { seq: told.seq!, type: told.type, entity, lane: entity, attempts: 0, firstAt: null }
}

/** The lanes of which all rows were read. */
function wholeLanes(found: readonly StoredDelivery[]): Set<string> {
  const counts = new Map<string, number>()
  for (const { lane } of found) counts.set(lane, (counts.get(lane) ?? 0) + 1)
  return new Set([...counts].flatMap(([lane, count]) => (count < rows.MOST_OF_A_LANE ? [lane] : [])))
}

async function sendAll(
  { webhook, begun, sender }: OneTurn,
  turn: Turn,
  told: ReadonlyMap<number, Told>,
  stopping: AbortSignal,
): Promise<void> {
  const until = performance.now() + SENDING_MS
  // What comes next in a lane is sent by the one that sent what was before it.
  const sending = async () => {
    while (performance.now() < until && !stopping.aborted) {
      const job = turn.next()
      if (!job) return
      // A restored database may have deliveries of events that it does not have.
      const one = told.get(job.seq)
      const message = one ? messageFor(begun.format, one) : null
      const id = deliveryId(webhook.webhookId, job.seq)
      const attempt = message && (await sender.send(id, message, stopping))
      if (message && !attempt) turn.stopped(job)
      else turn.ended(job, attempt)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, sending))
}
