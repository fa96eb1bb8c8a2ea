import { contractorsIn } from '../../kinds/agent/rules/contractors-of-tasks.ts'
import { closedMsBy, type SeenMission } from '../../kinds/mission/rules/gate.ts'
import type { NewGranted, TaskReply } from '../../kinds/replies.ts'
import type { NewTask, OnTask, TaskCommand } from '../../kinds/task/command.ts'
import type { Actor, TaskRecord } from '../../kinds/task/record.ts'
import { type Outside, whyNotReservedFor } from '../../kinds/task/rules/acting.ts'
import { depthOf, whyNotAdded } from '../../kinds/task/rules/children.ts'
import { createTask } from '../../kinds/task/rules/create.ts'
import { countOf, outcomeOf } from '../../kinds/task/rules/upstream-counts.ts'
import { type Refusal, refuse, refuseField } from '../../pure/errors.ts'
import { describeCycle } from '../../pure/graph.ts'
import { uuidCarrying } from '../../pure/ids.ts'
import { isTerminal, type TriggerRule } from '../../pure/states.ts'
import type { Contracting } from './contracting.ts'
import { inOrderOfDependence } from './creation-order.ts'
import type { FirstAnswers } from './first-answer.ts'
import { whyEnded, whyNotJoined } from './joining.ts'
import { asWhole, partsInRequest, whyNotPart } from './parts.ts'
import { type Changes, keyName, type NewWork, uniqueName, type View } from './requests.ts'

/** What creation needs from its batch. */
interface CreationContext {
  view: View
  /** The caller whose request is decided. */
  outside: () => Outside | undefined
  /** The present record of a task that existed before this batch. */
  record: (id: number) => TaskRecord | undefined
  apply: (item: OnTask, actor: Actor) => TaskReply
  /** A new task depends on this one, which existed before this batch. */
  markAwaited: (id: number) => void
  emit: (event: Changes['events'][number]) => void
  /** The mission of this number, as it is now. */
  mission: (missionId: number) => SeenMission | undefined
  /** How many tasks agents have added to it so far. */
  children: (missionId: number) => number
  made: (record: TaskRecord) => void
  contracting: Contracting
  firstAnswers: FirstAnswers
}

interface Identity {
  id: number
  uuid: string
}

/** New tasks: all of a request or none. They may depend on each other and be parts of each other. */
export class Creation {
  readonly #in: CreationContext
  readonly #givenKeys = new Set<string>()
  readonly #new = new Set<TaskRecord>()
  readonly created: Changes['created'] = []
  readonly dependencies: Changes['dependencies'] = []
  #freshUsed = 0

  constructor(context: CreationContext) {
    this.#in = context
  }

  /** `first` runs when nothing refuses the tasks, before they are created. */
  create(
    { tasks: wanted, changes = [], alsoLock = [] }: NewWork,
    actor: Actor,
    first: () => void = () => undefined,
  ): NewGranted | Refusal {
    const known = wanted.map((task) => this.#madeBefore(task))
    const { order, cycle } = inOrderOfDependence(wanted)
    const contractors = contractorsIn(wanted, changes)
    const refusal = this.#whyNot(wanted, known, cycle, changes) ?? this.#in.contracting.whyNot(contractors)
    if (refusal) return refusal
    const unlocked = this.#unlockedAmong(wanted, known).filter((id) => !alsoLock.includes(id))
    if (unlocked.length > 0) return { ok: true, reason: 'NOT_LOCKED', records: [], existing: [], unlocked }
    first()
    this.#in.contracting.make(contractors, actor)
    const { now, fresh } = this.#in.view
    // In the order of the request: among equals, that is the order of the queue.
    const identities = wanted.map((_, i) => {
      const first = known[i]
      if (first) return first
      const { id, random } = fresh[this.#freshUsed++]!
      return { id, uuid: uuidCarrying(id, now, random) }
    })
    const records: TaskRecord[] = []
    known.forEach((first, i) => {
      if (first) records[i] = first
    })
    const partsOf = partsInRequest(wanted)
    for (const index of order) {
      const parts = partsOf.get(index) ?? []
      if (!known[index]) records[index] = this.#createOne(wanted, index, parts, identities, records, actor)
    }
    this.#divideParents(wanted, known, records, actor)
    for (const change of changes) this.#in.apply(this.#resolved(change, records), actor)
    return { ok: true, reason: 'CREATED', records, existing: known.map((first) => first !== undefined) }
  }

  /** A change that makes a task depend on new ones learns which they are. */
  #resolved(change: OnTask, records: readonly TaskRecord[]): OnTask {
    const { command } = change
    if (command.kind !== 'replan' || !command.edges || command.edges.onNew.length === 0) return change
    const made = command.edges.onNew.map(({ at, kind }) => {
      const { id, uuid, version, state } = records[at]!
      this.#markAwaited(records[at]!)
      return { dependsOn: id, uuid, version, outcome: outcomeOf(state), kind }
    })
    return { ...change, command: { ...command, edges: { ...command.edges, made } } }
  }

  /** Writes the dependencies of a new task and returns the tasks it depends on. */
  #dependencies(
    id: number,
    task: NewTask,
    parts: readonly number[],
    records: readonly TaskRecord[],
  ): readonly TaskRecord[] {
    const places = [...new Set([...task.dependsOnNew, ...parts])]
    const fresh = places.map((at) => this.#asItIs(records[at]!))
    for (const other of task.dependsOn) this.#in.markAwaited(other)
    for (const other of fresh) this.#markAwaited(other)
    const upstream = [...task.dependsOn.map((other) => this.#in.record(other)!), ...fresh]
    const orderOnly = new Set([
      ...(task.orderOnly?.on ?? []),
      ...(task.orderOnly?.onNew ?? []).map((at) => records[at]!.id),
    ])
    for (const one of upstream) this.#depend(id, one, task.triggerRule, orderOnly.has(one.id))
    return upstream
  }

  #createOne(
    wanted: readonly NewTask[],
    index: number,
    parts: readonly number[],
    identities: readonly Identity[],
    records: readonly TaskRecord[],
    actor: Actor,
  ): TaskRecord {
    const task = this.#asChild(asWhole(wanted[index]!, parts))
    const { id, uuid } = identities[index]!
    const isDependent = task.dependsOn.length + task.dependsOnNew.length + parts.length > 0
    const upstream = isDependent ? this.#dependencies(id, task, parts, records) : []
    const parent = parentOf(task, identities)
    const counts = upstream.length === 0 ? null : countsOf(task.triggerRule, upstream)
    const identity = { id, uuid, parentId: parent?.id ?? null, dependsOn: upstream.map((one) => one.uuid) }
    const { now, limits } = this.#in.view
    const gate = task.missionId === null ? undefined : this.#in.mission(task.missionId)
    const closedMs = gate ? closedMsBy(gate, now) : 0
    const { record, event } = createTask(task, counts, identity, actor, now, limits.queueOrder, closedMs)
    this.created.push({ record, task, parentUuid: parent?.uuid ?? null })
    this.#new.add(record)
    this.#in.made(record)
    const root = task.addedBy?.root
    if (root) this.#in.apply({ taskId: root.id, uuid: root.uuid, command: { kind: 'countChild' } }, actor)
    if (task.key !== null) this.#givenKeys.add(keyName(task.projectId, task.key))
    this.#in.emit(event)
    if (task.unique) {
      const { key, bodyHash } = task.unique
      this.#in.firstAnswers.store(uniqueName(key), bodyHash, { ok: true, reason: 'CREATED', record })
    }
    return record
  }

  /** The tasks of earlier requests that new ones depend on and that are not under our lock. */
  #unlockedAmong(wanted: readonly NewTask[], known: readonly (TaskRecord | undefined)[]): number[] {
    if (known.every((first) => first === undefined)) return []
    const awaited = wanted.flatMap(({ dependsOnNew, parent }, at) => [
      ...(known[at] ? [] : dependsOnNew),
      ...(parent && 'at' in parent && !known[parent.at] ? [at] : []),
    ])
    const records = [...new Set(awaited)].flatMap((at) => known[at] ?? [])
    return records.filter((one) => !this.#new.has(one) && !this.#in.record(one.id)).map(({ id }) => id)
  }

  /** One that an earlier request created may have changed since; its first answer has not. */
  #asItIs(record: TaskRecord): TaskRecord {
    return this.#new.has(record) ? record : (this.#in.record(record.id) ?? record)
  }

  #depend(taskId: number, on: TaskRecord, rule: TriggerRule, isOrderOnly: boolean): void {
    this.dependencies.push({
      taskId,
      dependsOn: on.id,
      dependsOnUuid: on.uuid,
      rule,
      kind: isOrderOnly ? 'order' : 'data',
      countedVersion: on.version,
      outcome: outcomeOf(on.state),
    })
  }

  /** The record of a first answer must not change. */
  #markAwaited(record: TaskRecord): void {
    if (this.#new.has(record)) record.awaited = true
    else this.#in.markAwaited(record.id)
  }

  /** Existing tasks that get parts now wait for them. */
  #divideParents(
    wanted: readonly NewTask[],
    known: readonly unknown[],
    records: readonly TaskRecord[],
    actor: Actor,
  ): void {
    const parts = new Map<string, { parent: Identity; at: number[] }>()
    wanted.forEach(({ parent }, at) => {
      if (!parent || !('id' in parent) || known[at]) return
      const group = parts.get(parent.uuid)
      if (group) group.at.push(at)
      else parts.set(parent.uuid, { parent, at: [at] })
    })
    for (const { parent, at } of parts.values()) {
      const merge = wanted[at[0]!]!.merge === 'task' ? 'task' : 'object'
      const outcomes = at.map((one) => outcomeOf(records[one]!.state))
      const command: TaskCommand = { kind: 'divide', merge, parts: at.length, outcomes }
      this.#in.apply({ taskId: parent.id, uuid: parent.uuid, command }, actor)
      for (const one of at) {
        this.#markAwaited(records[one]!)
        this.#depend(parent.id, records[one]!, 'all_success', false)
      }
    }
  }

  #madeBefore({ unique }: NewTask): TaskRecord | undefined {
    return unique ? this.#in.firstAnswers.taskUnder(uniqueName(unique.key)) : undefined
  }

  #whyNot(
    wanted: readonly NewTask[],
    known: readonly unknown[],
    cycle: readonly string[] | null,
    changes: readonly OnTask[],
  ): Refusal | null {
    if (cycle)
      return refuse(
        'VALIDATION_FAILED',
        `The dependencies of the tasks form a cycle: ${describeCycle(cycle)}.`,
        { cycle },
      )
    const names = new Set<string>()
    for (const [index, task] of wanted.entries()) {
      const refusal = this.#whyNotOne(task, index, names, wanted, known)
      if (refusal) return refusal
    }
    for (const change of changes) {
      const refusal = whyNotChanged(change, this.#in.record)
      if (refusal) return refusal
    }
    return null
  }

  #whyNotOne(
    task: NewTask,
    index: number,
    names: Set<string>,
    wanted: readonly NewTask[],
    known: readonly unknown[],
  ): Refusal | null {
    const isKnown = known[index] !== undefined
    const field = (name: string) => `tasks[${index}].${name}`
    const { unique } = task
    if (unique) {
      const name = uniqueName(unique.key)
      const first = this.#in.firstAnswers.under(name)
      if (names.has(name))
        return refuseField('VALIDATION_FAILED', field('idempotencyKey'), 'is used twice in this request')
      names.add(name)
      if (first && first.bodyHash !== unique.bodyHash)
        return refuseField('IDEMPOTENCY_KEY_REUSED', field('idempotencyKey'), 'was used for another task')
    }
    // Whatever the request says: the task exists.
    if (isKnown) return null
    // Only what Baton makes serves another task.
    const reserved = task.serves ? null : whyNotReservedFor(null, task.onlyAgent, field('agent'))
    if (reserved) return reserved
    const missing = task.dependsOn.findIndex(
      (id, i) => this.#in.record(id)?.uuid !== task.details.dependsOn[i],
    )
    if (missing !== -1)
      return refuseField(
        'VALIDATION_FAILED',
        field(`dependsOn[${missing}]`),
        'names no task of this workspace',
      )
    const unwanted = task.addedBy ? this.#whyNotAdded(task, field, wanted.slice(0, index)) : null
    if (unwanted) return unwanted
    const outside = this.#whyNotIn(task, field('mission'))
    if (outside) return outside
    const needless = this.#whyNotServing(task)
    if (needless) return needless
    const unfit = whyNotPart(task, field('parentId'), { wanted, known, recordOf: this.#in.record })
    if (unfit) return unfit
    if (task.key === null) return null
    const name = keyName(task.projectId, task.key)
    if (names.has(name) || this.#givenKeys.has(name) || this.#in.view.takenKeys.has(name))
      return refuseField('ALREADY_EXISTS', field('key'), 'is the key of another task')
    names.add(name)
    return null
  }

  /** The tasks of a plan are created with its approval: their mission may not exist yet. */
  #whyNotIn({ missionId, details, purpose }: NewTask, field: string): Refusal | null {
    // A mission is reported on when it has ended.
    if (missionId === null || purpose === 'report') return null
    const mission = this.#in.mission(missionId)
    return details.mission == null ? whyEnded(mission, field) : whyNotJoined(mission, details.mission, field)
  }

  /** `before`: the tasks of the request that come before it. */
  #whyNotAdded(task: NewTask, field: (name: string) => string, before: readonly NewTask[]): Refusal | null {
    const { addedBy, missionId } = task
    if (!addedBy) return null
    const adder = this.#in.record(addedBy.id)
    const others = before.filter((one) => one.addedBy && one.missionId === missionId).length
    const counter = addedBy.root && this.#in.record(addedBy.root.id)
    const counted = missionId === null ? (counter?.children?.childCount ?? 0) : this.#in.children(missionId)
    const children = counted + others
    const at = { now: this.#in.view.now, outside: this.#in.outside() }
    return whyNotAdded(task, addedBy, adder, children, at, field)
  }

  #asChild(task: NewTask): NewTask {
    if (!task.addedBy) return task
    const { id, root } = task.addedBy
    const childDepth = depthOf(this.#in.record(id)!) + 1
    return { ...task, children: { childDepth, ...(root && { childRoot: root }) } }
  }

  /** The result it would judge must still wait for its verdict. */
  #whyNotServing({ serves }: NewTask): Refusal | null {
    if (!serves) return null
    const record = this.#in.record(serves.taskId)
    const isWaiting = record?.state === 'verifying' && record.generation === serves.generation
    return isWaiting ? null : refuse('CHANGED_SINCE', 'The result no longer waits for a verdict.')
  }
}

/** What a change that is one of several expects of its task. */
const IS_AS: Record<NonNullable<OnTask['expects']>, (record: TaskRecord, command: TaskCommand) => boolean> = {
  open: ({ state }) => !isTerminal(state),
  never_claimed: ({ state, generation }) => !isTerminal(state) && generation === 0,
  // Of the generation that the verdict names.
  awaits_verdict: ({ state, generation }, command) =>
    state === 'verifying' && command.kind === 'verdict' && command.generation === generation,
}

function whyNotChanged(
  { taskId, uuid, command, expects }: OnTask,
  recordOf: (id: number) => TaskRecord | undefined,
): Refusal | null {
  const record = recordOf(taskId)
  if (record?.uuid !== uuid) return refuse('NOT_FOUND', `There is no task ${uuid} in this workspace.`)
  if (expects !== undefined && !IS_AS[expects](record, command))
    return refuse('CHANGED_SINCE', `The task ${uuid} is ${record.state} now.`, {
      ...{ taskId: uuid, taskState: record.state, currentGeneration: record.generation },
    })
  const reserved =
    command.kind === 'replan' ? whyNotReservedFor(record, command.fields.onlyAgent, 'agent') : null
  if (reserved) return reserved
  const upstream = command.kind === 'replan' ? (command.edges?.on ?? []) : []
  const missing = upstream.find((on) => recordOf(on.id)?.uuid !== on.uuid)
  return missing ? refuse('VALIDATION_FAILED', `There is no task ${missing.uuid} in this workspace.`) : null
}

const countsOf = (rule: TriggerRule, upstream: readonly TaskRecord[]) =>
  countOf(
    rule,
    upstream.map(({ state }) => outcomeOf(state)),
  )

const parentOf = ({ parent }: NewTask, identities: readonly Identity[]): Identity | null =>
  parent === null ? null : 'id' in parent ? parent : identities[parent.at]!
