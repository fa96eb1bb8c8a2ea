import type { Request } from '../../src/core/batch.ts'
import type { Reply, TaskCommand } from '../../src/core/commands.ts'
import type { TaskRecord } from '../../src/core/records.ts'
import type { TaskState } from '../../src/core/states.ts'
import { Unanswered } from './network.ts'
import { WORKSPACE } from './store.ts'
import type { TaskRef, World } from './world.ts'

/** A person at the board, and the program that puts the tasks there. */
export async function operate(world: World): Promise<void> {
  await createTasks(world)
  const { random, scheduler } = world
  while (!world.calm) {
    await scheduler.sleep(random.int(0, 2 * world.plan.operatorMs), 'operator looks')
    if (!world.calm) await actOnce(world)
  }
}

async function createTasks(world: World): Promise<void> {
  const { random, plan, tasks } = world
  for (const [i, { waitsFor, ...task }] of plan.tasks.entries()) {
    const upstream = waitsFor.map((place) => tasks[place]!)
    const create = (dependsOn: readonly TaskRef[]): Request => ({
      on: 'new',
      actor: 'key:ops',
      tasks: [
        {
          ...task,
          dependsOn: dependsOn.map(({ id }) => id),
          details: {
            title: `task ${i + 1}`,
            taskType: 'coding',
            description: null,
            input: null,
            tags: [],
            dependsOn: dependsOn.map(({ uuid }) => uuid),
          },
        },
      ],
    })
    if (random.chance(0.02)) await insist(world, create([{ id: 9_999, uuid: 'nobody' }]))
    const reply = await insist(world, keyed(create(upstream), `create-${i}`))
    const [record] = (reply as unknown as { records: TaskRecord[] }).records
    tasks.push({ id: record!.id, uuid: record!.uuid })
  }
}

const keyed = (request: Request, key: string): Request => ({
  ...request,
  idempotency: { key, bodyHash: JSON.stringify(request) },
})

async function insist(world: World, request: Request, seen: TaskRecord | null = null): Promise<Reply> {
  const { scheduler, network, random } = world
  for (;;) {
    try {
      return await network.call({ name: 'operator', clock: () => scheduler.now }, request, seen)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      await scheduler.sleep(random.int(50, 1_000), 'operator tries again')
    }
  }
}

async function actOnce(world: World): Promise<void> {
  const { random, store, tasks, trace } = world
  const task = random.pick(tasks)
  const seen = await store.task(WORKSPACE, task.id)
  if (!seen) return
  const { record } = seen
  // What goes well is mostly left alone, or the agents would hardly come to work.
  if (!NEEDS_A_PERSON.includes(record.state) && random.chance(0.7)) return
  const looked = random.chance(0.75)
  const command = looked ? sensible(world, record) : anything(world, record)
  const uuid = random.chance(0.01) ? 'no such task' : task.uuid
  const plain: Request = { on: 'task', actor: 'key:ops', taskId: task.id, uuid, command }
  const request = random.chance(0.3) ? keyed(plain, `act-${trace.lines}`) : plain
  await insist(world, request, looked ? record : null)
}

const NEEDS_A_PERSON: readonly TaskState[] = [
  'awaiting_human',
  'paused',
  'budget_exceeded',
  'completed',
  'failed',
  'cancelled',
  'skipped',
]
const reason = 'because'

/** What somebody who looks at the task would do. */
function sensible(world: World, record: TaskRecord): TaskCommand {
  const { random } = world
  const { generation } = record
  switch (record.state) {
    case 'awaiting_human':
      return random.pick<TaskCommand>([
        { kind: 'approve', comment: null, generation },
        { kind: 'approve', comment: null, generation },
        { kind: 'reject', comment: 'not yet', generation },
        { kind: 'retry', reason },
      ])
    case 'paused':
    case 'budget_exceeded':
      return { kind: 'resume' }
    case 'failed':
      return random.pick<TaskCommand>([
        { kind: 'retry', reason },
        { kind: 'reset', reason },
        { kind: 'archive' },
      ])
    case 'completed':
    case 'cancelled':
    case 'skipped':
      return random.pick<TaskCommand>([
        { kind: 'reset', reason },
        { kind: 'reset', reason },
        { kind: 'archive' },
      ])
    default:
      return random.pick<TaskCommand>([
        { kind: 'pause', reason },
        { kind: 'pause', reason },
        { kind: 'cancel', reason },
        change(world, record),
        change(world, record),
      ])
  }
}

function change({ random, agents }: World, record: TaskRecord): TaskCommand {
  // Never kept for somebody who cannot do it: that task would rightly wait for ever.
  const able = agents
    .filter(({ plan }) => (record.capabilities ?? []).every((need) => plan.capabilities.includes(need)))
    .map(({ name }) => name)
  const patch = random.pick([
    { priority: random.int(1, 10) },
    { onlyAgent: random.pick([null, ...able]) },
    { maxRetries: random.int(0, 3) },
  ])
  const ifVersion = random.chance(0.5) ? record.version - random.int(0, 1) : null
  return { kind: 'update', ifVersion, patch }
}

function anything({ random }: World, { generation }: TaskRecord): TaskCommand {
  return random.pick<TaskCommand>([
    { kind: 'pause', reason },
    { kind: 'resume' },
    { kind: 'cancel', reason },
    { kind: 'retry', reason },
    { kind: 'reset', reason },
    { kind: 'approve', comment: null, generation },
    { kind: 'reject', comment: null, generation },
    { kind: 'archive' },
    { kind: 'verdict', verdict: 'passed', note: null, generation },
  ])
}
