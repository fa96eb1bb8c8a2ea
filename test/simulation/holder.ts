import type { Request } from '../../src/kernel/batch/requests.ts'
import type { Fence, TaskCommand } from '../../src/kinds/task/command.ts'
import { FAILURE_CLASSES, renewAfterMs } from '../../src/kinds/task/rules/retry.ts'
import type { Reply } from '../support/replies.ts'
import type { Holding, Life } from './client.ts'
import { Unanswered } from './network.ts'
import { hashOf } from './trace.ts'

/** Answers after which a sensible holder stops: the claim is not, or no longer, its own. */
const LOST = [
  'GENERATION_MISMATCH',
  'STALE_GENERATION',
  'FUTURE_GENERATION',
  'SESSION_MISMATCH',
  'NO_CLAIM',
  'ALREADY_EXPIRED',
  'TASK_ALREADY_COMPLETED',
]

const WORKS = { renew: 2, start: 2, progress: 3, continue: 2 }
/** Those that lead where nothing else does come up twice as often. */
const FAILURES = [...FAILURE_CLASSES, 'dependency', 'budget'] as const
const TALKS = ['continue', 'start'] as const

/** What a holder does with a claim: some steps of work, then an end of one kind or another. */
export async function work(life: Life, holding: Holding): Promise<void> {
  const { world, agent } = life
  const { random } = world
  const { talkative, zombie } = agent.plan
  // The heartbeats of a worker or an agent are enough; still some do both.
  const heartbeatsAnyway = life.registered || (agent.plan.registers !== null && world.store.hasAgents)
  if (agent.plan.heartbeats && (!heartbeatsAnyway || random.chance(0.2))) life.begin(heartbeat(life, holding))
  const fairness = talkative ? random.int(5, 40) : random.int(0, 4)
  for (let turn = 0; turn < fairness && !world.calm; turn++) {
    await life.rest(workMs(life))
    const lost = holding.over || world.scheduler.now >= holding.believesUntil
    if (lost && !zombie) return forget(life, holding)
    const kind = talkative ? TALKS[turn % 2]! : random.weighted(WORKS)
    const reply = await TURNS[kind](life, holding)
    if (isLost(reply) && !(zombie && random.chance(0.5))) return forget(life, holding)
  }
  const end = world.calm ? 'submit' : random.weighted({ submit: 8, fail: 4, release: 1.5, forget: 0.5 })
  await ENDS[end](life, holding)
  // A process that does not know its work is over.
  if (zombie && !world.calm && random.chance(0.4)) {
    await life.rest(random.int(0, 20_000))
    await ENDS[random.pick(['submit', 'submit', 'fail', 'renew'] as const)](life, holding)
  }
  forget(life, holding)
}

/** Keeps the lease alive beside the work, as the SDK does. */
async function heartbeat(life: Life, holding: Holding): Promise<void> {
  const { agent, world } = life
  for (;;) {
    await life.rest(renewAfterMs(agent.plan.leaseMs, world.random.next()))
    if (holding.over) return
    const reply = await renew(life, holding)
    if (isLost(reply)) holding.over = true
  }
}

const isLost = (reply: Reply | null) => reply !== null && !reply.ok && LOST.includes(reply.code as string)

export function forget(life: Life, holding: Holding): void {
  holding.over = true
  const i = life.holdings.indexOf(holding)
  if (i !== -1) life.holdings.splice(i, 1)
}

function workMs({ agent, world: { random } }: Life): number {
  // Sometimes longer than the lease: then another agent may have the task when it comes back.
  const { leaseMs, talkative } = agent.plan
  if (talkative) return random.int(0, 1_000)
  return random.chance(0.1) ? random.int(leaseMs, 2 * leaseMs) : random.int(0, leaseMs * 0.5)
}

type Deed = (life: Life, holding: Holding) => Promise<Reply | null>

export async function renew(life: Life, holding: Holding): Promise<Reply | null> {
  const { random } = life.world
  const leaseMs = random.chance(0.2) ? random.pick([5_000, 15_000, 60_000]) : undefined
  const answer = await tell(life, holding, { kind: 'renew', fence: fence(life, holding), leaseMs })
  if (!answer) return null
  const { reply, askedAt } = answer
  if (reply.ok) life.believes(holding, reply.ttlMs as number, askedAt)
  return reply
}

const TURNS = {
  renew,
  start: (life, holding) => say(life, holding, { kind: 'start', fence: fence(life, holding) }),
  progress: (life, holding) =>
    say(life, holding, {
      kind: 'progress',
      fence: fence(life, holding),
      percent: life.world.random.int(0, 100),
      doneBy: newEstimate(life),
    }),
  continue: (life, holding) => say(life, holding, { kind: 'continue', fence: fence(life, holding) }),
} satisfies Record<string, Deed>

/** Sometimes, and not always a sensible one. */
function newEstimate({ world: { random, scheduler } }: Life): number | undefined {
  return random.chance(0.4) ? scheduler.now + random.int(-500, 20_000) : undefined
}

const ENDS = {
  submit,
  renew,
  async fail(life, holding) {
    const { random, scheduler } = life.world
    const failureClass = random.pick(FAILURES)
    const retryAt = random.chance(0.3) ? scheduler.now + random.int(-5_000, 40_000) : undefined
    return say(life, holding, {
      kind: 'fail',
      fence: fence(life, holding),
      failureClass,
      error: 'no luck',
      retryAt,
    })
  },
  release: (life, holding) =>
    say(life, holding, { kind: 'release', fence: fence(life, holding), reason: 'something better to do' }),
  /** It stops without a release. */
  forget: async () => null,
} satisfies Record<string, Deed>

/** Submits the same work until it is answered; sometimes it redid the work in between, with another outcome. */
async function submit(life: Life, holding: Holding): Promise<Reply | null> {
  const { random } = life.world
  const isLong = random.chance(0.15)
  let draft = random.chance(0.7) ? 1 : 2
  const request = () => {
    const { task, generation } = holding
    const text = `${life.world.nameOf(task.id)} ${generation} ${holding.session} ${draft}`
    const submission = productOf(text, isLong)
    return about(life, holding, { kind: 'submit', fence: fence(life, holding), submission })
  }
  let offer = random.chance(0.3) ? life.keyed(request()) : request()
  for (;;) {
    try {
      return await life.ask(offer)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      if (!life.world.calm && random.chance(0.15)) return null
      await life.rest(random.int(100, 2_000))
      if (random.chance(0.15)) {
        draft += 1
        offer = request()
      }
    }
  }
}

function productOf(text: string, isLong: boolean) {
  const data = JSON.stringify(isLong ? text.padEnd(600, '.') : text)
  return { data, bytes: data.length, hash: hashOf(data), summary: null }
}

function fence(life: Life, holding: Holding): Fence {
  const { agent, world } = life
  const { generation, session } = holding
  if (!agent.plan.confused || world.calm || world.random.chance(0.7)) return { session, generation }
  return world.random.pick([
    { session, generation: generation + 1 },
    { session, generation: Math.max(1, generation - 1) },
    { session: 'another session', generation },
  ])
}

const about = (life: Life, holding: Holding, command: TaskCommand): Request => ({
  on: 'task',
  actor: `agent:${life.agent.name}`,
  taskId: holding.task.id,
  uuid: holding.task.uuid,
  command,
})

const tell = (life: Life, holding: Holding, command: TaskCommand) =>
  life.insist(about(life, holding, command))
const say = async (life: Life, holding: Holding, command: TaskCommand) =>
  (await tell(life, holding, command))?.reply ?? null
