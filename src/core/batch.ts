import type { Circumstances, NewTask, Reply, TaskCommand } from './commands.ts'
import { decide } from './decide.ts'
import { refuse } from './errors.ts'
import { uuidCarrying } from './ids.ts'
import type { Limits } from './limits.ts'
import { type Actor, type Effects, noEffects, type TaskRecord } from './records.ts'
import { createTask } from './rules/create.ts'

/** A request under an idempotency key gets the first answer again, and refuses the key for any other request. */
export interface Idempotency {
  key: string
  bodyHash: string
}

/** Which waiting tasks somebody may be given. Equal filters share one look at the queue. */
export interface Pick {
  agent: string
  capabilities: readonly string[]
}

interface Common {
  actor: Actor
  idempotency?: Idempotency | undefined
}
export type Request = Common &
  (
    | { on: 'task'; taskId: number; uuid: string; command: TaskCommand }
    | { on: 'next'; pick: Pick; session: string; leaseMs: number; limit: number }
    | { on: 'new'; tasks: readonly NewTask[] }
  )

/** What a batch of requests needs locked or looked up before it can be decided. */
export interface Ask {
  /** Ascending: everybody locks in one order, so nobody deadlocks. */
  taskIds: number[]
  picks: { pick: Pick; limit: number }[]
  newTasks: number
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
  /** Task ids for each entry of `Ask.picks`; their records are in `records`. */
  picked: number[][]
  /** An unused id and 22 random bits for each new task. */
  fresh: { id: number; random: number }[]
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
  const picks = new Map<string, { pick: Pick; limit: number }>()
  const idempotencyKeys = new Set<string>()
  let newTasks = 0
  for (const request of requests) {
    if (request.on === 'task') taskIds.add(request.taskId)
    else if (request.on === 'next') {
      const name = pickName(request.pick)
      const known = picks.get(name)
      if (known) known.limit += request.limit
      else picks.set(name, { pick: request.pick, limit: request.limit })
    } else {
      newTasks += request.tasks.length
      // Locked too: a dependency that completes meanwhile either is seen as completed or sees the new task waiting.
      for (const task of request.tasks) for (const id of task.dependsOn) taskIds.add(id)
    }
    if (request.idempotency) idempotencyKeys.add(request.idempotency.key)
  }
  return {
    taskIds: [...taskIds].sort((a, b) => a - b),
    picks: [...picks.values()],
    newTasks,
    idempotencyKeys: [...idempotencyKeys],
  }
}

const pickName = (pick: Pick) => JSON.stringify([pick.agent, pick.capabilities])

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
  readonly #remember = new Map<string, { key: string } & Remembered>()
  readonly #candidates = new Map<string, number[]>()
  #activeClaimsDelta = 0
  #countedClaims = 0
  #freshUsed = 0

  constructor(view: View, requests: readonly Request[]) {
    this.#view = view
    this.#requests = requests
    askFor(requests).picks.forEach(({ pick }, i) => {
      this.#candidates.set(pickName(pick), [...(view.picked[i] ?? [])])
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
    if (first) return first.reply
    const reply = this.#decide(request)
    // A refusal or an empty queue changed nothing, so asking again under the same key is a new question.
    if (reply.ok && reply.reason !== 'NO_WORK') this.#remember.set(idempotency.key, { ...idempotency, reply })
    return reply
  }

  #decide(request: Request): Reply {
    switch (request.on) {
      case 'task':
        return this.#apply(request.taskId, request.uuid, request.command, request.actor)
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
    const decision = decide(record, command, this.#around(actor), this.#effects)
    if (decision.record !== record) this.#changed.set(taskId, decision.record)
    this.#countClaims()
    return decision.reply
  }

  #record = (id: number) => this.#changed.get(id) ?? this.#view.records.get(id)

  #around(actor: Actor): Circumstances {
    const { now, limits, activeClaims } = this.#view
    return {
      now,
      limits,
      actor,
      roomForClaims: limits.maxConcurrentClaims - activeClaims - this.#activeClaimsDelta,
    }
  }

  #countClaims(): void {
    const { claims } = this.#effects
    for (; this.#countedClaims < claims.length; this.#countedClaims++)
      this.#activeClaimsDelta += claims[this.#countedClaims]!.kind === 'opened' ? 1 : -1
  }

  #next(request: Extract<Request, { on: 'next' }>): Reply {
    const { pick, session, leaseMs, limit, actor } = request
    const waiting = this.#candidates.get(pickName(pick))!
    const command: TaskCommand = {
      kind: 'claim',
      agent: pick.agent,
      capabilities: pick.capabilities,
      session,
      leaseMs,
    }
    const claims: { claim: unknown; record: TaskRecord }[] = []
    while (claims.length < limit && waiting.length > 0) {
      const record = this.#record(waiting.shift()!)!
      const reply = this.#apply(record.id, record.uuid, command, actor)
      if (reply.ok) claims.push({ claim: reply.claim, record: this.#record(record.id)! })
      else if (reply.code === 'LIMIT_REACHED' && claims.length === 0) return reply
    }
    return { ok: true, reason: claims.length > 0 ? 'GRANTED' : 'NO_WORK', claims }
  }

  #create(tasks: readonly NewTask[], actor: Actor): Reply {
    const dependencies: TaskRecord[][] = []
    for (const [index, task] of tasks.entries()) {
      const found = task.dependsOn.map(this.#record)
      const missing = found.findIndex((record, i) => record?.uuid !== task.details.dependsOn[i])
      if (missing !== -1)
        return refuse(
          'VALIDATION_FAILED',
          `tasks[${index}].dependsOn[${missing}] names no task of this workspace.`,
          {
            errors: [
              { field: `tasks[${index}].dependsOn[${missing}]`, message: 'names no task of this workspace' },
            ],
          },
        )
      dependencies.push(found as TaskRecord[])
    }
    const records = tasks.map((task, index) => {
      const { id, random } = this.#view.fresh[this.#freshUsed++]!
      const identity = { id, uuid: uuidCarrying(id, this.#view.now, random) }
      const states = dependencies[index]!.map(({ state }) => state)
      const { record, event } = createTask(task, states, identity, actor, this.#view.now)
      this.#created.push({ record, task })
      this.#effects.events.push(event)
      return record
    })
    return { ok: true, reason: 'CREATED', records }
  }
}
