import { type Act, actsFor } from '../../../src/kinds/task/rules/allowed-acts.ts'
import type { AnswerOf } from '../../../src/pure/shapes.ts'
import type { ActAnswer, TASK_ACTS } from '../../../src/views/board/shapes.ts'
import type { Card } from '../live/card.ts'
import { isConnected } from '../live/freshness.ts'
import type { Live } from '../live/live.ts'
import { foreseen } from '../live/pending-acts.ts'
import { doneWords, nameOfTask, OFFLINE, standing, unknownWords } from './act-words.ts'

/** Acts on tasks. They show at once; the answer or the event confirms them. */

type ManyAct = (typeof TASK_ACTS)[number]
type Outcomes = AnswerOf<typeof ActAnswer>['items']

/** What is asked of one or many tasks. */
export type Asked =
  | { act: ManyAct; reason?: string; comment?: string }
  | ({ act: 'approve' | 'reject' } & Judgement)
  /** The next attempt starts over. */
  | { act: 'retry'; fresh: true }
  | { act: 'priority'; priority: number }
  | { act: 'agent'; agent: string | null }
  | { act: 'type'; taskType: string }
  | { act: 'tags'; add: readonly string[]; remove: readonly string[] }

interface Judgement {
  reason?: string
  comment?: string
  fresh?: boolean
  /** The result that was shown; otherwise it is the one on the card. */
  seen?: Pick<Card, 'generation' | 'resultDigest'>
}

/** What several tasks are changed to. */
interface Fields {
  priority?: number
  agent?: string | null
  taskType?: string
  tags?: { add: string[]; remove: string[] }
}

function fieldsOf(asked: Extract<Asked, { act: 'priority' | 'agent' | 'type' | 'tags' }>): Fields {
  if (asked.act === 'priority') return { priority: asked.priority }
  if (asked.act === 'agent') return { agent: asked.agent }
  return asked.act === 'type'
    ? { taskType: asked.taskType }
    : { tags: { add: [...asked.add], remove: [...asked.remove] } }
}

export interface ActRequests {
  actOnMany: (
    body: {
      act: ManyAct | 'update'
      fields?: Fields | undefined
      items: { id: string; generation?: number | undefined }[]
      reason?: string | undefined
      comment?: string | undefined
    },
    idempotencyKey: string,
  ) => Promise<{ items: Outcomes }>
  judge: (
    id: string,
    decision: 'approve' | 'reject',
    body: { reason?: string; comment?: string; generation?: number; digest?: string; fresh?: boolean },
    idempotencyKey: string,
  ) => Promise<{ version: number }>
  startOver: (
    id: string,
    body: { generation?: number | undefined; fresh: true },
    idempotencyKey: string,
  ) => Promise<{ version: number }>
}

export interface Offered {
  words: string
  run: () => Promise<ActOutcome>
}

interface RefusedTask {
  id: string
  words: string
  /** What can be done with it now. */
  allowed: Act[]
}

export type ActOutcome =
  /** `offer`: the true inverse as "Undo", or the nearest allowed act by its own name. */
  | { kind: 'done'; words: string; refused: RefusedTask[]; offer: Offered | null }
  | { kind: 'refused'; words: string; refused: RefusedTask[] }
  /** Sent again under the same key, it is done once; never sent again automatically. */
  | { kind: 'unknown'; words: string; askAgain: () => Promise<ActOutcome> }
  | { kind: 'offline'; words: string }

/** If the event of an act that was done does not come, the card is read. */
const EVENT_WITHIN_MS = 2_000

export class TaskActs {
  readonly #live: Live
  readonly #requests: ActRequests

  constructor(live: Live, requests: ActRequests) {
    this.#live = live
    this.#requests = requests
  }

  async run(asked: Asked, ids: readonly string[]): Promise<ActOutcome> {
    if (!isConnected(this.#live.freshness.get().freshness)) return { kind: 'offline', words: OFFLINE }
    return this.#send(asked, ids, newKey())
  }

  async #send(asked: Asked, ids: readonly string[], key: string): Promise<ActOutcome> {
    const before = new Map(ids.map((id) => [id, this.#card(id)]))
    for (const id of ids) this.#show(id, asked)
    try {
      return await this.#answered(asked, before, await this.#ask(asked, before, key))
    } catch (error) {
      if (isUnknown(error)) return this.#unknown(asked, ids, key)
      const words = error instanceof Error ? error.message : String(error)
      return { kind: 'refused', words, refused: await this.#refused(ids.map((id) => ({ id, why: words }))) }
    }
  }

  #ask(asked: Asked, cards: Map<string, Card | undefined>, key: string): Promise<Outcomes> {
    const ids = [...cards.keys()]
    switch (asked.act) {
      case 'approve':
      case 'reject':
        return this.#each(ids, (id) =>
          this.#requests.judge(id, asked.act, boundTo(cards.get(id), asked), `${key}-${id}`),
        )
      case 'priority':
      case 'agent':
      case 'type':
      case 'tags': {
        const items = ids.map((id) => ({ id }))
        return this.#requests
          .actOnMany({ act: 'update', fields: fieldsOf(asked), items }, key)
          .then((answer) => answer.items)
      }
      default: {
        if ('fresh' in asked)
          return this.#each(ids, (id) => {
            const generation = cards.get(id)?.generation
            return this.#requests.startOver(id, { generation, fresh: true }, `${key}-${id}`)
          })
        // Each is bound to the generation that was seen, if it was.
        const items = ids.map((id) => ({ id, generation: cards.get(id)?.generation }))
        return this.#requests.actOnMany({ ...asked, items }, key).then((answer) => answer.items)
      }
    }
  }

  /** One after the other: the first that is not answered ends it. */
  async #each(ids: readonly string[], send: (id: string) => Promise<{ version: number }>): Promise<Outcomes> {
    const outcomes: Outcomes[number][] = []
    for (const id of ids) {
      const none = { id, state: null, generation: null }
      try {
        const { version } = await send(id)
        outcomes.push({ ...none, done: true, version, code: null, detail: null })
      } catch (error) {
        if (isUnknown(error) || !(error instanceof Error)) throw error
        outcomes.push({ ...none, done: false, version: null, code: 'REFUSED', detail: error.message })
      }
    }
    return outcomes
  }

  async #answered(
    asked: Asked,
    before: Map<string, Card | undefined>,
    outcomes: Outcomes,
  ): Promise<ActOutcome> {
    const done = outcomes.filter((outcome) => outcome.done).map(({ id }) => id)
    for (const { id, version } of outcomes) if (done.includes(id)) this.#settle(id, version)
    const refused = await this.#refused(
      outcomes.flatMap(({ id, done, detail }) => (done ? [] : { id, why: detail ?? 'It was refused.' })),
    )
    if (done.length === 0)
      return { kind: 'refused', words: refused[0]?.words ?? 'Nothing was done.', refused }
    const names = done.map((id) => nameOfTask(id, before.get(id)))
    const words = doneWords(asked.act, names)
    return { kind: 'done', words, refused, offer: this.#offer(asked, done, before) }
  }

  #unknown(asked: Asked, ids: readonly string[], key: string): ActOutcome {
    const { world } = this.#live
    const names = ids.map((id) => nameOfTask(id, this.#card(id)))
    for (const id of ids) {
      world.pending.begin(id, { act: asked.act, column: null, isUnknown: true }, {})
      world.redraw(id)
      // The card says whether it was done, as soon as it can be read.
      world.readCardAgain(id)
    }
    const askAgain = () => this.#send(asked, ids, key)
    return { kind: 'unknown', words: unknownWords(asked.act, names), askAgain }
  }

  #offer(asked: Asked, ids: readonly string[], before: Map<string, Card | undefined>): Offered | null {
    const again = (words: string, inverse: Asked): Offered => ({ words, run: () => this.run(inverse, ids) })
    switch (asked.act) {
      case 'pause':
        return again('Undo', { act: 'resume' })
      case 'resume':
        return again('Undo', { act: 'pause' })
      case 'cancel':
        return again('Put back in the queue', { act: 'reset' })
      case 'priority':
      case 'agent':
        return { words: 'Undo', run: () => this.#restore(asked.act, ids, before) }
      default:
        return null
    }
  }

  /** Each task gets back what it had. */
  async #restore(act: 'priority' | 'agent', ids: readonly string[], before: Map<string, Card | undefined>) {
    const groups = new Map<number | string | null, string[]>()
    for (const id of ids) {
      const card = before.get(id)
      if (card) groups.set(card[act], [...(groups.get(card[act]) ?? []), id])
    }
    let last: ActOutcome = { kind: 'refused', words: 'It is not known what it was before.', refused: [] }
    for (const [value, some] of groups) {
      const asked: Asked =
        act === 'priority' ? { act, priority: value as number } : { act, agent: value as string | null }
      last = await this.run(asked, some)
      if (last.kind !== 'done') return last
    }
    return last
  }

  #show(id: string, asked: Asked): void {
    const { world } = this.#live
    const card = this.#card(id)
    if (!card) return
    const { column, patch } = foreseen(asked.act, card, this.#live.now())
    const changed =
      asked.act === 'priority'
        ? { priority: asked.priority }
        : asked.act === 'agent'
          ? { agent: asked.agent }
          : patch
    world.pending.begin(id, { act: asked.act, column }, changed)
    world.redraw(id)
  }

  #settle(id: string, version: number | null): void {
    const { world } = this.#live
    if (world.pending.answered(id, version, this.#card(id))) world.redraw(id)
    else
      this.#live.after(EVENT_WITHIN_MS, () => {
        if (world.pending.has(id)) world.readCardAgain(id)
      })
  }

  /** Refused cards go back at once. Their state is read first: a faster change by another user is not on the screen yet. */
  async #refused(tasks: readonly { id: string; why: string }[]): Promise<RefusedTask[]> {
    const { world } = this.#live
    for (const { id } of tasks) {
      world.pending.end(id)
      world.redraw(id)
    }
    if (tasks.length > 0) await world.readNow(tasks.map(({ id }) => id))
    return tasks.map(({ id, why }) => {
      const card = this.#card(id)
      if (!card) return { id, words: why, allowed: [] }
      const words = `${why} ${standing(nameOfTask(id, card), card, this.#live.now())}`
      return { id, words, allowed: actsFor(card) }
    })
  }

  #card(id: string): Card | undefined {
    return this.#live.world.entities.get('card', id)
  }
}

/** A verdict names the result that was seen: another result is refused. */
function boundTo(card: Card | undefined, { reason, comment, fresh, seen = card }: Judgement) {
  const digest = seen?.resultDigest
  return {
    ...(seen && { generation: seen.generation }),
    ...(digest && { digest }),
    ...(reason !== undefined && { reason }),
    ...(comment !== undefined && { comment }),
    ...(fresh && { fresh }),
  }
}

/** No answer, or one from a server that does not know the outcome: the act may have been done. */
function isUnknown(error: unknown): boolean {
  const { status } = (error ?? {}) as { status?: unknown }
  return typeof status !== 'number' || status === 502 || status === 503 || status === 504
}

/** Not randomUUID(): browsers have it on pages over https only. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
