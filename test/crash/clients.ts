import { setTimeout as sleep } from 'node:timers/promises'
import { Random } from '../simulation/random.ts'
import { grantsIn, type Hold, type Kind, type Ledger, type SentRequest, tasksIn } from './ledger.ts'

export interface Server {
  url: string
  ownerKey: string
}

/** Longer than any recovery; a request that hangs for longer is a finding of its own. */
const HANGING_MS = 30_000
const FIRST_WAIT_MS = 25
const LONGEST_WAIT_MS = 400

/** Sends a request and classifies the answer: done, refused for good, or unknown. */
async function ask(server: Server, asked: SentRequest): Promise<SentRequest> {
  let response: Response
  let text: string
  try {
    response = await fetch(`${server.url}/api/v1${asked.path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${server.ownerKey}`,
        'content-type': 'application/json',
        ...(asked.key === null ? {} : { 'idempotency-key': asked.key }),
      },
      body: JSON.stringify(asked.body),
      signal: AbortSignal.timeout(HANGING_MS),
    })
    text = await response.text()
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw new Error(`${asked.path} was never answered`)
    return { ...asked, outcome: 'unknown', status: 0 }
  }
  const { status } = response
  if (status === 503) assertNotNow(response, text)
  const outcome = status < 300 ? 'acknowledged' : status === 503 ? 'unknown' : 'refused'
  if (outcome === 'refused' && ![404, 409].includes(status))
    throw new Error(`${asked.path} was answered ${status}: ${text}`)
  return { ...asked, outcome, status, answer: JSON.parse(text) }
}

export function assertNotNow(response: Response, text: string): void {
  const type = response.headers.get('content-type') ?? ''
  const { code } = JSON.parse(text)
  if (!type.startsWith('application/problem+json') || code !== 'UNAVAILABLE')
    throw new Error(`a 503 has ${type} ${text}`)
  if (!/^\d+$/.test(response.headers.get('retry-after') ?? '')) throw new Error('a 503 lacks Retry-After')
}

const WORK = { create: 3, claim: 4, next: 3, renew: 3, submit: 5, release: 1 } as const

/** A client that works as quickly as the server answers, and records every answer. */
export class Client {
  readonly #name: string
  readonly #random: Random
  readonly #ledger: Ledger
  #holds: Hold[] = []
  #count = 0

  constructor(name: string, seed: number, ledger: Ledger) {
    this.#name = name
    this.#random = new Random(seed)
    this.#ledger = ledger
  }

  /** Works until it is stopped, or, unless it should continue, until the server is unreachable. */
  async work(server: Server, stop: AbortSignal): Promise<'stopped' | 'server unreachable'> {
    let waitMs = FIRST_WAIT_MS
    while (!stop.aborted) {
      const asked = await ask(server, this.#nextRequest())
      this.#ledger.record(asked)
      if (asked.status !== 503) waitMs = FIRST_WAIT_MS
      if (asked.outcome === 'acknowledged') this.learn(asked)
      else if (asked.outcome === 'refused' && asked.hold) this.#forget(asked.hold)
      else if (asked.status === 503) {
        this.#ledger.unavailable += 1
        await sleep(waitMs)
        waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)
      } else if (asked.outcome === 'unknown') return 'server unreachable'
    }
    return 'stopped'
  }

  #nextRequest(): SentRequest {
    const kind = this.#random.weighted(WORK)
    const hold = this.#random.pick(this.#holds)
    switch (kind) {
      case 'create':
        return this.#create()
      case 'claim':
        return this.#ledger.open.length > 0 ? this.#claim() : this.#create()
      case 'next':
        return this.#next()
      default:
        return hold ? this.#underHold(kind, hold) : this.#next()
    }
  }

  #asked(kind: Kind, path: string, body: Record<string, unknown>, hold: Hold | null = null): SentRequest {
    const key = this.#random.chance(0.6) ? `key-${this.#unique()}` : null
    return { kind, path, body, key, hold, outcome: 'unknown', status: 0, answer: null }
  }

  #unique = () => `${this.#name}-${++this.#count}`

  #create(): SentRequest {
    const titles = Array.from({ length: this.#random.chance(0.2) ? 5 : 1 }, () => `task ${this.#unique()}`)
    const tasks = titles.map((title) => ({ title, maxRetries: 50, input: { for: title } }))
    return tasks.length === 1
      ? this.#asked('create', '/tasks', tasks[0]!)
      : this.#asked('create', '/tasks/batch', { tasks })
  }

  /** Each claim under a session of its own, so that a claim row shows which request made it. */
  #claimant = () => ({
    agent: `agent-${this.#random.int(1, 5)}`,
    session: `session ${this.#unique()}`,
    leaseSeconds: this.#random.chance(0.15) ? 1 : 300,
  })

  #claim(): SentRequest {
    // Near the end of the list, where other clients claim too.
    const { open } = this.#ledger
    const task = open[open.length - 1 - this.#random.int(0, Math.min(open.length, 40) - 1)]!
    return this.#asked('claim', `/tasks/${task}/claim`, this.#claimant())
  }

  #next(): SentRequest {
    const limit = this.#random.int(1, 3)
    const waitMs = this.#random.chance(0.2) ? 50 : 0
    return this.#asked('next', '/claims/next', { ...this.#claimant(), limit, waitMs })
  }

  #underHold(kind: 'renew' | 'submit' | 'release', hold: Hold): SentRequest {
    const { session, generation, taskId } = hold
    const fence = { session, generation }
    const said = kind === 'submit' ? { result: { by: session, nonce: this.#unique() } } : {}
    return this.#asked(kind, `/tasks/${taskId}/${kind}`, { ...fence, ...said }, hold)
  }

  learn(asked: SentRequest): void {
    if (asked.kind === 'create') this.#ledger.open.push(...tasksIn(asked).map(({ id }) => id))
    for (const { taskId, session, generation } of grantsIn(asked))
      this.#holds.push({ taskId, session, generation })
    // From time to time a holder submits its work once more.
    const isOver = asked.kind === 'submit' || asked.kind === 'release'
    if (isOver && !this.#random.chance(0.1)) this.#forget(asked.hold!)
  }

  #forget(hold: Hold): void {
    this.#holds = this.#holds.filter((other) => other !== hold)
  }
}

/** Reads the log as it grows, and stores what it has seen. */
export async function followEvents(server: Server, ledger: Ledger, stop: AbortSignal): Promise<void> {
  for (let after = Math.max(0, ...ledger.readEvents.keys()); !stop.aborted; ) {
    const headers = { authorization: `Bearer ${server.ownerKey}` }
    const page = await fetch(`${server.url}/api/v1/events?after=${after}&limit=200`, { headers })
      .then((response) => (response.status === 200 ? response.json() : null))
      .catch(() => null)
    if (page === null) {
      await sleep(FIRST_WAIT_MS)
      continue
    }
    for (const event of (page as { items: EventItem[] }).items) {
      if (event.seq !== after + 1) throw new Error(`event ${event.seq} was shown after ${after}`)
      ledger.readEvents.set(event.seq, describeEvent(event))
      after = event.seq
    }
  }
}

interface EventItem {
  seq: number
  type: string
  taskId: string | null
  generation: number | null
  from: string | null
  to: string | null
}

export const describeEvent = ({ type, taskId, generation, from, to }: EventItem) =>
  `${type} ${taskId} ${generation} ${from} ${to}`

/** Repeats unanswered requests under the same key, twice at once: then there is one answer, and one effect. */
export async function settle(server: Server, ledger: Ledger, clients: readonly Client[]): Promise<void> {
  const open = ledger.all.filter(({ outcome, key }) => outcome === 'unknown' && key !== null)
  await Promise.all(
    open.map(async (asked, i) => {
      const [one, two] = await Promise.all([ask(server, asked), ask(server, asked)])
      if (one.outcome === 'unknown' || two.outcome === 'unknown')
        throw new Error(`${asked.path} was answered ${one.status} and ${two.status} by a healthy server`)
      if (isKept(one) && isKept(two) && !sameAnswer(one, two)) throw new Error(describeDifference(one, two))
      // A refusal is not stored under the key. So a claim may be refused first and granted then, but nothing else may.
      const isClaim = asked.kind === 'claim' || asked.kind === 'next'
      if (isKept(one) !== isKept(two) && !isClaim) throw new Error(describeDifference(one, two))
      Object.assign(asked, isKept(one) ? one : two)
      if (asked.outcome !== 'acknowledged') return
      ledger.count()
      clients[i % clients.length]!.learn(asked)
    }),
  )
}

/** Whether the answer is stored for good under its key: something was done. */
export const isKept = ({ kind, outcome, answer }: SentRequest) =>
  outcome === 'acknowledged' && (kind !== 'next' || answer.claims.length > 0)

/** A repeated request under the same key gets the same answer, whatever happened since. */
export async function repeatRequests(server: Server, answered: readonly SentRequest[]): Promise<void> {
  await Promise.all(
    answered.map(async (first) => {
      const again = await ask(server, first)
      if (!sameAnswer(first, again)) throw new Error(describeDifference(first, again))
    }),
  )
}

const sameAnswer = (one: SentRequest, two: SentRequest) =>
  one.status === two.status && bodyOf(one) === bodyOf(two)

/** Except for current values: the time a lease has left, and the tasks beside the claims of `next`. */
const bodyOf = ({ kind, answer }: SentRequest) =>
  JSON.stringify(answer, (field, value) =>
    field === 'ttlMs' || (kind === 'next' && field === 'task') ? undefined : value,
  )

const describeDifference = (one: SentRequest, two: SentRequest) =>
  `${one.path} under ${one.key} was answered ${one.status} ${JSON.stringify(one.answer)}, and then ${two.status} ${JSON.stringify(two.answer)}`
