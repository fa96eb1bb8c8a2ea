import { isTerminal, type TaskState } from '../../../src/pure/states.ts'
import { apply } from './apply.ts'
import { type BoardQuery, Boards } from './boards.ts'
import type { AnsweredCard, Card, LiveEvent } from './card.ts'
import { cardFrom, payloadField } from './card.ts'
import { CHANGES_WHO_MAY_TAKE } from './card-rules.ts'
import type { Clock } from './clock.ts'
import { Entities } from './entities.ts'
import { PendingActs, type ShownCard } from './pending-acts.ts'
import { RecentEvents } from './recent-events.ts'
import { WantedCards } from './wanted-cards.ts'

/** Everything that is known of a workspace, and how one event changes it. It knows nothing of sockets. */

export interface WorldRequests {
  readBoard: (query: BoardQuery) => ReturnType<ConstructorParameters<typeof Boards>[0]['readBoard']>
  readCards: (ids: readonly string[]) => Promise<{ items: readonly AnsweredCard[]; seq: number }>
}

/** At most this many finished runs are kept. */
const MOST_FINISHED = 1_000

export class World {
  readonly entities = new Entities()
  readonly recent = new RecentEvents()
  readonly pending = new PendingActs()
  readonly boards: Boards
  readonly #wanted: WantedCards
  readonly #requests: WorldRequests
  /** Finished tasks that no board has shown: whether they are archived is not known. */
  readonly #perhapsArchived = new Set<string>()
  /** Cards that wait for a task and name it, by the task. */
  readonly #waiting = new Map<string, Set<string>>()
  /** Cards that wait for more tasks than they name. */
  readonly #waitingForMore = new Set<string>()
  /** Asked for because a board may show it, not because this card is on the screen. */
  readonly #forBoards = new Map<string, 'moved' | 'updated'>()

  /** How often everything was read again. */
  #resyncs = 0

  /** `late`: what a reader shows is old until that time; null: it is not. */
  constructor(requests: WorldRequests, clock: Clock, late: (reader: object, at: number | null) => void) {
    this.#requests = requests
    this.#wanted = new WantedCards(clock, {
      read: (ids) => this.#readCards(ids),
      tooMany: () => {
        this.#forBoards.clear()
        this.boards.readAgain()
      },
    })
    this.boards = new Boards({
      ...{ clock, late },
      readBoard: requests.readBoard,
      beginReading: () => this.recent.begin(),
      keep: (card, seq) => {
        this.#perhapsArchived.delete(card.id)
        this.#keep(card, seq)
      },
      shown: (id) => this.shown(id),
      replay: (events) => {
        for (const event of events) this.#apply(event)
      },
      flush: () => this.flush(),
    })
    this.entities.onStaleShown = (kind, id) => {
      if (kind === 'card') this.#wanted.want(id)
    }
  }

  /** A card with the expected outcome of its pending act. */
  shown(id: string): ShownCard | undefined {
    const card = this.entities.get('card', id)
    return card && this.pending.shown(card)
  }

  /** The card of a task that no board has read is on the screen. */
  wantCard(id: string): void {
    if (!this.entities.get('card', id)) this.#wanted.want(id)
  }

  readCardAgain(id: string): void {
    this.#wanted.want(id)
  }

  /** Resolves when the cards are as the server has them; where it does not answer, they are read later. */
  async readNow(ids: readonly string[]): Promise<void> {
    try {
      await this.#readCards(ids)
    } catch {
      for (const id of ids) this.readCardAgain(id)
    }
  }

  take(event: LiveEvent): void {
    this.recent.note(event)
    this.#apply(event)
  }

  flush(): void {
    for (const id of this.boards.flush()) if (!this.boards.has(id)) this.#forget(id)
    this.entities.flush()
    this.#dropFinishedRuns()
  }

  /** After this nothing is continued from what is known: it is read again. */
  resync(): void {
    this.#resyncs += 1
    this.recent.forget()
    this.#wanted.clear()
    this.entities.forgetSeqs()
    this.boards.readAgain()
  }

  /** The card looks different because of an act: at once, without an event. */
  redraw(id: string): void {
    const shown = this.shown(id)
    if (shown) this.boards.replace(shown)
    this.entities.touch('card', id)
    this.flush()
  }

  close(): void {
    this.#wanted.clear()
  }

  #apply(event: LiveEvent): void {
    const applied = apply(this.entities, event)
    const { taskId, to } = event
    if (CHANGES_WHO_MAY_TAKE.has(event.type)) this.#readQueued()
    if (taskId === null) {
      // Events of runs name their task in the payload: its card says more than they do.
      const ofRun = payloadField(event, 'taskId', 'string')
      if (ofRun && applied.mustBeRead && this.#isLookedAt(ofRun)) this.#wanted.want(ofRun)
      return
    }
    // Treated as if its card were not known: the card alone does not say whether the task was counted.
    if (this.#perhapsArchived.has(taskId)) applied.before = undefined
    if (to !== null) this.#perhapsArchived.delete(taskId)
    const { after, isArchived, mustBeRead } = applied
    if (event.to !== null || isArchived) this.#settle(taskId, after)
    const wantsCard = this.boards.applied(event, applied, after && this.pending.shown(after))
    if (wantsCard && this.#forBoards.get(taskId) !== 'moved')
      this.#forBoards.set(taskId, to === null ? 'updated' : 'moved')
    if (isArchived) this.#archive(taskId)
    else if ((mustBeRead && this.#isLookedAt(taskId)) || wantsCard || this.#enteredStale(event))
      this.#wanted.want(taskId)
    if (to === null) return
    if (isTerminal(to as TaskState)) this.#ended(taskId, event.missionId)
    else if (event.from !== null && isTerminal(event.from as TaskState)) this.#reopened()
  }

  /** Off the screen, a card is read when it is drawn. */
  #isLookedAt(id: string): boolean {
    return this.entities.markStale('card', id) || this.boards.has(id)
  }

  /** A card came into view, and what is known of it is old: even its place may be wrong. */
  #enteredStale({ taskId, to }: LiveEvent): boolean {
    return to !== null && this.entities.isStale('card', taskId!) && this.boards.has(taskId!)
  }

  #settle(id: string, card: Card | undefined): void {
    if (this.pending.has(id) && this.pending.end(id) && card) this.entities.touch('card', id)
  }

  #archive(id: string): void {
    this.#wanted.forget(id)
    this.#forget(id)
  }

  #forget(id: string): void {
    this.#forBoards.delete(id)
    this.#waitingForMore.delete(id)
    this.#perhapsArchived.delete(id)
    this.entities.remove('card', id)
  }

  #ended(id: string, missionId: string | null): void {
    for (const waiting of this.#waiting.get(id) ?? []) this.#readIfWaiting(waiting)
    this.#waiting.delete(id)
    for (const waiting of this.#waitingForMore)
      if (this.entities.get('card', waiting)?.missionId === missionId) this.#readIfWaiting(waiting)
  }

  /** The tasks that depend on it wait for it again, and their cards no longer name it. */
  #reopened(): void {
    for (const id of this.entities.idsOf('card')) {
      const state = this.entities.get('card', id)?.state
      if ((state === 'pending' || state === 'paused') && this.#isLookedAt(id)) this.#wanted.want(id)
    }
  }

  /** Those on the screen now, the others when they are drawn: whether somebody takes them may have changed. */
  #readQueued(): void {
    for (const id of this.entities.idsOf('card'))
      if (this.entities.get('card', id)?.state === 'queued' && this.entities.markStale('card', id))
        this.#wanted.want(id)
  }

  #readIfWaiting(id: string): void {
    const card = this.entities.get('card', id)
    if (card && card.openDeps > 0 && this.#isLookedAt(id)) this.#wanted.want(id)
  }

  #keep(card: Card, seq: number): void {
    if (!this.entities.put('card', card.id, card, seq)) return
    for (const upstream of card.waitsFor) {
      const waiting = this.#waiting.get(upstream) ?? new Set()
      this.#waiting.set(upstream, waiting.add(card.id))
    }
    if (card.openDeps > card.waitsFor.length) this.#waitingForMore.add(card.id)
    else this.#waitingForMore.delete(card.id)
    this.pending.settled(card.id, card)
  }

  async #readCards(ids: readonly string[]): Promise<void> {
    const reading = this.recent.begin()
    const resyncs = this.#resyncs
    try {
      const { items, seq } = await this.#requests.readCards(ids)
      // The answer may be of another log: with a higher number it would hide the events of this one.
      if (resyncs !== this.#resyncs) {
        for (const id of ids) this.#wanted.want(id)
        return
      }
      for (const item of items) {
        const before = this.entities.get('card', item.id)
        this.#keep(cardFrom(item), seq)
        this.#show(before, this.shown(item.id)!)
      }
      // Cards that are not in the answer do not exist, or may not be read.
      for (const id of ids) this.#forBoards.delete(id)
      for (const event of reading.after(seq)) this.#apply(event)
      this.flush()
    } finally {
      reading.end()
    }
  }

  #show(before: Card | undefined, shown: ShownCard): void {
    const because = this.#forBoards.get(shown.id)
    // A finished task that was only edited may be archived, which its card does not say; a board does.
    if (because === 'updated' && isTerminal(shown.state)) this.boards.readAgainIfNew(before, shown)
    else this.boards.cardRead(before, shown, because !== undefined)
    if (isTerminal(shown.state) && !this.boards.has(shown.id)) this.#perhapsArchived.add(shown.id)
  }

  #dropFinishedRuns(): void {
    if (this.entities.sizeOf('run') <= 2 * MOST_FINISHED) return
    const finished = [...this.entities.idsOf('run')].filter(
      (id) => this.entities.get('run', id)!.finishedAt !== null && !this.entities.isShown('run', id),
    )
    for (const id of finished.slice(0, -MOST_FINISHED)) this.entities.remove('run', id)
  }
}
