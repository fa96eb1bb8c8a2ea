import type { Request } from '../../src/kernel/batch/requests.ts'
import type { SessionCommand } from '../../src/kinds/task/command.ts'
import { renewAfterMs } from '../../src/kinds/task/rules/retry.ts'
import { idCarriedBy } from '../../src/pure/ids.ts'
import type { Reply } from '../support/replies.ts'
import type { Life } from './client.ts'
import { forget } from './holder.ts'

/** What happened to one of the tasks a session holds. */
export interface Settled {
  readonly taskId: string
  readonly generation: number
  readonly reply: Reply
}

function about(life: Life, command: SessionCommand): Request {
  const { agent, session, world } = life
  return { on: 'session', actor: `agent:${agent.name}`, key: session, uuid: world.uuid(), command }
}

const tell = (life: Life, command: SessionCommand) => life.insist(about(life, command))

const opening = ({ agent }: Life, capacity: number | null): SessionCommand => ({
  kind: 'open',
  opening: {
    agent: agent.name,
    userId: null,
    project: null,
    capacity,
    capabilities: agent.plan.capabilities,
    silenceMs: agent.plan.silenceMs,
  },
})

export async function beginSession(life: Life): Promise<void> {
  const { session: how, name } = life.agent.plan
  if (how === 'mentioned') await tell(life, { kind: 'touch', agent: name })
  if (how === 'opened') await tell(life, opening(life, null))
  if (how !== 'worker') return
  await register(life)
}

/** With no answer, or when the workspace has all the sessions it may have, it continues without a session. */
async function register(life: Life): Promise<void> {
  const answer = await tell(life, opening(life, life.agent.plan.capacity))
  if (!answer) return
  const { ok } = answer.reply
  if (ok && !life.heartbeating) life.begin(heartbeatForever(life))
  life.heartbeating ||= ok
  life.registered = ok
}

/** The server sees it as a worker that gets no work. If it cannot register again, it starts again under another name. */
export async function comeBack(life: Life): Promise<void> {
  await register(life)
  if (!life.registered) await leave(life)
}

async function leave(life: Life): Promise<void> {
  life.agent.stop(life, life.world.random.int(100, 10_000))
  // Where it finds out that it is over.
  await life.rest(0)
}

/** Keeps the worker and all it holds alive. One that does not heartbeat during faults goes silent. */
async function heartbeatForever(life: Life): Promise<void> {
  const { world, agent } = life
  const { leaseMs, silenceMs, heartbeats } = agent.plan
  let strange = new Set<string>()
  for (;;) {
    const soonest = life.holdings.length > 0 ? Math.min(leaseMs, silenceMs) : silenceMs
    await life.rest(renewAfterMs(soonest, world.random.next()))
    if (!heartbeats && !world.calm) continue
    const answer = await tell(life, { kind: 'heartbeat' })
    if (!answer) continue
    if (answer.reply.ok) strange = handleReply(life, answer.reply, answer.askedAt, strange)
    else {
      for (const holding of life.holdings) holding.over = true
      await comeBack(life)
    }
  }
}

/** Returns what it holds without knowing of it; what is unknown twice, it releases. */
function handleReply(life: Life, reply: Reply, askedAt: number, strange: ReadonlySet<string>): Set<string> {
  const unknown = new Set<string>()
  for (const { taskId, generation, reply: renewed } of reply.settled as Settled[]) {
    const holding = life.holdings.find((one) => one.task.uuid === taskId && one.generation === generation)
    const name = `${taskId} ${generation}`
    if (holding && renewed.ok) life.believes(holding, renewed.ttlMs as number, askedAt)
    else if (holding) holding.over = true
    else if (renewed.ok && strange.has(name)) life.begin(releaseUnknown(life, taskId, generation))
    else if (renewed.ok) unknown.add(name)
  }
  for (const { taskId, generation } of reply.lost as Settled[]) {
    const holding = life.holdings.find((one) => one.task.uuid === taskId && one.generation === generation)
    if (holding) holding.over = true
  }
  return unknown
}

async function releaseUnknown(life: Life, uuid: string, generation: number): Promise<void> {
  const { session, agent } = life
  const command = { kind: 'release', fence: { session, generation }, reason: 'unknown' } as const
  await life.insist({ on: 'task', actor: `agent:${agent.name}`, taskId: idCarriedBy(uuid)!, uuid, command })
}

/** From time to time a client ends its session, a worker after a drain; sometimes it does not stop in time. */
export async function mayLeave(life: Life): Promise<void> {
  const { world, agent } = life
  if (world.calm || agent.plan.session === 'unheard of' || !world.random.chance(0.05)) return
  if (life.registered) {
    await tell(life, { kind: 'drain' })
    if (world.random.chance(0.5)) for (const holding of await life.claim()) forget(life, holding)
  }
  await tell(life, { kind: 'end', reason: 'enough for today' })
  if (!world.random.chance(0.3)) await leave(life)
}
