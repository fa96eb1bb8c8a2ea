import type { Request } from '../../src/kernel/batch/requests.ts'
import type { AgentCommand, Heartbeat } from '../../src/kinds/agent/rules/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { Reply } from '../support/replies.ts'
import type { Holding, Life } from './client.ts'
import type { Grant } from './describe.ts'
import { renew, work } from './holder.ts'
import type { AgentPlan } from './plan-agents.ts'
import type { Settled } from './session.ts'

/** What a registered agent does beside its work: it heartbeats, and learns what it holds and was assigned. */

const tell = (life: Life, command: AgentCommand) => life.insist(about(life, command))

function about({ agent: { name }, world }: Life, command: AgentCommand): Request {
  return { on: 'agent', actor: `agent:${name}`, key: name, uuid: world.uuid(), command }
}

export async function beginAsAgent(life: Life): Promise<void> {
  const { world, agent } = life
  if (!agent.plan.registers || !world.store.hasAgents) return
  // After a restart it may count on being known.
  if (life.isFirst || world.random.chance(0.4)) await register(life)
  life.begin(heartbeatForever(life))
}

async function register(life: Life): Promise<void> {
  const { registers, capabilities } = life.agent.plan
  const profile = { ...registers, capabilities }
  await tell(life, { kind: 'register', profile, ifVersion: null })
}

/** It was refused work. When all is calm a person fixes that; else it keeps trying, or a person does. */
export async function isNotWanted(life: Life, code: string): Promise<void> {
  const { calm, random } = life.world
  if (!calm && !random.chance(0.3)) return
  if (code === 'AGENT_PAUSED') await tell(life, { kind: 'resume' })
  else await register(life)
}

async function heartbeatForever(life: Life): Promise<void> {
  const { world, agent } = life
  const { random } = world
  const { heartbeatMs, staleMs } = agent.plan.registers!
  let strange = new Set<string>()
  for (;;) {
    await life.rest(heartbeatMs * (0.7 + random.next() * 0.6))
    if (!agent.plan.heartbeats && !world.calm) continue
    if (!world.calm && random.chance(0.04)) await life.rest(random.int(staleMs, 2 * staleMs))
    const said = tell(life, { kind: 'heartbeat', heartbeat: heartbeatOf(life) })
    if (isHasty(agent.plan) && !world.calm) for (let i = 0; i < 6; i++) life.begin(claimMore(life))
    const answer = await said
    if (!answer) continue
    const { reply, askedAt } = answer
    if (reply.ok) strange = handleReply(life, reply, askedAt, strange)
    else if (reply.code === 'AGENT_TERMINATED' || reply.code === 'NOT_FOUND') {
      for (const holding of life.holdings) holding.over = true
      await isNotWanted(life, String(reply.code))
    }
  }
}

/** Claims beside its heartbeats. Not drawn: a draw would change every run. */
const isHasty = ({ clockOffsetMs }: AgentPlan) => clockOffsetMs % 2 === 0

async function claimMore(life: Life): Promise<void> {
  for (const holding of await life.claim()) life.begin(work(life, holding))
}

function heartbeatOf({ agent, session, world: { random } }: Life): Heartbeat {
  return {
    sentAt: random.chance(0.5) ? agent.clock() : null,
    status: random.chance(0.1) ? 'degraded' : 'healthy',
    session: agent.plan.namesSession ? session : null,
    currentTask: null,
    progressPercent: null,
    step: null,
    memoryMb: null,
    cpuPercent: null,
    metadata: null,
  }
}

const isThis = ({ task, generation }: Holding, taskId: string, of: number) =>
  task.uuid === taskId && generation === of

/** Returns what it holds without knowing why; what is unknown twice, it resolves. */
function handleReply(life: Life, reply: Reply, askedAt: number, strange: ReadonlySet<string>): Set<string> {
  const known = (taskId: string, generation: number) =>
    life.holdings.find((holding) => isThis(holding, taskId, generation))
  for (const { taskId, generation, reply: renewed } of reply.settled as Settled[]) {
    const holding = known(taskId, generation)
    if (holding && renewed.ok) life.believes(holding, renewed.ttlMs as number, askedAt)
    else if (holding) holding.over = true
  }
  const unknown = new Set<string>()
  for (const record of reply.holding as TaskRecord[]) {
    if (known(record.uuid, record.generation)) continue
    const name = `${record.uuid} ${record.generation}`
    const byCoordinator = record.holder?.isOffered && record.state === 'assigned'
    if (byCoordinator && !strange.has(name)) life.begin(resume(life, record))
    else if (strange.has(name)) life.begin(seeTo(life, record))
    unknown.add(name)
  }
  return unknown
}

/** It was assigned this. */
async function resume(life: Life, record: TaskRecord): Promise<void> {
  const how = life.world.calm ? 'begins' : life.agent.plan.whenAssigned
  if (how === 'begins') await adopt(life, record)
  if (how === 'claims them itself') await claimItself(life, record)
}

/** From before its restart, or from a claim whose answer was lost. */
async function seeTo(life: Life, record: TaskRecord): Promise<void> {
  const { calm, random } = life.world
  if (calm || random.chance(0.3)) return adopt(life, record)
  if (!random.chance(0.3)) return
  const fence = { session: record.session!, generation: record.generation }
  const command = { kind: 'release', fence, reason: 'unknown' } as const
  const actor = `agent:${life.agent.name}`
  await life.insist({ on: 'task', actor, taskId: record.id, uuid: record.uuid, command })
}

async function adopt(life: Life, { id, uuid, generation, session }: TaskRecord): Promise<void> {
  const holding: Holding = {
    task: { id, uuid },
    generation,
    session: session!,
    believesUntil: 0,
    over: false,
  }
  life.holdings.push(holding)
  // How long its lease lasts, it must ask.
  await renew(life, holding)
  await work(life, holding)
}

async function claimItself(life: Life, { id, uuid }: TaskRecord): Promise<void> {
  const { name, leaseMs, capabilities } = life.agent.plan
  const { session } = life
  const command = { kind: 'claim', agent: name, session, leaseMs, capabilities } as const
  const answer = await life.insist({ on: 'task', actor: `agent:${name}`, taskId: id, uuid, command })
  if (!answer?.reply.ok) return
  await work(life, life.took(answer.reply.claim as Grant, id, answer.askedAt))
}
