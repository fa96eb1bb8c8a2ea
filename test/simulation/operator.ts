import type { Request } from '../../src/kernel/batch/requests.ts'
import type { TaskCommand } from '../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { isHeld, type TaskState } from '../../src/pure/states.ts'
import type { Reply } from '../support/replies.ts'
import { addSomeDependency } from './add-dependencies.ts'
import { addCreated, createTasks, division } from './creator.ts'
import { actAtTheLastMoment } from './last-moment.ts'
import { Unanswered } from './network.ts'
import { hashOf } from './trace.ts'
import type { TaskRef, World } from './world.ts'

/** A person at the board. */
export async function operate(world: World): Promise<void> {
  await createTasks(world)
  const { random, scheduler } = world
  while (!world.calm) {
    await scheduler.sleep(random.int(0, 2 * world.plan.operatorMs), 'operator')
    if (!world.calm) await actOnce(world)
  }
}

export const keyed = (request: Request, key: string): Request => ({
  ...request,
  idempotency: { key, bodyHash: hashOf(JSON.stringify(request)) },
})

export async function insist(world: World, request: Request, seen: TaskRecord | null = null): Promise<Reply> {
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
  const { random, store, tasks } = world
  if (random.chance(0.04)) return endSomeSession(world)
  if (random.chance(0.3) && (await actAtTheLastMoment(world))) return
  if (random.chance(0.1) && (await addSomeDependency(world))) return
  const task = random.pick(tasks)
  const seen = await store.task(task.id)
  if (!seen) return
  const { record } = seen
  // Work without problems is mostly left alone, or the agents would hardly work.
  if (!NEEDS_A_PERSON.includes(record.state) && random.chance(0.7)) return
  if (random.chance(SELDOM.includes(record.state) ? 0.7 : 0.25) && (await promoteSomething(world, task)))
    return
  if (random.chance(record.generation > 0 ? 0.4 : 0.15) && mayBeDivided(record))
    return divide(world, record, task.uuid)
  const checked = random.chance(0.75)
  await say(world, task, checked ? sensible(world, record) : anything(world, record), checked ? record : null)
}

async function say(world: World, { id, uuid }: TaskRef, command: TaskCommand, seen: TaskRecord | null) {
  const { random, trace } = world
  const named = random.chance(0.01) ? '01900000-0000-7000-8000-000000000001' : uuid
  const plain: Request = { on: 'task', actor: 'key:ops', taskId: id, uuid: named, command }
  await insist(world, random.chance(0.3) ? keyed(plain, `act-${trace.lines}`) : plain, seen)
}

async function endSomeSession(world: World): Promise<void> {
  const sessions = await world.store.sessions()
  if (sessions.length === 0) return
  const { name } = world.random.pick(sessions)
  const command = { kind: 'end', reason: 'an operator decided so' } as const
  await insist(world, { on: 'session', actor: 'key:ops', key: name, uuid: world.uuid(), command })
}

/** Promotes rejected work, if there is some; false when there is none. */
async function promoteSomething(world: World, task: TaskRef): Promise<boolean> {
  const rejected = (await world.store.results(task.id)).filter(({ accepted }) => accepted === false)
  if (rejected.length === 0) return false
  const { generation, session, hash, ref } = world.random.pick(rejected)
  await say(world, task, { kind: 'promote', generation, session, hash, ref, reason }, null)
  return true
}

/** Once: a task with parts, or a part, is not divided again. */
const mayBeDivided = ({ merge, parentId }: TaskRecord) => merge === 'none' && parentId === null

async function divide(world: World, record: TaskRecord, uuid: string): Promise<void> {
  const reply = await insist(world, division(world, record, uuid))
  if (reply.ok) addCreated(world, reply)
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
/** In these, rejected work is rare; where there is some, it should be tried. */
const SELDOM: readonly TaskState[] = ['pending', 'continuing', 'verifying', 'budget_exceeded', 'skipped']
const reason = 'because'

/** What a person who sees the task would do. */
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
      return { kind: 'resume' }
    case 'budget_exceeded':
      return random.pick<TaskCommand>([{ kind: 'resume' }, { kind: 'cancel', reason }])
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
        ...(isHeld(record.state) ? [stall(world), stall(world)] : []),
        change(world, record),
        change(world, record),
      ])
  }
}

const stall = ({ random }: World): TaskCommand => ({
  kind: 'stall',
  silentMs: random.pick([2_000, 5_000, 20_000]),
})

function change({ random, agents }: World, record: TaskRecord): TaskCommand {
  // Never reserved for an agent that cannot do it: that task would rightly wait forever.
  const able = agents
    .filter(({ plan }) => record.capabilities.every((need) => plan.capabilities.includes(need)))
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
    { kind: 'stall', silentMs: 5_000 },
  ])
}
