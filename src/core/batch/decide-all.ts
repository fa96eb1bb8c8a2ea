import type { Circumstances, NewTask, Reply, TaskCommand } from './commands.ts'
import { decide } from './decide.ts'
import { type Refusal, refuse, refuseField } from './errors.ts'
import { uuidCarrying } from './ids.ts'
import type { Limits } from './limits.ts'
import { type Actor, type Effects, noEffects, type TaskRecord } from './records.ts'
import { createTask } from './rules/create.ts'

/** A request under an idempotency key gets the first answer again, and refuses the key for any other request. */
export interface Idempotency {
  key: string
  bodyHash: string
}

/** Which waiting tasks somebody may be given: those kept for the agent, and those anybody with its capabilities may have. */
interface Pick {
  agent: string
  capabilities: readonly string[]
}

export interface OnTask {
  taskId: number
  uuid: string
  command: TaskCommand
}

interface Common {
  actor: Actor
  idempotency?: Idempotency | undefined
}
export type Request = Common &
  (
    | ({ on: 'task' } & OnTask)
    /** Each on its own account, but one request: one answer under one idempotency key. */
    | { on: 'many'; items: readonly OnTask[] }
    | { on: 'next'; pick: Pick; session: string; leaseMs: number; limit: number }
    | { on: 'new'; tasks: readonly NewTask[] }
  )

/** What a batch of requests needs locked or looked up before it can be decided. */
export interface Ask {
  /** Ascending: everybody locks in one order, so nobody deadlocks. */
  taskIds: number[]
  /** The head of the queue for each set of capabilities. */
  waiting: { capabilities: readonly string[]; limit: number }[]
  /** Tasks kept for single agents. */
  reserved: { agent: string; capabilities: readonly string[]; limit: number }[]
  /** Generations that results are offered for: of those that are past, it must be known who held them. */
  offered: { taskId: number; generation: number }[]
  newTasks: number
  /** Task keys somebody wants to give. */
  newKeys: string[]
  idempotencyKeys: string[]
}

export interface Remembered {
  bodyHash: string
  reply: Reply
}

/** What the store saw under its locks, with its clock read after them. */
export interface View {
  now: number
  limits: Limits
  activeClaims: number
  records: Map<number, TaskRecord>
  /** Ids for each entry of `Ask.waiting`, in the order of the queue; their records are in `records`. */
  waiting: number[][]
  /** Ids of the tasks kept for the asked agents. */
  reserved: number[]
  /** The sessions of past generations of `Ask.offered`, by `heldName`. */
  pastHolders: ReadonlyMap<string, string>
  /** An unused id and 22 random bits for each new task. */
  fresh: { id: number; random: number }[]
  /** Those of `Ask.newKeys` that are given already. */
  takenKeys: ReadonlySet<string>
  remembered: Map<string, Remembered>
}

export interface Changes extends Effects {
  tasks: TaskRecord[]
  created: { record: TaskRecord; task: NewTask }[]
  remember: { key: string; bodyHash: string; reply: Reply }[]
  activeClaimsDelta: number
}

export function askFor(requests: readonly Request[]): Ask {
  const taskIds = new Set<number>()
  const heads = new Map<string, readonly string[]>()
  const reserved = new Map<string, Pick>()
  const wantedBy = new Map<string, number>()
  const idempotencyKeys = new Set<string>()
  const newKeys = new Set<string>()
  const offered: Ask['offered'] = []
  const offers = ({ taskId, command }: OnTask) => {
    taskIds.add(taskId)
    if (command.kind === 'submit') offered.push({ taskId, generation: command.fence.generation })
  }
  let wanted = 0
  let newTasks = 0
  for (const request of requests) {
    if (request.on === 'task') offers(request)
    else if (request.on === 'many') request.items.forEach(offers)
    else if (request.on === 'next') {
      const { agent, capabilities } = request.pick
      heads.set(headName(capabilities), capabilities)
      reserved.set(JSON.stringify([agent, capabilities]), request.pick)
      wantedBy.set(agent, (wantedBy.get(agent) ?? 0) + request.limit)
      wanted += request.limit
    } else {
      newTasks += request.tasks.length
      // Locked too: a dependency that completes meanwhile either is seen as completed or sees the new task waiting.
      for (const task of request.tasks) {
        for (const id of task.dependsOn) taskIds.add(id)
        if (task.key !== null) newKeys.add(task.key)
      }
    }
    if (request.idempotency) idempotencyKeys.add(request.idempotency.key)
  }
  return {
    taskIds: [...taskIds].sort((a, b) => a - b),
    // Each head is as long as all callers together want: they may all be after the same tasks.
    waiting: [...heads.values()].map((capabilities) => ({ capabilities, limit: wanted })),
    reserved: [...reserved.values()].map((pick) => ({ ...pick, limit: wantedBy.get(pick.agent)! })),
    offered,
    newTasks,
    newKeys: [...newKeys],
    idempotencyKeys: [...idempotencyKeys],
  }
}

export const heldName = (taskId: number, generation: number) => `${taskId}/${generation}`

const headName = (capabilities: readonly string[]) => JSON.stringify(capabilities)

/** Decides a whole batch in order: each request sees what the ones before it did. Replies stand in the order of requests. */
export function decideAll(view: View, requests: readonly Request[]): { replies: Reply[]; changes: Changes } {
  return new Batch(view, requests).run()
}

class Batch {
  readonly #view: View
  readonly #requests: readonly Request[]
  readonly #effects = noEffects()
  readonly #changed = new Map<number, TaskRecord>()
  readonly #created: Changes['created'] = []
  readonly #newKeys = new Set<string>()
  readonly #remember = new Map<string, { key: string } & Remembered>()
  /** Last first, so that what is taken can be dropped from the end. */
  readonly #heads = new Map<string, number[]>()
  #activeClaimsDelta = 0
  #countedClaims = 0
  #freshUsed = 0

  constructor(view: View, requests: readonly Request[]) {
    this.#view = view
    this.#requests = requests
    askFor(requests).waiting.forEach(({ capabilities }, i) => {
      this.#heads.set(headName(capabilities), view.waiting[i]!.toReversed())
    })
  }

  run() {
    const replies = this.#requests.map((request) => this.#answer(request))
    const changes: Changes = {
      ...this.#effects,
      tasks: [...this.#changed.values()],
      created: this.#created,
      remember: [...this.#remember.values()],
      activeClaimsDelta: this.#activeClaimsDelta,
    }
    return { replies, changes }
  }

  #answer(request: Request): Reply {
    const { idempotency } = request
    if (!idempotency) return this.#decide(request)
    // Before any rule: the first answer stands even if the state, the fence or a limit would now say otherwise.
    const first = this.#remember.get(idempotency.key) ?? this.#view.remembered.get(idempotency.key)
    if (first && first.bodyHash !== idempotency.bodyHash)
      return refuse('IDEMPOTENCY_KEY_REUSED', `The key "${idempotency.key}" stands for another request.`)
    if (first) return asOfNow(first.reply, this.#view.now)
    const reply = this.#decide(request)
    // A refusal or an empty queue changed nothing, so asking again under the same key is a new question.
    if (reply.ok && reply.reason !== 'NO_WORK' && reply.reason !== 'ALL_REFUSED')
      this.#remember.set(idempotency.key, { ...idempotency, reply })
    return reply
  }

  #decide(request: Request): Reply {
    switch (request.on) {
      case 'task':
        return this.#apply(request.taskId, request.uuid, request.command, request.actor)
      case 'many': {
        const replies = request.items.map((item) =>
          this.#apply(item.taskId, item.uuid, item.command, request.actor),
        )
        return { ok: true, reason: replies.some(({ ok }) => ok) ? 'SOME_DONE' : 'ALL_REFUSED', replies }
      }
      case 'next':
        return this.#next(request)
      case 'new':
        return this.#create(request.tasks, request.actor)
    }
  }

  #apply(taskId: number, uuid: string, command: TaskCommand, actor: Actor): Reply {
    const record = this.#record(taskId)
    if (!record || record.uuid !== uuid)
      return refuse('NOT_FOUND', `There is no task ${uuid} in this workspace.`)
    const decision = decide(record, command, this.#around(taskId, actor), this.#effects)
    if (decision.record !== record) this.#changed.set(taskId, decision.record)
    this.#countClaims()
    return decision.reply
  }

  #record = (id: number) => this.#changed.get(id) ?? this.#view.records.get(id)

  /** Who held a past generation: it may have become past only in this batch. */
  #sessionOf(taskId: number, generation: number): string | undefined {
    const past = this.#view.pastHolders.get(heldName(taskId, generation))
    if (past !== undefined) return past
    const before = this.#view.records.get(taskId)
    if (before?.generation === generation) return before.session ?? undefined
    const isIt = (claim: Effects['claims'][number]) =>
      claim.taskId === taskId && claim.generation === generation
    const opened = this.#effects.claims.find((claim) => claim.kind === 'opened' && isIt(claim))
    return opened?.kind === 'opened' ? opened.session : undefined
  }

  #around(taskId: number, actor: Actor): Circumstances {
    const { now, limits, activeClaims } = this.#view
    return {
      now,
      limits,
      actor,
      roomForClaims: limits.maxConcurrentClaims - activeClaims - this.#activeClaimsDelta,
      sessionOf: (generation) => this.#sessionOf(taskId, generation),
    }
  }

  #countClaims(): void {
    const { claims } = this.#effects
    for (; this.#countedClaims < claims.length; this.#countedClaims++)
      this.#activeClaimsDelta += claims[this.#countedClaims]!.kind === 'opened' ? 1 : -1
  }

  #next(request: Extract<Request, { on: 'next' }>): Reply {
    const { pick, session, leaseMs, limit, actor } = request
    const command: TaskCommand = {
      kind: 'claim',
      agent: pick.agent,
      capabilities: pick.capabilities,
      session,
      leaseMs,
    }
    const claims: { claim: unknown; record: TaskRecord }[] = []
    for (const record of this.#stillWaitingFor(pick)) {
      if (claims.length === limit) break
      const reply = this.#apply(record.id, record.uuid, command, actor)
      if (reply.ok) claims.push({ claim: reply.claim, record: this.#record(record.id)! })
      else if (reply.code === 'LIMIT_REACHED') {
        if (claims.length === 0) return reply
        break
      }
    }
    return { ok: true, reason: claims.length > 0 ? 'GRANTED' : 'NO_WORK', claims }
  }

  /** What nobody in this batch has taken yet, in the order of the queue: the common head and what is kept for the agent. */
  *#stillWaitingFor(pick: Pick): Generator<TaskRecord> {
    const head = this.#heads.get(headName(pick.capabilities))!
    // Many callers may share a head; what the ones before took is passed over once, not by each of them.
    while (head.length > 0 && this.#record(head.at(-1)!)!.rank === null) head.pop()
    const own = [...new Set(this.#view.reserved)]
      .map(this.#record)
      .filter((record) => record!.onlyAgent === pick.agent && record!.rank !== null)
      .sort((a, b) => a!.rank! - b!.rank! || a!.id - b!.id)
    let left = head.length
    for (let o = 0; left > 0 || o < own.length; ) {
      const common = left > 0 ? this.#record(head[left - 1]!) : undefined
      const isCommon = isBefore(common, own[o])
      const next = isCommon ? common! : own[o]!
      if (isCommon) left -= 1
      else o += 1
      if (next.rank !== null) yield next
    }
  }

  #create(tasks: readonly NewTask[], actor: Actor): Reply {
    const refusal = this.#whyNotCreated(tasks)
    if (refusal) return refusal
    const dependencies = tasks.map((task) => task.dependsOn.map((id) => this.#record(id)!))
    const records = tasks.map((task, index) => {
      const { id, random } = this.#view.fresh[this.#freshUsed++]!
      const identity = { id, uuid: uuidCarrying(id, this.#view.now, random) }
      const states = dependencies[index]!.map(({ state }) => state)
      const { record, event } = createTask(task, states, identity, actor, this.#view.now)
      this.#created.push({ record, task })
      if (task.key !== null) this.#newKeys.add(task.key)
      this.#effects.events.push(event)
      return record
    })
    return { ok: true, reason: 'CREATED', records }
  }

  #whyNotCreated(tasks: readonly NewTask[]): Refusal | null {
    const keys = new Set<string>()
    for (const [index, task] of tasks.entries()) {
      const missing = task.dependsOn.findIndex(
        (id, i) => this.#record(id)?.uuid !== task.details.dependsOn[i],
      )
      if (missing !== -1)
        return refuseField(
          'VALIDATION_FAILED',
          `tasks[${index}].dependsOn[${missing}]`,
          'names no task of this workspace',
        )
      if (task.key === null) continue
      if (keys.has(task.key) || this.#newKeys.has(task.key) || this.#view.takenKeys.has(task.key))
        return refuseField('ALREADY_EXISTS', `tasks[${index}].key`, 'is the key of another task')
      keys.add(task.key)
    }
    return null
  }
}

/** In the order of the queue; what was taken has no rank any more and may come first, to be passed over. */
function isBefore(a: TaskRecord | undefined, b: TaskRecord | undefined): boolean {
  if (!a || !b) return a !== undefined
  const order = (a.rank ?? Number.NEGATIVE_INFINITY) - (b.rank ?? Number.NEGATIVE_INFINITY)
  return Number.isNaN(order) || order < 0 || (order === 0 && a.id < b.id)
}

/**
 * The first answer, told again later: the same claims, but the time left is what is left now. A client counts from the
 * start of the request that was answered, which may be a retry.
 */
function asOfNow(reply: Reply, now: number): Reply {
  const { claim, claims, replies } = reply as {
    claim?: Timed
    claims?: { claim: Timed }[]
    replies?: Reply[]
  }
  if ('ttlMs' in reply) return { ...reply, ...timeLeft(reply as unknown as Timed, now) } as Reply
  if (claim) return { ...reply, claim: timeLeft(claim, now) } as Reply
  if (claims)
    return { ...reply, claims: claims.map((one) => ({ ...one, claim: timeLeft(one.claim, now) })) } as Reply
  if (replies) return { ...reply, replies: replies.map((one) => asOfNow(one, now)) } as Reply
  return reply
}

interface Timed {
  leaseExpiresAt: string
  ttlMs: number
}

const timeLeft = (claim: Timed, now: number) => ({
  ...claim,
  ttlMs: Math.max(0, Date.parse(claim.leaseExpiresAt) - now),
})
