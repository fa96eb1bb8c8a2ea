import type { NewTask, Reply } from '../commands.ts'
import { type Refusal, refuse, refuseField } from '../errors.ts'
import { uuidCarrying } from '../ids.ts'
import type { Actor, TaskRecord } from '../records.ts'
import { createTask } from '../rules/create.ts'
import { type Changes, keyName, type OnTask, type Remembered, uniqueName, type View } from './requests.ts'

/** What creating needs of the batch it happens in. */
interface Surroundings {
  view: View
  /** A task that was there before this batch, as it is now. */
  record: (id: number) => TaskRecord | undefined
  apply: (item: OnTask, actor: Actor) => Reply
  emit: (event: Changes['events'][number]) => void
  firstAnswer: (key: string) => Remembered | undefined
  remember: (key: string, bodyHash: string, reply: Reply) => void
}

interface Identity {
  id: number
  uuid: string
}

/** New tasks: all of a request or none. They may wait for each other and be parts of each other. */
export class Creation {
  readonly #in: Surroundings
  readonly #givenKeys = new Set<string>()
  readonly created: Changes['created'] = []
  readonly dependencies: Changes['dependencies'] = []
  #freshUsed = 0

  constructor(surroundings: Surroundings) {
    this.#in = surroundings
  }

  create(wanted: readonly NewTask[], changes: readonly OnTask[], actor: Actor): Reply {
    const known = wanted.map((task) => this.#madeBefore(task))
    const order = inOrderOfDependence(wanted)
    const refusal = this.#whyNot(wanted, known, order, changes)
    if (refusal) return refusal
    const { now, fresh } = this.#in.view
    // In the order of the request: among equals, that is the order of the queue.
    const identities = wanted.map((_, i) => {
      const first = known[i]
      if (first) return first as Identity
      const { id, random } = fresh[this.#freshUsed++]!
      return { id, uuid: uuidCarrying(id, now, random) }
    })
    const records: (TaskRecord | undefined)[] = known.map((first) => first as TaskRecord | undefined)
    for (const index of order!) {
      if (!known[index]) records[index] = this.#createOne(wanted, index, identities, records, actor)
    }
    this.#divideParents(wanted, known, identities, actor)
    for (const change of changes) this.#in.apply(change, actor)
    return { ok: true, reason: 'CREATED', records, existing: known.map((first) => first !== undefined) }
  }

  #createOne(
    wanted: readonly NewTask[],
    index: number,
    identities: readonly Identity[],
    records: readonly (TaskRecord | undefined)[],
    actor: Actor,
  ): TaskRecord {
    const task = wanted[index]!
    const { id, uuid } = identities[index]!
    const upstream = [
      ...task.dependsOn.map((other) => this.#in.record(other)!),
      ...[...new Set(upstreamInRequest(wanted, index))].map((at) => records[at]!),
    ]
    for (const { id: dependsOn, uuid: dependsOnUuid } of upstream)
      this.dependencies.push({ taskId: id, dependsOn, dependsOnUuid, rule: task.triggerRule })
    const parent = parentOf(task, identities)
    const states = upstream.map(({ state }) => state)
    const identity = { id, uuid, parentId: parent?.id ?? null, dependsOn: upstream.map((one) => one.uuid) }
    const { record, event } = createTask(task, states, identity, actor, this.#in.view.now)
    this.created.push({ record, task, parentUuid: parent?.uuid ?? null })
    if (task.key !== null) this.#givenKeys.add(keyName(task.projectId, task.key))
    this.#in.emit(event)
    if (task.unique) {
      const { key, bodyHash } = task.unique
      this.#in.remember(uniqueName(key), bodyHash, { ok: true, reason: 'CREATED', record })
    }
    return record
  }

  /** Tasks that were there before and get parts now wait for those. */
  #divideParents(
    wanted: readonly NewTask[],
    known: readonly unknown[],
    identities: readonly Identity[],
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
      this.#in.apply(
        { taskId: parent.id, uuid: parent.uuid, command: { kind: 'divide', merge, parts: at.length } },
        actor,
      )
      for (const one of at) {
        const { id, uuid } = identities[one]!
        this.dependencies.push({ taskId: parent.id, dependsOn: id, dependsOnUuid: uuid, rule: 'all_success' })
      }
    }
  }

  #madeBefore({ unique }: NewTask): TaskRecord | undefined {
    return unique ? (this.#in.firstAnswer(uniqueName(unique.key))?.reply.record as TaskRecord) : undefined
  }

  #whyNot(
    wanted: readonly NewTask[],
    known: readonly unknown[],
    order: readonly number[] | null,
    changes: readonly OnTask[],
  ): Refusal | null {
    if (!order) return refuse('VALIDATION_FAILED', 'The tasks wait for each other in a circle.')
    const names = new Set<string>()
    for (const [index, task] of wanted.entries()) {
      const refusal = this.#whyNotOne(task, index, known[index] !== undefined, names)
      if (refusal) return refusal
    }
    for (const { taskId, uuid } of changes)
      if (this.#in.record(taskId)?.uuid !== uuid)
        return refuse('NOT_FOUND', `There is no task ${uuid} in this workspace.`)
    return null
  }

  #whyNotOne(task: NewTask, index: number, isKnown: boolean, names: Set<string>): Refusal | null {
    const field = (name: string) => `tasks[${index}].${name}`
    const missing = task.dependsOn.findIndex(
      (id, i) => this.#in.record(id)?.uuid !== task.details.dependsOn[i],
    )
    if (missing !== -1)
      return refuseField(
        'VALIDATION_FAILED',
        field(`dependsOn[${missing}]`),
        'names no task of this workspace',
      )
    const unfit = this.#whyNotPart(task, field('parentId'))
    if (unfit) return unfit
    if (task.unique) {
      const name = uniqueName(task.unique.key)
      const first = this.#in.firstAnswer(name)
      if (names.has(name))
        return refuseField('VALIDATION_FAILED', field('idempotencyKey'), 'is given twice in this request')
      names.add(name)
      if (first && first.bodyHash !== task.unique.bodyHash)
        return refuseField('IDEMPOTENCY_KEY_REUSED', field('idempotencyKey'), 'stands for another task')
    }
    if (task.key === null || isKnown) return null
    const name = keyName(task.projectId, task.key)
    if (names.has(name) || this.#givenKeys.has(name) || this.#in.view.takenKeys.has(name))
      return refuseField('ALREADY_EXISTS', field('key'), 'is the key of another task')
    names.add(name)
    return null
  }

  #whyNotPart({ parent }: NewTask, field: string): Refusal | null {
    if (!parent || !('id' in parent)) return null
    const record = this.#in.record(parent.id)
    if (record?.uuid !== parent.uuid)
      return refuseField('VALIDATION_FAILED', field, 'names no task of this workspace')
    if (record.parentId !== null)
      return refuseField('VALIDATION_FAILED', field, 'names a task that is a part itself')
    if (record.state !== 'queued' && record.state !== 'pending')
      return refuseField(
        'WRONG_STATE',
        field,
        `names a task that is ${record.state}, which cannot be divided`,
      )
    return null
  }
}

const parentOf = ({ parent }: NewTask, identities: readonly Identity[]): Identity | null =>
  parent === null ? null : 'id' in parent ? parent : identities[parent.at]!

/** What a task waits for among the tasks of its request: what it names, and its own parts. */
function upstreamInRequest(wanted: readonly NewTask[], index: number): number[] {
  const { merge, dependsOnNew } = wanted[index]!
  if (merge === 'none') return [...dependsOnNew]
  const parts = wanted.flatMap(({ parent }, at) =>
    parent && 'at' in parent && parent.at === index ? [at] : [],
  )
  return [...dependsOnNew, ...parts]
}

/** Places in the request, each after all it waits for; null when that is impossible. */
function inOrderOfDependence(wanted: readonly NewTask[]): number[] | null {
  if (wanted.every(({ dependsOnNew, parent }) => dependsOnNew.length === 0 && parent === null))
    return wanted.map((_, i) => i)
  const waitingFor: number[] = new Array(wanted.length).fill(0)
  const downstream: number[][] = wanted.map(() => [])
  const edge = (from: number, to: number) => {
    waitingFor[from]! += 1
    downstream[to]!.push(from)
  }
  wanted.forEach(({ dependsOnNew, parent }, i) => {
    for (const on of new Set(dependsOnNew)) edge(i, on)
    if (parent && 'at' in parent) edge(parent.at, i)
  })
  const order = wanted.flatMap((_, i) => (waitingFor[i] === 0 ? [i] : []))
  for (let done = 0; done < order.length; done++)
    for (const next of downstream[order[done]!]!) {
      waitingFor[next]! -= 1
      if (waitingFor[next] === 0) order.push(next)
    }
  return order.length === wanted.length ? order : null
}
