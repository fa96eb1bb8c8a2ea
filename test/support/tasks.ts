import { createHash, randomUUID } from 'node:crypto'
import type { Request } from '../../src/kernel/batch/requests.ts'
import { Combiner } from '../../src/kernel/combiner.ts'
import type { Store } from '../../src/kernel/store/store.ts'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type {
  NewTask,
  SessionCommand,
  SessionOpening,
  TaskCommand,
  TaskDetails,
} from '../../src/kinds/task/command.ts'
import type { Purpose, TaskRecord } from '../../src/kinds/task/record.ts'
import type { TaskPatch } from '../../src/kinds/task/rules/patch.ts'
import type { FailureClass } from '../../src/kinds/task/rules/retry.ts'
import { outcomeOf, type UpstreamReport } from '../../src/kinds/task/rules/upstream-counts.ts'
import { idCarriedBy } from '../../src/pure/ids.ts'
import type { Reply } from './replies.ts'

export interface Holder {
  agent: string
  session: string
}
/** A holder at a generation: what it sends with each write. */
export interface Hold extends Holder {
  generation: number
}
export type Task = Pick<TaskRecord, 'id' | 'uuid'>
export type Overrides = Partial<Omit<NewTask, 'details'>> & Partial<Omit<TaskDetails, 'dependsOn' | 'parent'>>
type Command<K extends TaskCommand['kind']> = Omit<Extract<TaskCommand, { kind: K }>, 'kind' | 'fence'>

/** Long enough for any machine: no test waits for it, and none is disturbed by its end. */
export const LONG_LEASE_MS = 300_000

export const holder = (agent: string, session = `session-of-${agent}`): Holder => ({ agent, session })
export const atGeneration = (by: Holder, generation: number): Hold => ({ ...by, generation })

/** `dependsOn` takes tasks' internal ids; their external ids are in the details, as the API would send them. */
export function newTask(overrides: Overrides = {}, waitsFor: readonly Task[] = []): NewTask {
  const { title, taskType, description, input, tags, userId, project, metadata, ...rest } = overrides
  return {
    key: null,
    projectId: 0,
    parent: null,
    merge: 'none',
    priority: 5,
    maxRetries: 3,
    maxContinuations: 10,
    onlyAgent: null,
    capabilities: [],
    verification: 'none',
    runAt: null,
    expiresAt: null,
    missionId: null,
    purpose: 'work',
    optional: false,
    ...{ timers: null, continuation: null, agentChoice: null, children: null },
    dependsOnNew: [],
    unique: null,
    triggerRule: 'all_success',
    dependsOn: waitsFor.map(({ id }) => id),
    ...rest,
    details: {
      title: title ?? 'Fix login',
      taskType: taskType ?? 'coding',
      description: description ?? null,
      input: input ?? null,
      tags: tags ?? [],
      userId: userId ?? null,
      metadata,
      project: project ?? null,
      parent: null,
      dependsOn: waitsFor.map(({ uuid }) => uuid),
    },
  }
}

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

export const submissionOf = (data: string, summary: string | null = null) => ({
  data,
  hash: sha256(data),
  bytes: Buffer.byteLength(data),
  summary,
})

/** How a request ended, in one word: its reason, or the code of its refusal. */
export const outcome = (reply: Reply): string => (reply.ok ? String(reply.reason) : reply.code)

/** `['GRANTED', 'DENIED_ACTIVE_CLAIM', …]` as counts. */
export function tally(replies: readonly Reply[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const reply of replies) counts[outcome(reply)] = (counts[outcome(reply)] ?? 0) + 1
  return counts
}

/** The hold of a granted claim, or a thrown refusal: for steps that must succeed before the test's own point. */
export function granted(reply: Reply): Hold {
  if (!reply.ok) throw new Error(`expected a claim, got ${reply.code}: ${reply.detail}`)
  return reply.claim as Hold
}

/** The tasks that `next` returned, in order. */
export const grantedTasks = (reply: Reply): TaskRecord[] =>
  reply.ok ? (reply.claims as { record: TaskRecord }[]).map(({ record }) => record) : []

interface NextOptions {
  limit?: number
  leaseMs?: number
  capabilities?: readonly string[]
  projectId?: number
  tracks?: readonly string[]
  purposes?: readonly Purpose[]
}

/** Work in one workspace, through a combiner, as short functions. */
export class Work {
  readonly store: Store
  readonly workspace: number
  readonly combiner: Combiner
  readonly #key: string | undefined

  constructor(store: Store, workspace: number, combiner = new Combiner(store), key?: string) {
    this.store = store
    this.workspace = workspace
    this.combiner = combiner
    this.#key = key
  }

  /** The same, with an idempotency key on every request. */
  under = (key: string) => new Work(this.store, this.workspace, this.combiner, key)
  /** The same, through another combiner. */
  through = (combiner: Combiner) => new Work(this.store, this.workspace, combiner, this.#key)

  run(request: Request): Promise<Reply> {
    const idempotency = this.#key ? { key: this.#key, bodyHash: sha256(JSON.stringify(request)) } : undefined
    return this.combiner.run(this.workspace, { ...request, idempotency })
  }

  command(task: Task, command: TaskCommand, actor = 'key:test'): Promise<Reply> {
    return this.run({ on: 'task', actor, taskId: task.id, uuid: task.uuid, command })
  }

  tryCreate = (tasks: readonly NewTask[]) => this.run({ on: 'new', actor: 'key:test', tasks })

  async createAll(tasks: readonly NewTask[]): Promise<TaskRecord[]> {
    const reply = await this.tryCreate(tasks)
    if (!reply.ok) throw new Error(`expected tasks, got ${reply.code}: ${reply.detail}`)
    return reply.records as TaskRecord[]
  }

  async create(overrides: Overrides = {}, waitsFor: readonly Task[] = []): Promise<TaskRecord> {
    return (await this.createAll([newTask(overrides, waitsFor)]))[0]!
  }

  claim(task: Task, by: Holder, { leaseMs = LONG_LEASE_MS, capabilities = [] as readonly string[] } = {}) {
    const { agent, session } = by
    const command: TaskCommand = { kind: 'claim', agent, session, leaseMs, capabilities }
    return this.command(task, command, `agent:${agent}`)
  }

  next(
    by: Holder,
    {
      limit = 1,
      leaseMs = LONG_LEASE_MS,
      capabilities = [] as readonly string[],
      ...where
    }: NextOptions = {},
  ) {
    const { agent, session } = by
    const pick = { agent, capabilities, ...where }
    return this.run({ on: 'next', actor: `agent:${agent}`, pick, session, leaseMs, limit })
  }

  #held(task: Task, { agent, session, generation }: Hold, command: Record<string, unknown>): Promise<Reply> {
    const fenced = { ...command, fence: { session, generation } } as unknown as TaskCommand
    return this.command(task, fenced, `agent:${agent}`)
  }

  renew = (task: Task, by: Hold, leaseMs?: number) => this.#held(task, by, { kind: 'renew', leaseMs })
  start = (task: Task, by: Hold) => this.#held(task, by, { kind: 'start' })
  progress = (task: Task, by: Hold, said: Partial<Command<'progress'>> = {}) =>
    this.#held(task, by, { kind: 'progress', ...said })
  continueLater = (task: Task, by: Hold) => this.#held(task, by, { kind: 'continue' })
  release = (task: Task, by: Hold, reason = 'VOLUNTARY') => this.#held(task, by, { kind: 'release', reason })
  fail = (task: Task, by: Hold, failureClass: FailureClass = 'infrastructure', error: string | null = null) =>
    this.#held(task, by, { kind: 'fail', failureClass, error })
  submit = (task: Task, by: Hold, result: unknown = { done: true }, summary: string | null = null) =>
    this.submitText(task, by, JSON.stringify(result), summary)

  submitText(task: Task, by: Hold, data: string, summary: string | null = null): Promise<Reply> {
    return this.#held(task, by, { kind: 'submit', submission: submissionOf(data, summary) })
  }

  /** Submits, and asks for the next task in the same request. */
  submitThenNext(task: Task, by: Hold, leaseMs = LONG_LEASE_MS, result: unknown = { done: true }) {
    const { agent, session, generation } = by
    const submission = submissionOf(JSON.stringify(result))
    const command: TaskCommand = { kind: 'submit', fence: { session, generation }, submission }
    const next = { pick: { agent, capabilities: [] }, session, leaseMs, limit: 1 }
    const item = { taskId: task.id, uuid: task.uuid, command }
    return this.run({ on: 'taskThenNext', actor: `agent:${agent}`, item, next })
  }

  cancel = (task: Task, reason: string | null = null) => this.command(task, { kind: 'cancel', reason })
  pause = (task: Task, reason: string | null = null) => this.command(task, { kind: 'pause', reason })
  resume = (task: Task) => this.command(task, { kind: 'resume' })
  retry = (task: Task, reason: string | null = null) => this.command(task, { kind: 'retry', reason })
  reset = (task: Task, reason: string | null = null) => this.command(task, { kind: 'reset', reason })
  approve = (task: Task, comment: string | null = null) => this.command(task, { kind: 'approve', comment })
  reject = (task: Task, comment: string | null = null) => this.command(task, { kind: 'reject', comment })
  archive = (task: Task) => this.command(task, { kind: 'archive' })
  update = (task: Task, patch: TaskPatch, ifVersion: number | null = null) =>
    this.command(task, { kind: 'update', ifVersion, patch })
  /** A command on a session. */
  session = (name: string, command: SessionCommand, actor = 'key:test') =>
    this.run({ on: 'session', actor, key: name, uuid: randomUUID(), command })

  /** A worker: a session with a capacity. */
  register = (name: string, capacity: number, more: Partial<SessionOpening> = {}) =>
    this.session(name, {
      kind: 'open',
      opening: {
        agent: null,
        userId: null,
        project: null,
        capacity,
        capabilities: [],
        silenceMs: null,
        ...more,
      },
    })

  /** Time passed: whatever is due happens. */
  elapse = (task: Task) => this.command(task, { kind: 'elapse' }, 'system')

  /** Counts the task's dependencies as they stand, and unblocks it if it may run. */
  async unblock(task: Task): Promise<Reply> {
    const { version, upstream } = await this.record(task)
    const edges = await this.reports(task)
    const whole = upstream === null ? { version } : {}
    return this.command(task, { kind: 'countUpstream', edges, ...whole }, 'system')
  }

  /** The states of everything that it depends on. */
  async reports(task: Task): Promise<UpstreamReport[]> {
    const upstream = await this.store.dependencies(this.workspace, task.id)
    return upstream.map(({ uuid, version, state }) => ({
      dependsOn: idCarriedBy(uuid)!,
      uuid,
      version,
      outcome: outcomeOf(state),
    }))
  }

  async record(task: Pick<Task, 'id'>): Promise<TaskRecord> {
    const stored = await this.store.task(this.workspace, task.id)
    if (!stored) throw new Error(`task ${task.id} does not exist`)
    return stored.record
  }

  details = async (task: Task) => (await this.store.task(this.workspace, task.id))!.details
  claims = (task: Task) => this.store.claims(this.workspace, task.id)
  results = (task: Task) => this.store.results(this.workspace, task.id)

  /** The whole log of the workspace after `seq`, page by page. */
  async events(after = 0): Promise<StoredEvent[]> {
    const all: StoredEvent[] = []
    for (let page: StoredEvent[]; ; all.push(...page)) {
      page = await this.store.events(this.workspace, all.at(-1)?.seq ?? after, 500)
      if (page.length === 0) return all
    }
  }

  eventsOf = async (task: Task) => (await this.events()).filter(({ taskId }) => taskId === task.id)
}
