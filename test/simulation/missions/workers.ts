import { hash } from 'node:crypto'
import { systemCaller } from '../../../src/kernel/caller.ts'
import { granted } from '../../../src/kernel/kernel.ts'
import { ChildFields } from '../../../src/kinds/mission/shapes/children.ts'
import { addChild, continueAfter } from '../../../src/kinds/task/acts/children.ts'
import { command } from '../../../src/kinds/task/acts/tasks.ts'
import type { TaskCommand } from '../../../src/kinds/task/command.ts'
import { PURPOSES, type TaskRecord } from '../../../src/kinds/task/record.ts'
import { idCarriedBy } from '../../../src/pure/ids.ts'
import { isTerminal } from '../../../src/pure/states.ts'
import { attempted } from './network.ts'
import { drawPlan, wrongPlan } from './plans.ts'
import type { MissionWorld } from './world.ts'

/** Agents that make things, judge them and plan, well and badly. */

const LEASE_MS = 20_000

interface Held {
  id: number
  uuid: string
  agent: string
  /** In the trace: slugs of contractors are drawn outside of the seed. */
  name: string
  fence: { session: string; generation: number }
}

export async function workForever(world: MissionWorld, agent: string): Promise<void> {
  const { random, scheduler } = world
  for (let session = 1; ; session++) {
    await scheduler.sleep(random.int(200, 4_000), `${agent} is free`)
    if (world.season === 'still') continue
    const held = await attempted(claim(world, agent, session))
    if (!held) continue
    if (random.chance(0.5)) await begin(world, held)
    const isLong = world.season === 'storm' && random.chance(0.1)
    await scheduler.sleep(random.int(0, isLong ? 2 * LEASE_MS : 3_000), `${agent} works`)
    await end(world, held)
  }
}

/** The next task of the queue, or one that it picked from a list. */
async function claim(world: MissionWorld, name: string, nth: number): Promise<Held | null> {
  const { random, network, workspace } = world
  const agent = whoClaims(world, name)
  const session = `${agent}/${name}/${nth}`
  const caller = { ...systemCaller(workspace), actor: `key:${agent}`, waits: undefined }
  const capabilities = world.planners.includes(agent) ? ['planning'] : []
  const open = [...world.memory.whole(workspace).tasks.values()].filter(({ state }) => !isTerminal(state))
  const [picked] = open.length > 0 && random.chance(0.3) ? [random.pick(open)] : []
  const claims = await network.call(
    `${name} claims${agent === name ? '' : ' as another'}`,
    async (kernel) => {
      const who = { agent, session, leaseMs: LEASE_MS }
      if (picked) {
        const { id: taskId, uuid } = picked
        const one = { kind: 'claim', capabilities, ...who } as const
        return [granted(await kernel.run(caller, { on: 'task', taskId, uuid, command: one })).claim]
      }
      const pick = { agent, capabilities, purposes: PURPOSES }
      const reply = granted(
        await kernel.run(caller, { on: 'next', pick, session, leaseMs: LEASE_MS, limit: 1 }),
      )
      return reply.claims.map((handed) => handed.claim)
    },
  )
  const [got] = claims
  if (!got) return null
  const { taskId: uuid, generation } = got
  return { id: idCarriedBy(uuid)!, uuid, agent, name, fence: { session, generation } }
}

/** Itself, or one that nobody here stands for: what is reserved for a contractor, no other can do. Some have ended and are refused. */
function whoClaims({ random, memory, workspace, agents }: MissionWorld, name: string): string {
  const others = [...memory.whole(workspace).agents.keys()].filter((slug) => !agents.includes(slug))
  return others.length > 0 && random.chance(0.4) ? random.pick(others) : name
}

/** It says that it has begun; most of these continue once before they end. */
async function begin(world: MissionWorld, { id, uuid, agent, name, fence }: Held): Promise<void> {
  const caller = { ...systemCaller(world.workspace), actor: `key:${agent}`, waits: undefined }
  const say = (kind: 'start' | 'continue') =>
    attempted(
      world.network.call(`${name} says ${kind} on ${id}`, (kernel) =>
        command(kernel, caller, uuid, { kind, fence }),
      ),
    )
  await say('start')
  if (world.random.chance(0.3)) await say('continue')
}

type Answer =
  | { result: unknown }
  | { fails: 'quality' | 'invalid' | 'budget' }
  | 'asks'
  | 'releases'
  | 'continues'
  | 'adds'
  | null

const OF_WORK = {
  good: 8,
  empty: 1,
  fails: 1,
  isInvalid: 0.6,
  hasSpent: 0.6,
  asks: 0.5,
  releases: 0.4,
  continues: 0.4,
  adds: 2,
  dies: 0.6,
}
const OF_VERIFICATION = {
  pass: 6,
  low: 1,
  fail: 1.5,
  unsure: 1,
  nonsense: 1,
  tooGood: 0.5,
  asks: 0.2,
  dies: 0.6,
}
const OF_REPORT = { good: 5, nothing: 1, fails: 1, dies: 0.6 }
const OF_PLANNING = { plan: 5, wrong: 2.5, asks: 0.3, dies: 0.6 }

const say = (verdict: string, score: number) => ({ result: { verdict, score, feedback: 'Looked at it.' } })

function answerTo(world: MissionWorld, { purpose }: TaskRecord): Answer {
  const { random, season, agents } = world
  const isGood = season !== 'storm'
  if (purpose === 'planning') {
    const ending = isGood ? 'plan' : random.weighted(OF_PLANNING)
    if (ending === 'plan') return { result: drawPlan(random, agents) }
    return ending === 'wrong' ? { result: wrongPlan(random, agents) } : ending === 'asks' ? 'asks' : null
  }
  if (purpose === 'verification') {
    const ending = isGood ? 'pass' : random.weighted(OF_VERIFICATION)
    const answers: Record<keyof typeof OF_VERIFICATION, Answer> = {
      pass: say('pass', 0.97),
      low: say('pass', 0.3),
      fail: say('fail', 0.2),
      unsure: say('unsure', 0.5),
      nonsense: { result: 'Looks good to me!' },
      tooGood: say('pass', 1.7),
      asks: 'asks',
      dies: null,
    }
    return answers[ending]
  }
  if (purpose === 'report') {
    const ending = isGood ? 'good' : random.weighted(OF_REPORT)
    if (ending === 'dies') return null
    return ending === 'fails' ? { fails: 'quality' } : { result: ending === 'good' ? '# It went well' : '' }
  }
  const ending = isGood ? 'good' : random.weighted(OF_WORK)
  const answers: Record<keyof typeof OF_WORK, Answer> = {
    good: { result: { made: random.int(1, 5) } },
    empty: { result: {} },
    fails: { fails: 'quality' },
    isInvalid: { fails: 'invalid' },
    hasSpent: { fails: 'budget' },
    asks: 'asks',
    releases: 'releases',
    continues: 'continues',
    adds: 'adds',
    dies: null,
  }
  return answers[ending]
}

async function end(world: MissionWorld, held: Held): Promise<void> {
  const task = world.memory.whole(world.workspace).tasks.get(held.id)!
  const answer = world.season === 'still' ? null : answerTo(world, task)
  if (answer === null) return
  if (answer === 'adds') return addAndContinue(world, held)
  const sent = commandOf(held, answer)
  // Without an answer it says it again, which makes up for a node that died; some die with the node.
  const most = world.season === 'storm' && world.random.chance(0.5) ? 1 : 3
  for (let tries = 1; tries <= most && world.season !== 'still'; tries++) {
    const { agent, name, uuid } = held
    const caller = { ...systemCaller(world.workspace), actor: `key:${agent}`, waits: undefined }
    const saying = world.network.call(`${name} says ${sent.kind} on ${held.id}`, (kernel) =>
      command(kernel, caller, uuid, sent),
    )
    if (await attempted(saying)) return
  }
}

/** Adds tasks to its mission, under names that a later attempt uses again; continues after them, or goes away. */
async function addAndContinue(world: MissionWorld, { uuid, agent, name, fence }: Held): Promise<void> {
  const { random, network, workspace } = world
  const caller = { ...systemCaller(workspace), actor: `key:${agent}`, waits: undefined }
  const ids: string[] = []
  for (let n = 1; n <= random.int(1, 3); n++) {
    const child = drawChild(`c${n}`)
    const adding = network.call(`${name} adds ${child.tempId}`, (kernel) =>
      addChild(kernel, caller, uuid, child, fence),
    )
    const added = await attempted(adding)
    if (added) ids.push(added.id)
  }
  const others = [...world.memory.whole(workspace).tasks.values()]
  if (random.chance(0.2)) ids.push(random.pick(others).uuid)
  if (random.chance(0.15)) return
  await attempted(
    network.call(`${name} continues after ${ids.length}`, (kernel) =>
      continueAfter(kernel, caller, uuid, fence, [...new Set(ids)]),
    ),
  )
}

/** The same for each name: a repetition must be one. */
const drawChild = (tempId: string) =>
  ChildFields.parse({
    ...{ tempId, title: `Child ${tempId}`, maxRetries: 1, optional: tempId !== 'c1' },
    ...(tempId === 'c2' && { verification: { kind: 'auto' } }),
  })

function commandOf({ fence }: Held, answer: Exclude<Answer, null | 'adds'>): TaskCommand {
  if (answer === 'asks') return { kind: 'ask', fence, question: 'Which colour?', options: [] }
  if (answer === 'releases') return { kind: 'release', fence, reason: 'enough' }
  if (answer === 'continues') return { kind: 'continue', fence }
  if ('fails' in answer) return { kind: 'fail', fence, failureClass: answer.fails, error: 'It did not work.' }
  return { kind: 'submit', fence, submission: submissionOf(answer.result) }
}

export function submissionOf(result: unknown) {
  const data = JSON.stringify(result)
  return { data, bytes: data.length, hash: hash('sha256', data).slice(0, 32), summary: null }
}
