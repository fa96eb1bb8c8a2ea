import type { Request } from '../../src/kernel/batch/requests.ts'
import type { NewTask } from '../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { Reply } from '../support/replies.ts'
import { insist, keyed } from './operator.ts'
import { drawTimers, type TaskPlan } from './plan-tasks.ts'
import type { TaskRef, World } from './world.ts'

/** The program that creates the tasks, request by request. It makes mistakes, and it repeats requests. */
export async function createTasks(world: World): Promise<void> {
  const { random, plan } = world
  for (const [i, request] of plan.requests.entries()) {
    const first = request[0]!.place
    const tasks = request.map((task) => newTask(world, task, first))
    if (random.chance(0.1)) await insist(world, asking(mistake(world, tasks)))
    // Under a key, or each task under its own: either way it is created once.
    const isUnique = request.every(({ unique }) => unique)
    const asked = isUnique ? asking(tasks) : keyed(asking(tasks), `create-${i}`)
    addCreated(world, await insist(world, asked))
    if (isUnique && random.chance(0.5)) await insist(world, asking(tasks))
  }
}

const asking = (tasks: NewTask[]): Request => ({ on: 'new', actor: 'key:ops', tasks })

/** These tasks are now to be worked on and monitored. */
export function addCreated({ tasks }: World, reply: Reply): void {
  const { records } = reply as unknown as { records: TaskRecord[] }
  tasks.push(...records.map(({ id, uuid }) => ({ id, uuid })))
}

/** `first` is the place of the first task of its request: from there on tasks name each other by their places in it. */
function newTask(world: World, task: TaskPlan, first: number): NewTask {
  const { place, project, waitsFor, partOf, unique, ...rest } = task
  const before = waitsFor.filter((other) => other < first).map((other) => world.tasks[other]!)
  return {
    ...rest,
    ...NO_MISSION,
    ...{ continuation: null, agentChoice: null, children: null },
    projectId: project === null ? 0 : world.projects[project]!,
    parent: partOf === null ? null : { at: partOf - first },
    dependsOn: before.map(({ id }) => id),
    dependsOnNew: waitsFor.filter((other) => other >= first).map((other) => other - first),
    unique: unique ? { key: `once-${place}`, bodyHash: `body ${place}` } : null,
    details: details(`task ${place + 1}`, before),
  }
}

const NO_MISSION = { missionId: null, purpose: 'work', optional: false } as const

const details = (title: string, waitsFor: readonly TaskRef[] = []): NewTask['details'] => ({
  title,
  taskType: 'coding',
  description: null,
  input: null,
  tags: [],
  userId: null,
  project: null,
  parent: null,
  dependsOn: waitsFor.map(({ uuid }) => uuid),
})

/** Something like the request that must be refused as a whole. */
function mistake({ random, tasks: made, taskPlans }: World, tasks: readonly NewTask[]): NewTask[] {
  const free = { ...tasks.at(-1)!, parent: null, key: null, unique: null }
  const unknown = { id: 999_999, uuid: '01900000-0000-7000-8000-0000000f423f' }
  const onUnknownTask = { ...free, dependsOn: [unknown.id], details: details('wrong', [unknown]) }
  const twice = { ...free, key: 'Z-001-sim' }
  const once = { ...free, unique: { key: 'twice', bodyHash: 'a' } }
  const another = { ...free, unique: { key: 'once-0', bodyHash: 'another' } }
  const wrong = random.pick([
    [onUnknownTask],
    [{ ...free, dependsOnNew: [tasks.length] }],
    [twice, twice],
    [once, once],
    [{ ...free, parent: unknown }],
    ...(made.length > 0 ? [[{ ...onUnknownTask, parent: random.pick(made) }]] : []),
    ...(made.length > 0 && taskPlans[0]!.unique ? [[another]] : []),
  ])
  return [...tasks, ...wrong]
}

/** Parts for an existing task, in any state. */
export function division(
  world: World,
  { id, projectId, trackQueue, key }: TaskRecord,
  uuid: string,
): Request {
  const { random } = world
  const merge = random.pick(['none', 'none', 'task'] as const)
  const count = random.int(1, 2)
  world.partsRequested += count
  const part = (i: number): NewTask => ({
    key: trackQueue === '' ? null : `${key}::${i + 1}`,
    projectId,
    parent: { id, uuid },
    merge,
    priority: random.int(1, 10),
    maxRetries: random.int(0, 3),
    maxContinuations: 10,
    onlyAgent: null,
    capabilities: [],
    verification: random.pick(['none', 'none', 'human']),
    runAt: null,
    expiresAt: null,
    ...NO_MISSION,
    timers: random.chance(0.2) ? drawTimers(random) : null,
    ...{ continuation: null, agentChoice: null, children: null },
    dependsOn: [],
    dependsOnNew: [],
    unique: null,
    triggerRule: 'all_success',
    details: details(`part ${i + 1}`),
  })
  return keyed(asking(Array.from({ length: count }, (_, i) => part(i))), `divide-${world.trace.lines}`)
}
