import { systemCaller } from '../../../src/kernel/caller.ts'
import { granted } from '../../../src/kernel/kernel.ts'
import { commandAgent } from '../../../src/kinds/agent/acts/agents.ts'
import { requestWakeups } from '../../../src/kinds/run/rules/request-wakeups.ts'
import { requestCancel } from '../../../src/kinds/run/rules/run-life.ts'
import { resetSessions } from '../../../src/kinds/run/rules/runtime-state.ts'
import { isLive } from '../../../src/kinds/run/states.ts'
import { command } from '../../../src/kinds/task/acts/tasks.ts'
import { Refused } from '../../../src/pure/errors.ts'
import { wakeupRequest } from '../../support/run-steps.ts'
import { newTask } from '../../support/tasks.ts'
import type { RunWorld } from './world.ts'

/** People and programs outside: they create tasks, wake agents and interfere, until the world calms down. */

export async function createTasks(world: RunWorld): Promise<void> {
  const { outside, random, scheduler, workspace, stormMs } = world
  const count = random.int(2, 12)
  for (let i = 0; i < count; i++) {
    await scheduler.sleep(random.int(0, (stormMs / count) | 0), 'a task comes')
    const onlyAgent = random.chance(0.2) ? random.pick(world.slugs) : null
    const task = newTask({ maxRetries: 20, maxContinuations: 50, onlyAgent })
    const reply = granted(await outside.run(systemCaller(workspace), { on: 'new', tasks: [task] }))
    world.tasks.push(...reply.records.map(({ id, uuid }) => ({ id, uuid })))
  }
}

const ACTS = { wake: 4, cancelRun: 2, pause: 1, resume: 2, cancelTask: 0.5, reset: 0.5, clear: 2, kill: 0.5 }

export async function interfere(world: RunWorld): Promise<void> {
  const { random, scheduler } = world
  for (;;) {
    await scheduler.sleep(random.int(200, 8_000), 'somebody acts')
    if (world.calm) return
    await act(world, random.weighted(ACTS)).catch((error) => {
      // Too late, or against the state that it has by now.
      if (!(error instanceof Refused)) throw error
    })
  }
}

async function act(world: RunWorld, kind: keyof typeof ACTS): Promise<unknown> {
  const { outside, random, workspace, memory } = world
  const { store } = outside
  const caller = systemCaller(workspace)
  const agent = random.pick(world.slugs)
  const task = world.tasks.length > 0 ? random.pick(world.tasks) : null
  switch (kind) {
    case 'wake': {
      const about = random.chance(0.5) ? task : null
      const source = random.pick(['on_demand', 'automation'] as const)
      const key = random.chance(0.3) ? `key ${random.int(1, 5)}` : null
      const asked = wakeupRequest({ source, task: about, idempotencyKey: key, actor: 'person' })
      const requests = [{ agent, asked }]
      const wakeups = await store.transact(workspace, requestWakeups(requests))
      world.note(`woken: ${wakeups[0]?.status} ${wakeups[0]?.skipReason ?? ''}`)
      return outside.woken.fire()
    }
    case 'cancelRun': {
      const live = [...memory.whole(workspace).runs.values()].filter(({ status }) => isLive(status))
      const [run] = live.length > 0 ? [random.pick(live)] : []
      return run && store.transact(workspace, requestCancel(run.id, { reason: 'enough', actor: 'person' }))
    }
    case 'pause':
      return commandAgent(outside, caller, agent, {
        kind: 'pause',
        graceful: random.chance(0.5),
        reason: 'lunch',
      })
    case 'resume':
      return commandAgent(outside, caller, agent, { kind: 'resume' })
    case 'clear':
      return commandAgent(outside, caller, agent, { kind: 'clearFault' })
    case 'cancelTask':
      return task && command(outside, caller, task.uuid, { kind: 'cancel', reason: 'not needed' })
    case 'reset':
      return store.transact(workspace, resetSessions(agent, null, 'person'))
    case 'kill':
      return world.alive.length > 0 && random.pick(world.alive).kill()
  }
}

/** When the world is calm, every agent may work again, and gets work: also one whose last run of the storm ends late. */
export async function repair(world: RunWorld): Promise<void> {
  for (;;) {
    await repairAll(world)
    await world.scheduler.sleep(20_000, 'somebody repairs')
  }
}

async function repairAll(world: RunWorld): Promise<void> {
  const takesWork = { kind: 'register', profile: { coordinatorEnabled: true }, ifVersion: null } as const
  for (const agent of world.slugs)
    for (const act of [{ kind: 'resume' }, { kind: 'clearFault' }, takesWork] as const)
      await commandAgent(world.outside, systemCaller(world.workspace), agent, act).catch((error) => {
        if (!(error instanceof Refused)) throw error
      })
}
