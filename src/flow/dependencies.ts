import type { z } from 'zod'
import type { TaskCommand, TaskPatch } from '../core/commands.ts'
import { Refused } from '../core/errors.ts'
import { type CyclicTasks, cycleClosedBy, cyclesAmong } from '../core/graph.ts'
import { idCarriedBy } from '../core/ids.ts'
import type { TaskRecord } from '../core/records.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import type { DependenciesBody, TaskPatchBody, TaskView } from '../core/shapes/tasks.ts'
import { isTerminal, type TriggerRule } from '../core/states.ts'
import { type Caller, granted, type Kernel } from '../kernel/kernel.ts'
import { type DueVersion, StoreUnavailable, type TaskThatWaits, type Walked } from '../store/store.ts'
import { operate, readTask } from './tasks.ts'
import { system, unblockDownstream } from './unblock.ts'
import { taskView } from './views.ts'

type DependencyRequest = z.output<typeof DependenciesBody>

/**
 * So far a request looks for circles, and upkeep, which looks further. No further than can be walked well within the lease
 * of a coordinator: one that loses its office over a walk would begin it again for ever.
 */
const SEEN_BY_A_REQUEST = [1_000, 10_000]
const SEEN_BY_UPKEEP = [1_000, 20_000]

/**
 * The tasks among which a circle through these must be, if there is one. It goes both ways, and few tasks are in the
 * middle of many: mostly one of the ways is short, whatever is at the end of the other.
 */
async function tasksThatMayCycle(
  kernel: Kernel,
  workspaceId: number,
  taskIds: readonly number[],
  limits: readonly number[],
): Promise<TaskThatWaits[]> {
  let walked: Walked = { tasks: [], isWhole: true }
  for (const limit of limits)
    for (const way of ['downstream', 'upstream'] as const) {
      walked = await kernel.store.blockedFrom(workspaceId, taskIds, way, limit)
      if (walked.isWhole) return walked.tasks
    }
  return walked.tasks
}

/** A task may be changed by others between the look at it and the act. */
const TRIES = 10

/** A task that is there waits for these as well from now on; with what else is to be changed, all or nothing. */
export async function addDependencies(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  request: DependencyRequest,
  { ifVersion = null, patch = null }: { ifVersion?: number | null; patch?: TaskPatch | null } = {},
): Promise<AnswerOf<typeof TaskView>> {
  for (let tries = 1; ; tries++) {
    const { record } = await readTask(kernel, caller, uuid)
    const command = await dependencyCommand(kernel, caller, record, request)
    const reply = await kernel.run(caller, {
      on: 'task',
      taskId: record.id,
      uuid,
      command: { ...command, ifVersion, patch },
    })
    if (!reply.ok && reply.lookAgain && tries < TRIES) continue
    const after = granted(reply).record
    // Not awaited, as with every end of a task.
    if (isTerminal(after.state)) void unblockDownstream(kernel, caller.workspaceId, [after.id])
    return taskView(await readTask(kernel, caller, uuid))
  }
}

export async function updateTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: z.output<typeof TaskPatchBody>,
  ifVersion: number | null,
): Promise<AnswerOf<typeof TaskView>> {
  const { agent, dependsOn = [], ...rest } = body
  const patch = agent === undefined ? rest : { ...rest, onlyAgent: agent }
  if (dependsOn.length > 0) return addDependencies(kernel, caller, uuid, { dependsOn }, { ifVersion, patch })
  return operate(kernel, caller, uuid, { kind: 'update', ifVersion, patch })
}

type AddDependencies = Extract<TaskCommand, { kind: 'addDependencies' }>

async function dependencyCommand(
  kernel: Kernel,
  { workspaceId }: Caller,
  record: TaskRecord,
  request: DependencyRequest,
): Promise<Omit<AddDependencies, 'ifVersion' | 'patch'>> {
  const named = request.dependsOn.map((uuid, place) => ({
    ...whatIsNamed(request, record, uuid, place),
    place,
  }))
  // Read after the record: what is added from here on makes its version, and with it this command, void.
  const known = await kernel.store.dependencies(workspaceId, record.id)
  const triggerRule = ruleOf(record, known[0]?.triggerRule, request.triggerRule)
  const isKnown = new Set(known.map(({ uuid }) => uuid))
  const dependsOn = named.filter(({ uuid }) => !isKnown.has(uuid))
  const ids = dependsOn.map(({ id }) => id)
  const cycle = ids.length > 0 ? await findCycle(kernel, workspaceId, record, ids) : null
  return { kind: 'addDependencies', dependsOn, triggerRule, version: record.version, cycle }
}

/** Nobody may wait for the task, or what it is to wait for may wait for nothing: then that is all there is to see. */
async function findCycle(
  kernel: Kernel,
  workspaceId: number,
  task: TaskRecord,
  upstream: readonly number[],
): Promise<string[] | null> {
  for (const limit of SEEN_BY_A_REQUEST)
    for (const [way, from] of [
      ['downstream', [task.id]],
      ['upstream', upstream],
    ] as const) {
      const { tasks, isWhole } = await kernel.store.blockedFrom(workspaceId, from, way, limit)
      const cycle = cycleClosedBy(task, upstream, tasks)
      if (cycle || isWhole) return cycle
    }
  return null
}

function whatIsNamed({ dependsOn }: DependencyRequest, task: TaskRecord, uuid: string, place: number) {
  const refused = (message: string) => Refused.field('VALIDATION_FAILED', `dependsOn[${place}]`, message)
  const id = idCarriedBy(uuid)
  if (id === null) throw refused('names no task of this workspace')
  if (uuid === task.uuid) throw refused('is the task itself')
  if (dependsOn.indexOf(uuid) !== place) throw refused('is named twice')
  return { id, uuid }
}

/** All that a task waits for, it waits for by one rule. A whole is made of all its parts, whatever rule it had. */
function ruleOf(
  { merge }: TaskRecord,
  known: TriggerRule | undefined,
  wished: TriggerRule | undefined,
): TriggerRule {
  const present = merge === 'none' ? known : 'all_success'
  if (present !== undefined && wished !== undefined && wished !== present)
    throw Refused.field('WRONG_STATE', 'triggerRule', `is ${present} for this task already`)
  return present ?? wished ?? 'all_success'
}

/**
 * Circles that nobody saw before they were closed: whoever closed them is due at once, and found here before its hour is
 * over. All tasks that wait for each other fail. Answers with how many did.
 */
export async function failCycles(kernel: Kernel, due: readonly DueVersion[], term?: number): Promise<number> {
  const waiting = new Map<number, number[]>()
  for (const { workspaceId, taskId, isBlocked } of due)
    if (isBlocked) waiting.set(workspaceId, [...(waiting.get(workspaceId) ?? []), taskId])
  let failed = 0
  for (const [workspaceId, taskIds] of waiting)
    failed += await failCyclesIn(kernel, workspaceId, taskIds, term)
  return failed
}

async function failCyclesIn(
  kernel: Kernel,
  workspaceId: number,
  taskIds: readonly number[],
  term: number | undefined,
): Promise<number> {
  const failed: number[] = []
  for (let tries = 1; ; tries++) {
    const waiting = await tasksThatMayCycle(kernel, workspaceId, taskIds, SEEN_BY_UPKEEP)
    // A circle through a paused task may still be broken there, and is looked at when that goes on.
    const found = cyclesAmong(waiting.filter(({ isPaused }) => !isPaused))
    const hasFailed = await Promise.all(found.map((tasks) => fails(kernel, system(workspaceId, term), tasks)))
    const over = found.filter((_, i) => hasFailed[i])
    failed.push(...over.flatMap(({ members }) => members.map(({ id }) => id)))
    if (over.length === found.length) break
    if (tries === TRIES) throw new StoreUnavailable('Tasks on a cycle were changed by others on every try.')
  }
  // Only now: one circle may wait for another, and its tasks are to be told the truth, not that they were skipped.
  if (failed.length > 0) await unblockDownstream(kernel, workspaceId, failed)
  return failed.length
}

/** All of a circle or none: if one of its tasks has been changed since, the others may not be in one any more. */
async function fails(kernel: Kernel, caller: Caller, { members, cycles }: CyclicTasks<TaskThatWaits>) {
  const items = members.map(({ id, uuid, version }, i) => ({
    taskId: id,
    uuid,
    command: { kind: 'failCycle', cycle: cycles[i]!, version } as const,
  }))
  const reply = granted(await kernel.run(caller, { on: 'many', items, ifAllAreAsSeen: true }))
  return reply.reason !== 'NOTHING_DUE'
}
