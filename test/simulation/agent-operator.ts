import type { AgentRecord } from '../../src/kinds/agent/record.ts'
import type { AgentCommand } from '../../src/kinds/agent/rules/command.ts'
import { insist } from './operator.ts'
import type { World } from './world.ts'

const reason = 'because'

/** Another person than the operator of the tasks. */
export async function operateAgents(world: World): Promise<void> {
  const { random, scheduler, store, plan } = world
  while (!world.calm && store.hasAgents) {
    await scheduler.sleep(random.int(0, 6 * plan.operatorMs), 'agent operator')
    if (!world.calm) await actOnSomeAgent(world)
  }
}

/** What a person does to an agent, known or not. */
async function actOnSomeAgent(world: World): Promise<void> {
  const { random, store, agents } = world
  const slug = random.pick(agents).name
  const view = (await store.agents()).find(({ record }) => record.slug === slug)
  const seen = view?.record ?? null
  // An unknown one is mostly left alone: it would be one that never heartbeats.
  if (!seen && random.chance(0.8)) return
  const isBusy = view !== undefined && view.holding.length > 0
  const command = random.chance(0.7) ? sensible(world, seen, isBusy) : anything(world, seen)
  await insist(world, { on: 'agent', actor: 'key:ops', key: slug, uuid: world.uuid(), command })
}

function sensible(world: World, agent: AgentRecord | null, isBusy: boolean): AgentCommand {
  const { random } = world
  if (isBusy && random.chance(0.4)) return { kind: 'terminate', graceful: true, reason }
  if (agent?.state === 'paused' && random.chance(0.7)) return { kind: 'resume' }
  if (agent?.state === 'terminated' && random.chance(0.5)) return { kind: 'remove' }
  return random.pick<AgentCommand>([
    { kind: 'pause', graceful: random.chance(0.5), reason },
    { kind: 'terminate', graceful: random.chance(0.5), reason },
    change(world, agent),
    change(world, agent),
  ])
}

function change({ random }: World, agent: AgentRecord | null): AgentCommand {
  const profile = random.pick([
    { maxConcurrentTasks: random.pick([1, 2, null]) },
    { staleMs: random.pick([5_000, 10_000, 60_000]) },
    { coordinatorEnabled: random.chance(0.5) },
  ])
  const ifVersion = random.chance(0.5) ? (agent?.version ?? 0) - random.int(0, 1) : null
  return { kind: 'register', profile, ifVersion }
}

const anything = (world: World, agent: AgentRecord | null): AgentCommand =>
  world.random.pick<AgentCommand>([
    { kind: 'pause', graceful: world.random.chance(0.5), reason },
    { kind: 'resume' },
    { kind: 'terminate', graceful: world.random.chance(0.5), reason },
    { kind: 'remove' },
    { kind: 'elapse' },
    { kind: 'fault', reason },
    { kind: 'clearFault' },
    change(world, agent),
  ])
