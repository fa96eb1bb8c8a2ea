import type { Request } from '../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { Reply } from '../support/replies.ts'
import type { Grant } from './describe.ts'
import type { Envelope } from './node.ts'
import type { Settled } from './session.ts'

interface AnsweredGrant {
  readonly generation: number
  readonly session: string
  /** The latest instant, on the server's clock, up to which this holder was granted the task. */
  until: number
}

interface AnsweredResult {
  readonly generation: number
  readonly session: string
  readonly ref: string
}

/** A person or a verifier judged one generation's work; its action applied to another's. */
interface AnsweredJudgement {
  readonly kind: string
  readonly seen: number
  readonly struck: number
}

/** The answers about one task. */
interface AnswersAboutTask {
  readonly grants: AnsweredGrant[]
  readonly results: AnsweredResult[]
  readonly judgements: AnsweredJudgement[]
}

const JUDGEMENTS: readonly string[] = ['approve', 'reject', 'verdict']

/** Every answer the servers gave. What is written here was acknowledged, so it must stay true. */
export class Ledger {
  /** By the external id of the task. */
  readonly answers = new Map<string, AnswersAboutTask>()
  /** Sessions that a client got an answer about. */
  readonly sessions = new Set<string>()
  /** Something was answered since this was last set to false. */
  news = false
  readonly #byKey = new Map<string, { body: string; reply: string; order: number }>()
  readonly #made = new Map<string, string>()
  readonly #breaks: (invariant: string, detail: string) => void
  readonly #count: (reply: Reply) => void

  constructor(breaks: (invariant: string, detail: string) => void, count: (reply: Reply) => void) {
    this.#breaks = breaks
    this.#count = count
  }

  /** `order` is the order of decisions: answers may overtake each other. */
  answered({ request, seen }: Envelope, reply: Reply, order: number): void {
    this.#count(reply)
    this.#compareWithFirstAnswer(request, reply, order)
    if (!reply.ok) return
    this.news = true
    switch (request.on) {
      case 'new':
        for (const [i, { uuid }] of (reply.records as TaskRecord[]).entries())
          this.#created(uuid, request.tasks[i]!.unique?.key)
        break
      case 'session':
        this.sessions.add(request.key)
        for (const one of reply.settled as Settled[])
          if (one.reply.ok && request.command.kind === 'heartbeat') this.#renewed(request.key, one)
        break
      case 'agent':
        if (request.command.kind === 'heartbeat') this.#heartbeatAnswered(reply)
        break
      case 'next':
        for (const { claim } of reply.claims as { claim: Grant }[]) this.#granted(claim.taskId, claim)
        break
      case 'task':
        this.#answeredOnTask(request, reply, seen)
    }
  }

  /** Every request for a task under its key gets the same one. */
  #created(uuid: string, key: string | undefined): void {
    this.#about(uuid)
    if (key === undefined) return
    const first = this.#made.get(key) ?? uuid
    this.#made.set(key, first)
    if (first !== uuid) this.#breaks('oneTaskUnderItsKey', `${key} is ${first}, and then ${uuid}`)
  }

  #renewed(session: string, { taskId, generation, reply }: Settled): void {
    this.#granted(taskId, { generation, session, leaseExpiresAt: reply.leaseExpiresAt as string })
  }

  /** A heartbeat renews what its agent holds, under any session. */
  #heartbeatAnswered({ settled, holding }: Reply): void {
    for (const one of settled as Settled[]) {
      const held = (holding as TaskRecord[]).find(({ uuid }) => uuid === one.taskId)
      if (one.reply.ok && held) this.#renewed(held.session!, one)
    }
  }

  #about(uuid: string): AnswersAboutTask {
    let known = this.answers.get(uuid)
    if (!known) {
      known = { grants: [], results: [], judgements: [] }
      this.answers.set(uuid, known)
    }
    return known
  }

  #answeredOnTask(
    { command, uuid }: Extract<Request, { on: 'task' }>,
    reply: Reply,
    seen: TaskRecord | null,
  ): void {
    if (command.kind === 'claim') this.#granted(uuid, reply.claim as Grant)
    if (command.kind === 'renew')
      this.#granted(uuid, { ...command.fence, leaseExpiresAt: reply.leaseExpiresAt as string })
    if (command.kind === 'submit')
      this.#about(uuid).results.push({ ...command.fence, ref: reply.workProductRef as string })
    if (seen && JUDGEMENTS.includes(command.kind)) {
      const struck = (reply.record as TaskRecord).generation
      this.#about(uuid).judgements.push({ kind: command.kind, seen: seen.generation, struck })
    }
  }

  #granted(uuid: string, claim: Pick<Grant, 'generation' | 'session' | 'leaseExpiresAt'>): void {
    const { generation, session } = claim
    const until = Date.parse(claim.leaseExpiresAt)
    const { grants } = this.#about(uuid)
    const known = grants.find((grant) => grant.generation === generation && grant.session === session)
    if (known) known.until = Math.max(known.until, until)
    else grants.push({ generation, session, until })
  }

  #compareWithFirstAnswer(request: Request, reply: Reply, order: number): void {
    const { idempotency } = request
    if (!idempotency) return
    const first = this.#byKey.get(idempotency.key)
    // An empty queue is no answer to store: the next time there may be work.
    const stands = reply.ok && reply.reason !== 'NO_WORK'
    // Another request under the key gets a refusal, and no other answer.
    if (first && first.body !== idempotency.bodyHash) {
      if (stands) this.#breaks('sameKeyGivesTheSameReply', `${idempotency.key} served two requests`)
      return
    }
    // Without the time that is left, and the details that a store hands out: a repeated answer gets those when it is shown.
    const said = JSON.stringify(reply, (name, value) =>
      name === 'ttlMs' || name === 'details' ? undefined : inOneOrder(value),
    )
    // A refusal decided before the stored answer is only late.
    if (first && first.reply !== said && first.order < order)
      this.#breaks('sameKeyGivesTheSameReply', `${idempotency.key}: ${first.reply} and then ${said}`)
    if (!first && stands) this.#byKey.set(idempotency.key, { body: idempotency.bodyHash, reply: said, order })
  }
}

/** Two objects with the same names and values are one answer. */
const inOneOrder = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value
