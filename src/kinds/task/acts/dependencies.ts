import type { z } from 'zod'
import { actsOf } from '../../../door/door.ts'
import { systemCaller } from '../../../kernel/caller.ts'
import { type Caller, granted, type Kernel } from '../../../kernel/kernel.ts'
import {
  type DueVersion,
  type StoredTask,
  StoreUnavailable,
  type TaskThatWaits,
  type Walked,
} from '../../../kernel/store/store.ts'
import { Refused } from '../../../pure/errors.ts'
import { type CyclicTasks, cycleClosedBy, cyclesAmong } from '../../../pure/graph.ts'
import { grouped } from '../../../pure/grouped.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { TriggerRule } from '../../../pure/states.ts'
import * as api from '../api/dependencies.ts'
import type { TaskCommand } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import type { DetailsBefore, TaskPatch } from '../rules/patch.ts'
import type { DependenciesBody, TaskView } from '../shapes/tasks.ts'
import { namedDependencies, readTask } from './tasks.ts'
import { taskView } from './views.ts'

type DependencyRequest = z.output<typeof DependenciesBody> & { removeDependsOn?: readonly string[] }

/**
 * How many tasks a request searches for cycles, and upkeep, which searches further. The walk must end well within the leader
 * lease: a coordinator that lost its leadership during the walk would start it again forever.
 */
const SEARCHED_BY_A_REQUEST = [1_000, 10_000]
const SEARCHED_BY_UPKEEP = [1_000, 20_000]

/**
 * The tasks among which a cycle through these tasks must be, if there is one. Walks downstream and upstream: few tasks have
 * many tasks on both sides, so one direction is usually short.
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

/** Retries when another caller changes the task between the read and the command. */
const TRIES = 10

export const asBefore = ({ record: { version }, details }: StoredTask): DetailsBefore => {
  const { title, taskType, tags } = details
  return { version, title, taskType, tags }
}

/** Changes what an existing task depends on, together with an optional patch: all or nothing. */
export async function changeDependencies(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  request: DependencyRequest,
  { ifVersion = null, patch = null }: { ifVersion?: number | null; patch?: TaskPatch | null } = {},
): Promise<AnswerOf<typeof TaskView>> {
  for (let tries = 1; ; tries++) {
    const task = await readTask(kernel, caller, uuid)
    const { record } = task
    const command = await dependencyCommand(kernel, caller, record, request)
    const reply = await kernel.run(caller, {
      on: 'task',
      taskId: record.id,
      uuid,
      command: { ...command, ifVersion, patch, before: patch ? asBefore(task) : undefined },
    })
    if (!reply.ok && reply.shouldRetry && tries < TRIES) continue
    granted(reply)
    return taskView(await readTask(kernel, caller, uuid))
  }
}

type ChangeDependencies = Extract<TaskCommand, { kind: 'changeDependencies' }>

async function dependencyCommand(
  kernel: Kernel,
  { workspaceId }: Caller,
  record: TaskRecord,
  request: DependencyRequest,
): Promise<Omit<ChangeDependencies, 'ifVersion' | 'patch'>> {
  const named = namedDependencies(request.dependsOn)
  const self = named.findIndex(({ uuid }) => uuid === record.uuid)
  if (self !== -1) throw Refused.field('VALIDATION_FAILED', `dependsOn[${self}]`, 'is the task itself')
  // Read after the record: a dependency added from here on changes the version, and this command no longer applies.
  const known = await kernel.store.dependencies(workspaceId, record.id)
  const gone = namedRemovals(request.removeDependsOn, named)
  const triggerRule = ruleOf(record, known[0]?.triggerRule, request.triggerRule)
  const isKnown = new Set(known.map(({ uuid }) => uuid))
  const dependsOn = named.filter(({ uuid }) => !isKnown.has(uuid))
  const ids = dependsOn.map(({ id }) => id)
  const cycle = ids.length > 0 ? await findCycle(kernel, workspaceId, record, ids) : null
  const areAll = gone.length > 0 && known.every(({ uuid }) => gone.some((one) => one.uuid === uuid))
  const areFirst = known.length === 0 || areAll
  const remove = gone.length > 0 ? { on: gone, areAll } : undefined
  return {
    kind: 'changeDependencies',
    dependsOn,
    triggerRule,
    version: record.version,
    areFirst,
    remove,
    cycle,
  }
}

type Named = ReturnType<typeof namedDependencies>

/** Those that a request removes. One that it also adds is a mistake. */
function namedRemovals(
  removeDependsOn: readonly string[] = [],
  added: Named,
): readonly { id: number; uuid: string; place: number }[] {
  const seen = new Set(added.map(({ uuid }) => uuid))
  return removeDependsOn.map((uuid, place) => {
    const refused = (message: string) =>
      Refused.field('VALIDATION_FAILED', `removeDependsOn[${place}]`, message)
    if (seen.has(uuid)) throw refused('is named twice')
    seen.add(uuid)
    const id = idCarriedBy(uuid)
    if (id === null) throw refused('is not a dependency of this task')
    return { id, uuid, place }
  })
}

/** Walks both ways: a task without dependents, or upstream tasks without dependencies, settle the search at once. */
export async function findCycle(
  kernel: Kernel,
  workspaceId: number,
  task: Pick<TaskRecord, 'id' | 'uuid'>,
  upstream: readonly number[],
): Promise<string[] | null> {
  for (const limit of SEARCHED_BY_A_REQUEST)
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

/** A task has one trigger rule for all its dependencies. A task with parts needs all of them, whatever rule it had. */
function ruleOf(
  { merge }: TaskRecord,
  known: TriggerRule | undefined,
  requested: TriggerRule | undefined,
): TriggerRule {
  const present = merge === 'none' ? known : 'all_success'
  if (present !== undefined && requested !== undefined && requested !== present)
    throw Refused.field('WRONG_STATE', 'triggerRule', `is already ${present} for this task`)
  return present ?? requested ?? 'all_success'
}

/**
 * Cycles that no request found when they were closed. The task that closed the cycle is due at once, and is found here
 * before its due time is cleared. All tasks on the cycle fail. Returns how many failed.
 */
export async function failCycles(kernel: Kernel, due: readonly DueVersion[], term?: number): Promise<number> {
  const blocked = due.filter(({ isBlocked }) => isBlocked)
  let failed = 0
  for (const [workspaceId, tasks] of grouped(blocked, (one) => one.workspaceId)) {
    const taskIds = tasks.map(({ taskId }) => taskId)
    failed += await failCyclesIn(kernel, workspaceId, taskIds, term)
  }
  return failed
}

async function failCyclesIn(
  kernel: Kernel,
  workspaceId: number,
  taskIds: readonly number[],
  term: number | undefined,
): Promise<number> {
  for (let tries = 1; ; tries++) {
    const waiting = await tasksThatMayCycle(kernel, workspaceId, taskIds, SEARCHED_BY_UPKEEP)
    // A cycle through a paused task can still be broken there. It is checked when the task resumes.
    const found = cyclesAmong(waiting.filter(({ isPaused }) => !isPaused))
    if (found.length === 0) return 0
    if (await failAll(kernel, systemCaller(workspaceId, term), found))
      return found.reduce((failed, { members }) => failed + members.length, 0)
    if (tries === TRIES) throw new StoreUnavailable('Tasks on a cycle were changed by others on every try.')
  }
}

/**
 * All tasks of all cycles or none. If one of a cycle has changed since, the others may no longer be on it. And one cycle may
 * depend on another: its tasks must fail as a cycle, not be skipped because those of the other failed first.
 */
async function failAll(kernel: Kernel, caller: Caller, found: readonly CyclicTasks<TaskThatWaits>[]) {
  const items = found.flatMap(({ members, cycles }) =>
    members.map(({ id, uuid, version }, i) => ({
      taskId: id,
      uuid,
      command: { kind: 'failCycle', cycle: cycles[i]!, version } as const,
    })),
  )
  const reply = granted(await kernel.run(caller, { on: 'many', items, ifAllUnchanged: true }))
  return reply.reason !== 'NOTHING_DUE'
}

export const dependencyActs = actsOf(api)({
  addDependencies: ({ kernel }, { params, body, caller }) =>
    changeDependencies(kernel, caller, params.id, body),
})
