import { uuidCarrying } from '../../../src/pure/ids.ts'
import {
  dropsProgress,
  isHeld,
  isTerminal,
  TASK_STATES,
  TASK_TRANSITIONS,
  type TaskState,
  type TransitionName,
} from '../../../src/pure/states.ts'
import {
  BOARD_COLUMNS,
  type BoardColumn,
  COLUMN_ORDER,
  comparePlaces,
  placeIn,
  statesIn,
} from '../../../src/views/board/columns.ts'
import { matches } from '../../../src/views/board/filter.ts'
import type { BoardQuery } from '../../src/live/boards.ts'
import { type AnsweredCard, cardFrom, type LiveEvent } from '../../src/live/card.ts'

/** A small server in memory: tasks that change at random, their log, and the answers that pages read. */

type Task = { -readonly [K in keyof AnsweredCard]: AnsweredCard[K] } & {
  isArchived: boolean
  /** Why its last attempt failed; a card shows it where it waits for nobody. */
  error: string | null
}

const AGENTS = ['alpha', 'beta', 'gamma']
const WORDS = ['red', 'blue', 'green']
const TYPES = ['task', 'test']
const MOVES = (Object.keys(TASK_TRANSITIONS) as TransitionName[]).filter(
  // What these do not contain is read from cards; the model sends none of it.
  (name) => !['task_divided', 'task_held_back', 'task_result_promoted', 'task_answered'].includes(name),
)

export class ModelServer {
  readonly tasks = new Map<string, Task>()
  readonly log: LiveEvent[] = []
  readonly missions: string[]
  readonly #random: () => number
  /** A list of the same: picking one of a map takes as long as the map. */
  #all: Task[] = []
  #now = 1_800_000_000_000
  #ids = 0

  constructor(random: () => number) {
    this.#random = random
    this.missions = [1, 2].map((n) => uuidCarrying(n, this.#now, n))
  }

  get seq(): number {
    return this.log.length
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }

  /** Something happens to some task, or a new one comes. */
  act(): void {
    this.#now += Math.floor(this.#random() * 50)
    const all = this.#all
    const chance = this.#random()
    if (all.length === 0 || chance < 0.12) this.create()
    else if (chance < 0.75) this.#moveSome(all)
    else if (chance < 0.85) this.#note(this.pick(all))
    else if (chance < 0.95) this.#update(this.pick(all))
    else this.archive(this.pick(all))
  }

  create(more: Partial<Task> = {}): Task {
    const at = new Date(this.#now).toISOString()
    const id = uuidCarrying(++this.#ids, this.#now, 7)
    const task: Task = {
      ...{
        id,
        number: null,
        key: null,
        title: `${this.pick(WORDS)} ${this.#ids}`,
        taskType: this.pick(TYPES),
      },
      ...{
        purpose: this.#random() < 0.9 ? 'work' : 'planning',
        state: 'queued',
        stateSince: at,
        board: 'inbox',
      },
      ...{ priority: 1 + Math.floor(this.#random() * 10), project: this.pick(['shop', null]) },
      ...{ agent: this.pick([null, null, ...AGENTS]), holder: null, generation: 0, version: 1, attempt: 0 },
      ...{
        maxRetries: 3,
        step: null,
        percent: null,
        reason: null,
        awaits: null,
        resultDigest: null,
        dueAt: null,
      },
      ...{ waitsFor: [], openDeps: 0, missionId: this.pick([null, ...this.missions]), verification: null },
      ...{
        tags: [this.pick(WORDS)],
        costUsd: null,
        isSimulated: false,
        tokensUsed: null,
        runId: null,
        workNote: null,
        commentCount: 0,
        summary: null,
        workMs: null,
        notTaken: null,
        lastAgent: null,
      },
      ...{ createdAt: at, updatedAt: at, completedAt: null, isArchived: false, error: null },
      ...more,
    }
    this.tasks.set(id, task)
    this.#all.push(task)
    this.#tell(task, 'task_created', { title: task.title, priority: task.priority }, null, task.state)
    return task
  }

  /** The database is restored from an earlier copy: the newest tasks and events are gone. */
  restore(lostTasks: number, lostEvents: number): void {
    for (const { id } of this.#all.splice(-lostTasks)) this.tasks.delete(id)
    this.log.length -= lostEvents
  }

  #moveSome(all: Task[]): void {
    const task = this.pick(all)
    const names = MOVES.filter((name) =>
      (TASK_TRANSITIONS[name].from as readonly string[]).includes(task.state),
    )
    if (names.length > 0) this.move(task, this.pick(names))
  }

  move(task: Task, name: TransitionName): void {
    const { to } = TASK_TRANSITIONS[name]
    const { state: from, generation } = task
    const at = new Date(this.#now).toISOString()
    const payload: Record<string, unknown> = {}
    if (name === 'task_assigned') {
      const agent = task.agent ?? this.pick(AGENTS)
      Object.assign(task, { generation: generation + 1, attempt: task.attempt + 1 })
      Object.assign(payload, { agent, leaseMs: 30_000, attempt: task.attempt })
      Object.assign(task, { lastAgent: agent, percent: null, step: null })
      task.holder = { agent, leaseExpiresAt: new Date(this.#now + 30_000).toISOString() }
    }
    if (dropsProgress(from, to)) Object.assign(task, { percent: null, step: null })
    if (!isHeld(to)) task.holder = null
    if (to !== from || name === 'task_assigned') task.stateSince = at
    task.dueAt = to === 'awaiting_retry' ? new Date(this.#now + 9_000).toISOString() : null
    if (task.dueAt) payload.retryAt = this.#now + 9_000
    const board = TASK_STATES[to].board
    Object.assign(task, { state: to, board, updatedAt: at, version: task.version + 1, isArchived: false })
    task.completedAt = isTerminal(to) ? at : null
    Object.assign(task, waitsIn(task, to, name, payload))
    this.#tell(task, name, payload, from, to)
  }

  #note(task: Task): void {
    const percent = Math.floor(this.#random() * 100)
    if (this.#random() < 0.3) {
      task.commentCount += 1
      this.#tell(task, 'comment_added', {})
    } else {
      const said = this.pick([{ percent }, { step: `step ${percent}` }, { percent, step: 'at work' }])
      Object.assign(task, {
        ...said,
        version: task.version + 1,
        updatedAt: new Date(this.#now).toISOString(),
      })
      this.#tell(task, 'task_progress', said)
    }
  }

  #update(task: Task): void {
    this.edit(
      task,
      this.pick([
        { priority: 1 + Math.floor(this.#random() * 10) },
        { title: `${this.pick(WORDS)} again` },
        { tags: [this.pick(WORDS)] },
        { agent: this.pick([null, ...AGENTS]) },
        { taskType: this.pick(TYPES) },
      ]),
    )
  }

  edit(task: Task, change: Partial<Task>): void {
    Object.assign(task, change, { version: task.version + 1, updatedAt: new Date(this.#now).toISOString() })
    this.#tell(task, 'task_updated', { fields: Object.keys(change) })
  }

  archive(task: Task): void {
    if (!isTerminal(task.state) || task.isArchived) return
    Object.assign(task, { isArchived: true, version: task.version + 1 })
    this.#tell(task, 'task_archived', {})
  }

  #tell(
    task: Task,
    type: LiveEvent['type'],
    payload: Record<string, unknown>,
    from: TaskState | null = null,
    to: TaskState | null = null,
  ): void {
    const { id: taskId, missionId, purpose, generation, version } = task
    this.log.push({
      ...{ seq: this.seq + 1, type, entityType: 'task', entityId: taskId, taskId, missionId, runId: null },
      ...{
        generation,
        version,
        number: null,
        purpose,
        from,
        to,
        payload,
        at: new Date(this.#now).toISOString(),
      },
      level: 'INFO',
      ...{ actor: 'system', actorName: null, by: { kind: 'system', id: null, name: null } },
    })
  }

  /** As GET /board answers at this moment. A cursor is the place of the last card. */
  board({ column, cursor, limit, counts: onlyCounts, ...filter }: BoardQuery) {
    const all = [...this.tasks.values()].filter((task) => !task.isArchived && matches(task, filter))
    const counts: Partial<Record<TaskState, number>> = {}
    for (const { state } of all) counts[state] = (counts[state] ?? 0) + 1
    const most = onlyCounts ? 0 : Number(limit ?? 50)
    const after = cursor === undefined ? null : (JSON.parse(cursor) as number[])
    const columnOf = (name: BoardColumn) => {
      const placed = all
        .filter((task) => task.board === name)
        .map((task) => ({ task, place: placeIn(name, cardFrom(task)) }))
        .filter(({ place }) => after === null || comparePlaces(place, after) > 0)
        .sort((a, b) => comparePlaces(a.place, b.place))
      const shown = placed.slice(0, most)
      const count = statesIn(name).reduce((sum, state) => sum + (counts[state] ?? 0), 0)
      const nextCursor = placed.length > most && shown.length > 0 ? JSON.stringify(shown.at(-1)!.place) : null
      return { count, items: shown.map(({ task }) => cardOf(task)), sort: COLUMN_ORDER[name], nextCursor }
    }
    const names = column === undefined ? BOARD_COLUMNS : [column]
    const columns = Object.fromEntries(names.map((name) => [name, columnOf(name)]))
    return { columns, counts, isDoneBounded: false, seq: this.seq }
  }

  cards(ids: readonly string[]) {
    const items = ids.flatMap((id) => this.tasks.get(id) ?? []).map(cardOf)
    return { items, seq: this.seq }
  }
}

const cardOf = ({ isArchived: _archived, error: _error, ...card }: Task): AnsweredCard =>
  structuredClone(card)

/** What waits for a person, and why it failed, as the rules of the server note it. */
function waitsIn({ error }: Task, to: TaskState, name: TransitionName, payload: Record<string, unknown>) {
  if (to === 'awaiting_human') {
    payload.reason = 'Look.'
    return { awaits: 'result', reason: 'Look.' }
  }
  if (to === 'budget_exceeded') {
    payload.error = 'Spent.'
    return { awaits: 'budget', reason: 'Spent.' }
  }
  if (name === 'task_failed') {
    Object.assign(payload, { reason: 'attempts', error: 'It broke.' })
    return { awaits: 'person', reason: 'It broke.', error: 'It broke.' }
  }
  if (name === 'task_retrying') {
    payload.error = 'Again.'
    return { awaits: null, reason: 'Again.', error: 'Again.' }
  }
  const isCleared =
    to === 'completed' || name === 'task_human_rejected' || name === 'task_verification_failed'
  return isCleared ? { awaits: null, reason: null, error: null } : { awaits: null, reason: error }
}
