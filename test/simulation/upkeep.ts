import type { TaskCommand } from '../../src/core/commands.ts'
import { readinessOf } from '../../src/core/rules/create.ts'
import type { TaskState } from '../../src/core/states.ts'
import type { StoredTask } from '../../src/store/store.ts'
import { WORKSPACE } from './store.ts'
import type { World } from './world.ts'

/** What time does, asked from outside: it reads without a lock, so what it asks for may be out of date on arrival. */
export async function sweepForever(world: World): Promise<void> {
  const { random, scheduler } = world
  for (;;) {
    await scheduler.sleep(random.int(500, 6_000), 'upkeep looks')
    await sweep(world)
  }
}

async function sweep(world: World): Promise<void> {
  const { random, store, tasks, scheduler } = world
  const { now } = scheduler
  const seen = await Promise.all(tasks.map(({ id }) => store.task(WORKSPACE, id)))
  const states = new Map(seen.map((task) => [task?.record.id, task?.record.state]))
  seen.forEach((task, place) => {
    if (!task) return
    const { record } = task
    // Sometimes asked a little early: by the time it is judged the lease may be over, or renewed.
    const early = random.chance(0.3) ? 5_000 : 0
    const leaseOver = record.claimState === 'active' && record.leaseExpiresAt! <= now + early
    if (leaseOver || (record.dueAt !== null && record.dueAt <= now) || random.chance(0.03))
      ask(world, task, { kind: 'elapse' })
    if (record.state === 'verifying' && random.chance(0.25))
      ask(world, task, verdict(world, record.generation), random.int(0, 30_000))
    if (record.blocked) {
      const command = unblock(world, place, states)
      if (command.readiness !== 'wait' || random.chance(0.05)) ask(world, task, command)
    }
  })
}

function unblock(
  world: World,
  place: number,
  states: ReadonlyMap<number | undefined, TaskState | undefined>,
): Extract<TaskCommand, { kind: 'unblock' }> {
  const { waitsFor, triggerRule } = world.plan.tasks[place]!
  const upstream = waitsFor.map((other) => states.get(world.tasks[other]!.id)!)
  return { kind: 'unblock', readiness: readinessOf(triggerRule, upstream), because: 'an upstream task ended' }
}

const verdict = ({ random }: World, generation: number): TaskCommand => ({
  kind: 'verdict',
  verdict: random.weighted({ passed: 3, failed: 3, unsure: 1 }),
  note: null,
  generation,
})

/** Nobody waits for the answer: what was not done is seen again at the next look. A long list takes a while. */
function ask(world: World, { record }: StoredTask, command: TaskCommand, thinksMs = 0): void {
  const { network, scheduler, random } = world
  const { id: taskId, uuid } = record
  const sender = { name: 'upkeep', clock: () => scheduler.now }
  const delayMs = thinksMs + (random.chance(0.3) ? random.int(0, 4_000) : 0)
  scheduler.after(delayMs, `upkeep comes to t${taskId}`, () => {
    network
      .call(sender, { on: 'task', actor: 'system', taskId, uuid, command }, record)
      .catch(() => undefined)
  })
}
