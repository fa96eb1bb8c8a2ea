import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { freshUuid } from '../../src/kernel/fresh-uuid.ts'
import { granted } from '../../src/kernel/kernel.ts'
import { signingSecret } from '../../src/kinds/webhook/rules/signing.ts'
import type { WebhookCommand } from '../../src/kinds/webhook/rules.ts'
import { forWebhooks } from '../../src/outgoing/addresses.ts'
import { Coordinator } from '../../src/upkeep/coordinator.ts'
import { Leadership } from '../../src/upkeep/leadership.ts'
import { Node } from '../../src/upkeep/node.ts'
import { kernelClaims } from '../kernel.ts'
import { type MissionBed, makeMissionBed } from '../missions/bed.ts'
import { type Goal, worded } from '../report.ts'

/** What webhooks can send, and what they cost those who claim. */
export interface WebhookFigures {
  deliveriesPerSecond: number
  /** CPU of this process for each, in microseconds. */
  nodeMicros: number
  /** Claims a second with ten webhooks on `mission_*`, of those without any: by round. */
  ratios: number[]
}

interface Sizes {
  deliveries: number
  claims: number
  rounds: number
}

const TEN = 10

export async function webhookFigures(sizes: Sizes, say: (what: string) => void): Promise<WebhookFigures> {
  const bed = await makeMissionBed()
  const node = await Node.start(bed.store, { version: 'bench' })
  const outgoing = { rule: forWebhooks(['127.0.0.1']), appUrl: () => 'http://127.0.0.1' }
  const leads = new Leadership(bed.store, node.id)
  const coordinator = new Coordinator(bed.kernel, leads, node.id, pino({ level: 'silent' }), {
    outgoing,
  }).start()
  const receiver = fork(new URL('./receiver.js', import.meta.url))
  try {
    const { port } = await answerOf<{ port: number }>(receiver)
    const url = `http://127.0.0.1:${port}/hook`
    say(`w ${sizes.deliveries} deliveries to a fast receiver`)
    const sent = await deliveries(bed, receiver, url, sizes.deliveries)
    const ratios: number[] = []
    for (let round = 0; round <= sizes.rounds; round++) {
      say(`w claims without webhooks and beside ten, round ${round}`)
      const ratio = await claimsBesideTen(bed, url, sizes.claims)
      // The first one warms up.
      if (round > 0) ratios.push(ratio)
    }
    return { ...sent, ratios }
  } finally {
    receiver.kill()
    await coordinator.stop()
    await node.stop()
    await bed.close()
  }
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const [answer] = await once(child, 'message')
  return answer
}

async function count(receiver: ChildProcess): Promise<number> {
  const answer = answerOf<{ count: number }>(receiver)
  receiver.send('count')
  return (await answer).count
}

const on = async ({ kernel, caller }: MissionBed, id: string, command: WebhookCommand) =>
  granted(await kernel.run(caller, { on: 'webhook', key: id, uuid: id, command }))

async function add(bed: MissionBed, url: string, events: string[]): Promise<string> {
  const id = freshUuid()
  const settings = { name: 'bench', url, events, format: 'baton' as const }
  await on(bed, id, { kind: 'create', settings, signing: signingSecret(new Uint8Array(32)) })
  return id
}

/** Of events that waited while it was paused, so that nothing else is done meanwhile. */
async function deliveries(bed: MissionBed, receiver: ChildProcess, url: string, many: number) {
  const id = await add(bed, url, ['task_assigned'])
  await on(bed, id, { kind: 'pause' })
  await kernelClaims(bed, await bed.fill(many))
  await bed.calm()
  const before = await count(receiver)
  const began = performance.now()
  const cpu = process.cpuUsage()
  await on(bed, id, { kind: 'resume' })
  while ((await count(receiver)) < before + many) await sleep(20)
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  await on(bed, id, { kind: 'remove' })
  return { deliveriesPerSecond: many / seconds, nodeMicros: (user + system) / many }
}

async function claimsBesideTen(bed: MissionBed, url: string, claims: number): Promise<number> {
  const rate = async () => {
    const lot = await bed.fill(claims)
    await bed.calm()
    return (await kernelClaims(bed, lot)).perSecond
  }
  const none = await rate()
  const ids: string[] = []
  for (let n = 0; n < TEN; n++) ids.push(await add(bed, url, ['mission_*']))
  const ten = await rate()
  for (const id of ids) await on(bed, id, { kind: 'remove' })
  const after = await rate()
  return ten / ((none + after) / 2)
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[(values.length - 1) >> 1]!
const DELIVERIES = 1_000
const RATIO = 0.95

export function webhookVerdicts({ deliveriesPerSecond, nodeMicros, ratios }: WebhookFigures): string {
  const goals: Goal[] = [
    [
      `deliveries a second to a fast receiver, at least ${DELIVERIES}`,
      Math.round(deliveriesPerSecond),
      deliveriesPerSecond >= DELIVERIES,
    ],
    [
      `claims with ten webhooks on mission_* of those without, at least ${RATIO}`,
      Math.round(median(ratios) * 100) / 100,
      median(ratios) >= RATIO,
    ],
  ]
  return `${worded(goals)}\n        CPU of a delivery: ${Math.round(nodeMicros)} µs`
}
