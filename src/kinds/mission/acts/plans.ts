import { isDeepStrictEqual } from 'node:util'
import { numberIn } from '../../../door/asked.ts'
import { actsOf } from '../../../door/door.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import type { StoredTask } from '../../../kernel/store/store.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { isTerminal } from '../../../pure/states.ts'
import { givenMissionPlan, readGivenPlan } from '../../project/acts/read-plan-apart.ts'
import { commandProject, requireProject } from '../../project/acts.ts'
import { listTracks, type Project } from '../../project/postgres.ts'
import type { Track } from '../../project/record.ts'
import type { PlanAnswer } from '../../project/shapes.ts'
import type { NewTask, OnTask } from '../../task/command.ts'
import { tasksOfProject } from '../../task/postgres/plan-tasks.ts'
import { capabilitiesOf, newTask } from '../../task/rules/new-task.ts'
import type { TaskPatch } from '../../task/rules/patch.ts'
import * as api from '../api/plans.ts'
import type { Plan, PlanTask, PlanTrack } from '../plan/plan.ts'
import { conflictingPlan, type PlanConflict, refusedPlan } from '../plan/refusal.ts'
import { summarise } from '../plan/summary.ts'
import { writePlan } from '../plan/write.ts'
import type { PlanCheckAnswer } from '../shapes/plans.ts'
import { pricedByAgents } from './agent-models.ts'
import { proposePlan } from './missions.ts'
import { refuseAgents } from './plan-agents.ts'
import { planDigest } from './plan-digest.ts'
import { exportPlan } from './plan-export.ts'

/** A dry run: what a plan of either kind would be, or all its problems. Writes nothing. */
async function checkedPlan(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  text: string,
): Promise<AnswerOf<typeof PlanCheckAnswer>> {
  const reading = await readGivenPlan(text)
  if (!reading.ok) throw refusedPlan(reading.problems)
  if (reading.kind === 'mission') await refuseAgents(kernel, workspaceId, reading.plan, null)
  const prices = await pricedByAgents(kernel, workspaceId)
  return { valid: true, ...summarise(reading.plan, prices), digest: planDigest(reading.plan) }
}

/** Creates the tasks of a plan: all or nothing. Existing tasks keep their dependencies; texts and settings may change. */
async function importPlan(
  kernel: ServerKernel,
  caller: Caller,
  project: Project,
  text: string,
): Promise<AnswerOf<typeof PlanAnswer>> {
  const reading = await readGivenPlan(text, 'project')
  if (!reading.ok) throw refusedPlan(reading.problems)
  const { plan } = reading
  if (plan.project !== project.slug)
    throw refusedPlan([
      {
        line: 1,
        column: 0,
        path: 'project',
        at: '/project',
        message: `is "${plan.project}", but this is the plan of "${project.slug}"`,
      },
    ])
  const existing = await tasksOfProject(kernel.store.readers, caller.workspaceId, project.projectId)
  const diff = new PlanDiff(plan, project, existing)
  if (diff.conflicts.length > 0) throw conflictingPlan(diff.conflicts)
  const known = await listTracks(kernel.store.readers, caller.workspaceId, project.projectId)
  const tracks = plan.tracks.map((track) => trackOf(track, known))
  // The idempotency key is that of the tasks.
  const alone = { ...caller, idempotency: undefined }
  await commandProject(kernel, alone, project.slug, { kind: 'setTracks', tracks })
  const { changes } = diff
  const tasks = diff.tasks.map((task) => ({
    ...task,
    details: { ...task.details, createdBy: caller.actor },
  }))
  if (tasks.length + changes.length > 0) granted(await kernel.run(caller, { on: 'new', tasks, changes }))
  const answer = { created: tasks.length, updated: changes.length, unchanged: diff.unchanged }
  const { created, updated } = answer
  await commandProject(kernel, alone, project.slug, { kind: 'plan', name: plan.name, created, updated })
  const { notInPlan, notTaken } = diff
  return { project: project.slug, ...answer, notInPlan, notTaken }
}

const DEFAULT_AGENTS_PER_TRACK = 1

/** An existing track keeps what the plan leaves out: a plan cannot express "any number". */
function trackOf({ track, maxAgents, sequential, purpose }: PlanTrack, known: readonly Track[]): Track {
  const there = known.find((one) => one.track === track)
  const otherwise = there ? there.maxAgents : DEFAULT_AGENTS_PER_TRACK
  return { track, maxAgents: maxAgents ?? otherwise, sequential, purpose: purpose ?? there?.purpose ?? null }
}

interface PlannedTask {
  task: PlanTask
  /** The task it is a part of. */
  whole: PlanTask | null
  dependsOn: string[]
}

/** The changes a plan makes, compared with the existing tasks. */
class PlanDiff {
  readonly tasks: NewTask[] = []
  readonly changes: OnTask[] = []
  readonly conflicts: PlanConflict[] = []
  readonly notInPlan: string[]
  /** Fields that differ in the plan but cannot be changed on an existing task. */
  readonly notTaken: { key: string; fields: string[] }[] = []
  unchanged = 0
  readonly #project: Project
  readonly #existing: ReadonlyMap<string, StoredTask>
  readonly #parentIds: ReadonlyMap<string, number | null>
  /** Places of new tasks in the request, by key. */
  readonly #places = new Map<string, number>()

  constructor(plan: Plan, project: Project, existing: readonly StoredTask[]) {
    this.#project = project
    this.#existing = new Map(existing.map((task) => [task.record.key!, task]))
    this.#parentIds = new Map(existing.map(({ record }) => [record.uuid, record.parentId]))
    const planned = plan.tracks.flatMap(plannedTasks)
    for (const { task } of planned)
      if (!this.#existing.has(task.key)) this.#places.set(task.key, this.#places.size)
    for (const one of planned) {
      const known = this.#existing.get(one.task.key)
      if (known) this.#compare(one, known)
      else this.#create(one)
    }
    const keys = new Set(planned.map(({ task }) => task.key))
    this.notInPlan = [...this.#existing.keys()].filter((key) => !keys.has(key))
  }

  #create(planned: PlannedTask): void {
    const { task, whole, dependsOn } = planned
    const there = dependsOn
      .map((key) => this.#existing.get(key)?.record)
      .filter((record) => record !== undefined)
    const isNew = (key: string) => this.#places.has(key)
    const parent = whole && this.#parent(planned, whole)
    this.tasks.push(
      newTask({
        key: task.key,
        projectId: this.#project.projectId,
        parent,
        merge: whole ? (whole.merge ?? 'object') : (task.merge ?? 'none'),
        priority: task.priority,
        maxRetries: task.maxRetries,
        maxContinuations: task.maxContinuations,
        onlyAgent: task.agent,
        capabilities: capabilitiesOf(task.requiredCapabilities),
        dependsOn: there.map(({ id }) => id),
        dependsOnNew: dependsOn.filter(isNew).map((key) => this.#places.get(key)!),
        triggerRule: task.merge === null ? task.triggerRule : 'all_success',
        details: {
          title: task.title,
          taskType: task.taskType,
          description: task.description,
          input: task.input,
          tags: task.tags,
          dependsOn: there.map(({ uuid }) => uuid),
          project: this.#project.slug,
        },
      }),
    )
  }

  #parent({ task }: PlannedTask, whole: PlanTask): NewTask['parent'] {
    const known = this.#existing.get(whole.key)?.record
    if (!known) return { at: this.#places.get(whole.key)! }
    if (known.state !== 'queued' && known.state !== 'pending')
      this.#conflict(task, `is new, but ${whole.key} is ${known.state} and can no longer be divided`)
    return { id: known.id, uuid: known.uuid }
  }

  #compare({ task, dependsOn }: PlannedTask, { record, details }: StoredTask): void {
    const wanted = new Set(dependsOn.map((key) => this.#existing.get(key)?.record.uuid ?? `new ${key}`))
    // Only what a plan can name: neither the task's own parts nor tasks outside the project.
    const isNamed = (uuid: string) => this.#parentIds.has(uuid) && this.#parentIds.get(uuid) !== record.id
    const has = new Set(details.dependsOn.filter(isNamed))
    if (wanted.size !== has.size || [...wanted].some((uuid) => !has.has(uuid)))
      this.#conflict(
        task,
        `has other dependencies than the existing ${task.key}; dependencies of an existing task cannot change`,
      )
    const fields = fixedFields(task, { record, details })
    if (fields.length > 0) this.notTaken.push({ key: task.key, fields })
    const patch = isTerminal(record.state) ? {} : patchOf(task, { record, details })
    if (Object.keys(patch).length === 0) this.unchanged += 1
    else
      this.changes.push({
        taskId: record.id,
        uuid: record.uuid,
        command: { kind: 'update', ifVersion: null, patch },
      })
  }

  #conflict(task: PlanTask, message: string): void {
    this.conflicts.push({ line: task.line, path: task.key, message })
  }
}

/** Parts inherit the dependencies of the divided task, which depends on its parts. */
function plannedTasks({ tasks, sequential }: PlanTrack): PlannedTask[] {
  return tasks.flatMap((task, i): PlannedTask[] => {
    const before = sequential && i > 0 ? [tasks[i - 1]!.key] : []
    const dependsOn = [...new Set([...task.dependsOn, ...before])]
    if (task.subtasks.length === 0) return [{ task, whole: null, dependsOn }]
    const parts = task.subtasks.map((part) => ({
      task: { ...part, triggerRule: part.dependsOn.length > 0 ? part.triggerRule : task.triggerRule },
      whole: task,
      dependsOn: [...new Set([...dependsOn, ...part.dependsOn])],
    }))
    return [{ task, whole: null, dependsOn: [] }, ...parts]
  })
}

/** Differing fields that are fixed when a task is created. */
function fixedFields(task: PlanTask, { record, details }: StoredTask): string[] {
  const capabilities = [...new Set(task.requiredCapabilities)].sort()
  return [
    ...(task.taskType === details.taskType ? [] : ['type']),
    ...(isDeepStrictEqual(task.input ?? null, details.input ?? null) ? [] : ['input']),
    ...(isDeepStrictEqual(capabilities, record.capabilities) ? [] : ['capabilities']),
  ]
}

/** The fields that the plan changes. */
function patchOf(task: PlanTask, { record, details }: StoredTask): TaskPatch {
  const patch: TaskPatch = {}
  if (task.title !== details.title) patch.title = task.title
  if (task.description !== details.description) patch.description = task.description
  if (task.tags.join('\n') !== details.tags.join('\n')) patch.tags = task.tags
  if (task.priority !== record.priority) patch.priority = task.priority
  if (task.maxRetries !== record.maxRetries) patch.maxRetries = task.maxRetries
  if (task.maxContinuations !== record.maxContinuations) patch.maxContinuations = task.maxContinuations
  if (task.agent !== record.onlyAgent) patch.onlyAgent = task.agent
  return patch
}

export const planActs = actsOf(api)({
  importProjectPlan: async ({ kernel }, { params, body, caller }) =>
    importPlan(kernel, caller, await requireProject(kernel, caller, params.slug), body.text),
  replaceMissionPlan: async ({ kernel }, { params, query, body, caller }) => {
    const plan = await givenMissionPlan(body.text)
    return proposePlan(kernel, caller, params.id, plan, numberIn(query.planVersion))
  },
  checkPlan: ({ kernel }, { body, caller }) => checkedPlan(kernel, caller, body.text),
  exportProjectPlan: async ({ kernel }, { params, query, caller, headers, reply }) => {
    const plan = await exportPlan(kernel, caller, await requireProject(kernel, caller, params.slug))
    const format = query.format ?? (/yaml/.test(headers.accept ?? '') ? 'yaml' : 'json')
    reply.header('content-type', `application/${format}; charset=utf-8`)
    return writePlan(plan, format)
  },
})
