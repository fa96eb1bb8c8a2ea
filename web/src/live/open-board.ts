import { isTerminal, TASK_STATES, type TaskState } from '../../../src/pure/states.ts'
import type { BoardColumn } from '../../../src/views/board/columns.ts'
import {
  type CardFilter,
  FILTER_NAMES,
  matches,
  passes,
  readFilter,
} from '../../../src/views/board/filter.ts'
import type { Applied } from './apply.ts'
import { BoardList, type ColumnView } from './board-list.ts'
import { type Card, type LiveEvent, payloadField } from './card.ts'
import type { ShownCard } from './pending-acts.ts'

/** A board that is on the screen: its columns, and its counts as of one event. */

export type BoardStatus = 'loading' | 'ready' | 'failed'
type Listener = () => void
type Counts = Partial<Record<TaskState, number>>

/** What has to be read after an event. */
export interface StillToRead {
  card: boolean
  counts: boolean
}
const NOTHING: StillToRead = { card: false, counts: false }

export class OpenBoard {
  readonly list: BoardList
  readonly filter: CardFilter
  /** The event that the counts contain. */
  countedUpTo = Number.POSITIVE_INFINITY
  /** How often counts were wanted, since an event did not say enough. */
  countsWanted = 0
  /** The last of these that the counts answer: it came before they were asked for. */
  #countsAnswered = 0
  status: BoardStatus = 'loading'
  error: unknown = null
  watchers = 0
  readonly #listeners = new Set<Listener>()
  #version = 0

  constructor(filter: CardFilter) {
    this.filter = filter
    this.list = new BoardList(filter)
  }

  column(name: BoardColumn): ColumnView {
    return this.list.view(name)
  }

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A new object whenever something changed. */
  version = (): number => this.#version

  get areCountsWanted(): boolean {
    return this.countsWanted > this.#countsAnswered
  }

  /** Counts as they were at `seq`; `wanted`: how often they had been wanted when they were asked for. */
  setCounts(counts: Counts, seq: number, wanted: number): void {
    this.list.setCounts(counts)
    this.countedUpTo = seq
    this.#countsAnswered = wanted
  }

  setStatus(status: BoardStatus, error: unknown = null): void {
    this.status = status
    this.error = error
    this.notify()
  }

  notify(): void {
    this.#version += 1
    for (const listener of [...this.#listeners]) listener()
  }

  /** Ids that this board no longer keeps. */
  flush(): string[] {
    const { changed, dropped } = this.list.flush()
    if (changed.length > 0) this.notify()
    return dropped
  }

  applied(event: LiveEvent, applied: Applied, shown: ShownCard | undefined): StillToRead {
    if (event.taskId === null || event.purpose !== 'work') return NOTHING
    const { isArchived } = applied
    if (event.type === 'task_updated') return this.#updated(event, applied)
    if (event.to === null && !isArchived) return NOTHING
    const isNews = event.seq > this.countedUpTo
    if (isNews) this.countedUpTo = event.seq
    const counts = isNews && !this.#count(event, applied)
    if (isArchived) this.list.drop(event.taskId)
    else if (shown) this.list.place(shown)
    // The task may be reserved for this agent now, which no event says.
    const mayEnter = this.filter.agent !== undefined && applied.mustBeRead && event.to === 'queued'
    return { card: !isArchived && (mayEnter || (!shown && this.#mayShow(event))), counts }
  }

  belongs(card: ShownCard): boolean {
    return matches(card, this.filter)
  }

  /** A card was read: its place is known, and perhaps that it belongs here. True: the counts have to be read again. */
  read(before: Card | undefined, shown: ShownCard, isAskedFor: boolean): boolean {
    // A finished one that was not asked for may be archived; any other is placed where it belongs.
    if (isAskedFor || this.list.has(shown.id) || !isTerminal(shown.state)) this.list.place(shown)
    return before !== undefined && matches(before, this.filter) !== matches(shown, this.filter)
  }

  /** A field changed, and the event does not say to what: the task may belong here now, or be further up. */
  #updated({ missionId, payload }: LiveEvent, { before }: Applied): StillToRead {
    if (!this.#isOfMission(missionId)) return NOTHING
    const fields: readonly unknown[] = Array.isArray(payload.fields) ? payload.fields : []
    const mayEnter = fields.some((field) => {
      const name = FILTERED_FIELDS[String(field)]
      return name !== undefined && this.filter[name] !== undefined
    })
    const mayRise = fields.includes('priority') && this.list.view('inbox').hasMore
    return { card: mayEnter || mayRise, counts: mayEnter && !before }
  }

  /** Counts by what the event says. False: it does not say enough. */
  #count(event: LiveEvent, { before, after, isKnown, isStale, isArchived }: Applied): boolean {
    if (!this.#isOfMission(event.missionId)) return true
    const [from, to] = [event.from as TaskState | null, event.to as TaskState | null]
    // Only the previous card says whether a task that is done again was archived, and so not counted.
    if ((isArchived || (from !== null && isTerminal(from))) && (!before || isKnown)) return false
    const left = isArchived ? before!.state : from
    const [wasIn, isIn] = this.#isByEventAlone()
      ? [this.#isShownState(left), this.#isShownState(to)]
      : this.#membership(before, after, isKnown || isStale)
    if (wasIn === null || isIn === null) return false
    if (left !== null && wasIn) this.list.count(left, -1)
    if (to !== null && isIn) this.list.count(to, 1)
    return true
  }

  /** Whether the task belongs to this board before and after the event; null: not known. */
  #membership(before: Card | undefined, after: Card | undefined, isOfAnotherTime: boolean) {
    const isVolatile = VOLATILE.some((name) => this.filter[name] !== undefined)
    if (!before || !after || (isOfAnotherTime && isVolatile)) return [null, null] as const
    return [matches(before, this.filter), matches(after, this.filter)] as const
  }

  /** The mission and the states are the event's own. */
  #isByEventAlone(): boolean {
    return FILTER_NAMES.every(
      (name) => name === 'mission' || name === 'state' || this.filter[name] === undefined,
    )
  }

  #isOfMission(missionId: string | null): boolean {
    const { mission } = readFilter(this.filter)
    return !mission || passes(mission, missionId === null ? [] : [missionId])
  }

  #isShownState(state: TaskState | null): boolean {
    const wanted = readFilter(this.filter).state
    return state !== null && (!wanted || passes(wanted, [state]))
  }

  #mayShow(event: LiveEvent): boolean {
    if (!this.#isShownState(event.to as TaskState | null) || !this.#isOfMission(event.missionId)) return false
    const at = Date.parse(event.at)
    const isNew = event.type === 'task_created'
    const known = { id: event.taskId!, at, ...(isNew && { createdAt: at, ...priorityIn(event) }) }
    return this.list.mayShow(TASK_STATES[event.to as TaskState].board, known)
  }
}

const priorityIn = (event: LiveEvent) => {
  const priority = payloadField(event, 'priority', 'number')
  return priority === undefined ? {} : { priority }
}

/** What may change of a task, and with it whether it is shown. */
const VOLATILE = FILTER_NAMES.filter((name) => name !== 'mission' && name !== 'project')
/** Which part of a filter is about a field that was edited. */
const FILTERED_FIELDS: Readonly<Record<string, keyof CardFilter>> = {
  ...{ agent: 'agent', onlyAgent: 'agent', tags: 'tag', title: 'q', taskType: 'type', priority: 'priority' },
}

/** One board for each filter, shared by all its viewers. */
export const keyOf = (filter: CardFilter) => JSON.stringify(FILTER_NAMES.map((name) => filter[name] ?? null))
