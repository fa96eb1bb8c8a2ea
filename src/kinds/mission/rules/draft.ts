import { type Refusal, refuse } from '../../../pure/errors.ts'
import { type CommentAdded, type NewComment, saidOnMission } from '../../comment/record.ts'
import { type EventDraft, type EventType, missionEvent } from '../../events.ts'
import type { NewReport, ReportAdded } from '../../report/rules/report.ts'
import type { NewTask } from '../../task/command.ts'
import type { Actor } from '../../task/record.ts'
import { itemsChanged } from '../../task/rules/inbox-events.ts'
import type { MissionRecord } from '../record.ts'
import { isEnd, type MissionState, type MissionTransition, moved, NEW, stateOf } from '../states.ts'
import type { MissionCommand } from './command.ts'
import { closedTimes } from './gate.ts'
import { awaitsAcceptance } from './outcome.ts'

/**
 * What a mission has in the inbox: the plan that waits for approval, the budget that is spent, the outcome to accept, and that it has
 * ended. The query says the same.
 */
function itemsOf(mission: MissionRecord) {
  const { uuid, phase, closedBy, plan, approved, version, updatedAt, error, config } = mission
  if (isEnd(phase)) return mission.unseen ? [finishedItem(mission)] : []
  const isNewer = approved && plan && approved.version < plan.version
  const common = { agent: null, reason: error, since: updatedAt }
  const generation = plan?.version ?? null
  const digest = approved?.version === plan?.version ? null : (plan?.digest ?? null)
  return [
    ...(phase === 'awaiting_approval' || isNewer
      ? [{ ...common, id: `plan:${uuid}:${generation ?? 0}`, kind: 'plan' as const, generation, digest }]
      : []),
    ...(closedBy.includes('budget')
      ? [{ ...common, id: `budget:${uuid}`, kind: 'budget' as const, generation: version, digest: null }]
      : []),
    ...(awaitsAcceptance(mission)
      ? [
          {
            ...{ agent: null, since: updatedAt, reason: config.outcome!.missing },
            ...{ id: `outcome:${uuid}`, kind: 'outcome' as const, generation: version, digest: null },
          },
        ]
      : []),
  ]
}

const finishedItem = ({ uuid, error, completedAt, version }: MissionRecord) => ({
  ...{ id: `finished:${uuid}`, kind: 'finished' as const, agent: null, reason: error },
  ...{ since: completedAt!, generation: version, digest: null },
})

const missionItemsChanged = (before: MissionRecord | null, after: MissionRecord, because: string) =>
  itemsChanged(before ? itemsOf(before) : [], itemsOf(after), because)

export interface MissionContext {
  now: number
  actor: Actor
}

export interface MissionDecision {
  refusal: Refusal | null
  record: MissionRecord | null
  events: EventDraft[]
  comments: readonly CommentAdded[]
  reports: readonly ReportAdded[]
  /** New tasks of the mission, in the same transaction. */
  creates: readonly NewTask[]
}

export type Command<K extends MissionCommand['kind']> = Extract<MissionCommand, { kind: K }>

/** Changes the mission, or says why not. */
export type Act<K extends MissionCommand['kind']> = (
  draft: MissionDraft,
  command: Command<K>,
  context: MissionContext,
) => Refusal | null

/** A mission being changed: `move` is the only place that changes its phase or its gate. */
export class MissionDraft {
  record: MissionRecord
  readonly #before: MissionRecord | null
  readonly #context: MissionContext
  readonly #events: EventDraft[] = []
  readonly #comments: CommentAdded[] = []
  readonly #reports: ReportAdded[] = []
  #isChanged = false
  creates: readonly NewTask[] = []
  #isSetQuietly = false

  constructor(record: MissionRecord, context: MissionContext, isNew = false) {
    this.record = { ...record }
    this.#before = isNew ? null : record
    this.#context = context
  }

  /** A change of its phase or its gate, recorded by the event of its name. */
  move(name: MissionTransition, payload: Record<string, unknown> = {}): void {
    const isNew = name === 'mission_created'
    const from = isNew ? null : stateOf(this.record)
    const progress = moved(name, isNew ? NEW : this.record)
    Object.assign(this.record, progress, closedTimes(this.record, progress, this.#context.now))
    this.note(name, payload, from, stateOf(this.record))
  }

  /** An event, and a new version. */
  note(
    type: EventType,
    payload: Record<string, unknown>,
    from: MissionState | null = null,
    to: MissionState | null = null,
  ): void {
    this.#isChanged = true
    this.record.updatedAt = this.#context.now
    this.emit(type, payload, from, to)
  }

  /** An event about it that is no change: those who edit it are not disturbed. */
  emit(
    type: EventType,
    payload: Record<string, unknown>,
    from: MissionState | null = null,
    to: MissionState | null = null,
  ): void {
    const { id, uuid } = this.record
    this.#events.push(missionEvent(type, { id, uuid }, payload, this.#context, from, to))
  }

  /** A comment is no change of it either. */
  say(said: NewComment): void {
    const { comment, event } = saidOnMission(this.record, said, this.#context)
    this.#comments.push(comment)
    this.#events.push(event)
  }

  /** Nor is a report. */
  report({ author, ...report }: NewReport): void {
    const { id, uuid } = this.record
    const { now, actor } = this.#context
    const { task, type: kind, version, source } = report
    this.#reports.push({ ...report, missionId: id, author: author ?? actor, at: now })
    this.record.reportCount += 1
    const payload = {
      ...{ reportId: report.uuid, version, kind, source, author: author ?? actor },
      ...(task && { taskId: task.uuid }),
    }
    const event = missionEvent('report_written', { id, uuid }, payload, this.#context)
    this.#events.push(task ? { ...event, taskId: task.id, generation: task.generation } : event)
  }

  /** What nobody reads but upkeep: no event, and no new version. */
  setQuietly(fields: Partial<Pick<MissionRecord, 'retryAt' | 'dueAt'>>): void {
    Object.assign(this.record, fields)
    this.#isSetQuietly = true
  }

  decision(): MissionDecision {
    const events = this.#events
    const written = { refusal: null, events, comments: this.#comments, reports: this.#reports }
    if (this.#isSetQuietly && events.length === 0) return { ...written, record: this.record, creates: [] }
    if (this.#before && events.length === 0) return { ...written, record: this.#before, creates: [] }
    if (this.#before && this.#isChanged) this.record.version = this.#before.version + 1
    const { id, uuid } = this.record
    const items = missionItemsChanged(this.#before, this.record, events[0]!.type).map(([type, payload]) =>
      missionEvent(type, { id, uuid }, payload, this.#context),
    )
    // What happened stays the last event of a decision.
    events.splice(-1, 0, ...items)
    return { ...written, record: this.record, creates: this.creates }
  }
}

export const wrongState = ({ record }: MissionDraft, act: string) =>
  refuse('WRONG_STATE', `"${act}" is not possible for a mission that is ${stateOf(record)}.`, {
    missionState: stateOf(record),
  })
