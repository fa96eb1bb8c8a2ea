import type { Request } from '../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { cycleClosedBy } from '../../src/pure/graph.ts'
import { idCarriedBy } from '../../src/pure/ids.ts'
import { isTerminal, TRIGGER_RULES } from '../../src/pure/states.ts'
import { insist } from './operator.ts'
import type { TaskRef, World } from './world.ts'

/** More than any run makes. */
const ALL = 1_000

const MAY_WAIT = ['pending', 'queued']

/** A person makes a task depend on another, and at times no longer on others. False when there are no two tasks that could wait. */
export async function addSomeDependency(world: World): Promise<boolean> {
  const { random, store } = world
  const records = (await store.tasks()).map(({ record }) => record)
  const waiting = records.filter(({ state }) => MAY_WAIT.includes(state))
  if (waiting.length === 0 || records.length < 2) return false
  await addDependencies(world, random.pick(waiting), records)
  return true
}

/**
 * On another one of these. Or two people do so at the same moment, each on the other's task: neither sees the other's
 * change, and so they may close a cycle.
 */
export async function addDependencies(
  world: World,
  task: TaskRecord,
  records: readonly TaskRecord[],
): Promise<void> {
  const { random } = world
  const others = records.filter((one) => one !== task)
  const unfinished = others.filter(({ state }) => !isTerminal(state))
  const other = random.pick(unfinished.length > 0 && random.chance(0.9) ? unfinished : others)
  const requests = [await asking(world, task, [other])]
  if (MAY_WAIT.includes(other.state) && random.chance(0.6)) requests.push(await asking(world, other, [task]))
  await Promise.all(requests.map((request) => insist(world, request)))
}

async function asking(world: World, record: TaskRecord, others: readonly TaskRef[]): Promise<Request> {
  const { random, store } = world
  const known = await store.dependencies(record.id)
  const dependsOn = others
    .map(({ id, uuid }, place) => ({ id, uuid, place }))
    .filter(({ uuid }) => known.every((one) => one.uuid !== uuid))
  if (dependsOn.length > 0 && random.chance(0.03)) dependsOn[0]!.uuid = '01900000-0000-7000-8000-000000000001'
  const ids = dependsOn.map(({ id }) => id)
  // A cycle goes both ways, so it is seen on either.
  const { tasks } = random.chance(0.5)
    ? await store.blockedFrom(ids, 'upstream', ALL)
    : await store.blockedFrom([record.id], 'downstream', ALL)
  const cycle = cycleClosedBy(record, ids, tasks)
  const remove = removed(world, known)
  const rule = record.merge === 'none' ? known[0]?.triggerRule : 'all_success'
  return {
    on: 'task',
    actor: 'key:ops',
    taskId: record.id,
    uuid: record.uuid,
    command: {
      kind: 'changeDependencies',
      dependsOn,
      triggerRule: rule ?? random.pick(TRIGGER_RULES),
      version: record.version,
      areFirst: known.length === 0 || remove?.areAll === true,
      remove,
      cycle,
      ifVersion: random.chance(0.2) ? record.version : null,
      patch: random.chance(0.2) ? { priority: random.int(1, 10) } : null,
    },
  }
}

/** Now and then it no longer depends on one of them, or on none of them. */
function removed({ random }: World, known: readonly { uuid: string }[]) {
  if (known.length === 0 || !random.chance(0.25)) return undefined
  const gone = random.chance(0.5) ? known : [random.pick(known)]
  const on = gone.map(({ uuid }, place) => ({ id: idCarriedBy(uuid)!, uuid, place }))
  return { on, areAll: gone.length === known.length }
}
