import { type Refusal, refuse } from '../../../pure/errors.ts'
import { type EventDraft, type EventType, workspaceEvent } from '../../events.ts'
import type { Actor } from '../../task/record.ts'
import type { RoutineRecord } from '../record.ts'
import type { NewMission, RoutineCommand } from './command.ts'
import { dueOf, nextOf } from './schedule.ts'

/** What a command does to a routine at a moment. */

interface RoutineContext {
  now: number
  actor: Actor
  /** A mission of the routine has not ended, or a process of one is left. */
  isBusy: boolean
}

export interface RoutineDecision {
  refusal: Refusal | null
  record: RoutineRecord | null
  events: EventDraft[]
  /** Starts in the same transaction. If it is refused, so is the command. */
  mission: NewMission | null
}

type Command<K extends RoutineCommand['kind']> = Extract<RoutineCommand, { kind: K }>

export function decideRoutine(
  before: RoutineRecord | null,
  uuid: string,
  command: RoutineCommand,
  context: RoutineContext,
): RoutineDecision {
  if (command.kind === 'create') {
    if (before) return refused(before, refuse('ALREADY_EXISTS', 'This routine exists already.'))
    return create(uuid, command, context)
  }
  if (!before || before.removedAt !== null)
    return refused(before, refuse('NOT_FOUND', `There is no routine ${uuid} in this workspace.`))
  const draft = new RoutineDraft(before, context)
  const refusal = act(draft, command, context)
  return refusal ? refused(before, refusal) : draft.decision()
}

const refused = (record: RoutineRecord | null, refusal: Refusal): RoutineDecision => ({
  ...{ refusal, record, events: [], mission: null },
})

/** A routine being changed. */
class RoutineDraft {
  readonly record: RoutineRecord
  readonly #before: RoutineRecord
  readonly #context: RoutineContext
  readonly #events: EventDraft[] = []
  #mission: NewMission | null = null

  constructor(record: RoutineRecord, context: RoutineContext) {
    this.record = { ...record }
    this.#before = record
    this.#context = context
  }

  get hasStarted(): boolean {
    return this.#mission !== null
  }

  emit(type: EventType, payload: Record<string, unknown> = {}, missionId?: number): void {
    const about = { routineId: this.record.uuid, ...payload }
    const event = workspaceEvent(type, about, this.#context)
    this.#events.push(missionId === undefined ? event : { ...event, missionId })
  }

  /** Null: by hand. */
  start({ uuid, command }: NewMission, scheduledFor: number | null): void {
    const { record } = this
    const { config } = command
    const routine = { ...config.routine!, scheduledFor: scheduledFor === null ? null : instant(scheduledFor) }
    this.#mission = { uuid, command: { ...command, config: { ...config, routine } } }
    if (scheduledFor !== null) {
      record.lastFor = Math.max(record.lastFor ?? 0, scheduledFor)
      record.skippedInRow = 0
      record.isReplacing = false
    }
    record.startedAt = this.#context.now
    this.emit('routine_started', { missionId: uuid, scheduledFor: routine.scheduledFor }, command.id)
  }

  decision(): RoutineDecision {
    const isChanged = this.#events.length > 0 || this.record.nextAt !== this.#before.nextAt
    const record = isChanged ? { ...this.record, updatedAt: this.#context.now } : this.#before
    return { refusal: null, record, events: this.#events, mission: this.#mission }
  }
}

const instant = (at: number) => new Date(at).toISOString()

function create(uuid: string, command: Command<'create'>, context: RoutineContext): RoutineDecision {
  const { kind: _kind, ...settings } = command
  const { now, actor } = context
  const record: RoutineRecord = {
    ...settings,
    uuid,
    ...{ nextAt: null, waiting: [], isReplacing: false, skippedInRow: 0, startedAt: null, lastFor: null },
    ...{ approvedBy: actor, createdBy: actor, version: 1, createdAt: now, updatedAt: now, removedAt: null },
  }
  const draft = new RoutineDraft(record, context)
  schedule(draft, now)
  draft.emit('routine_created', { name: record.name, origin: record.origin })
  return draft.decision()
}

/** From now on, and after all that has fired. */
function schedule({ record }: RoutineDraft, now: number): void {
  const isOn = record.schedule !== null && record.isEnabled && record.removedAt === null
  record.nextAt = isOn ? nextOf(record.schedule!, Math.max(now, record.lastFor ?? 0)) : null
  record.waiting = []
  record.isReplacing = false
  record.skippedInRow = 0
}

function act(
  draft: RoutineDraft,
  command: Exclude<RoutineCommand, { kind: 'create' }>,
  context: RoutineContext,
): Refusal | null {
  switch (command.kind) {
    case 'update':
      return update(draft, command, context)
    case 'remove':
      draft.record.removedAt = context.now
      schedule(draft, context.now)
      draft.emit('routine_removed')
      return null
    case 'run':
      if (command.version !== draft.record.version) return changedMeanwhile(draft.record)
      draft.start(command.mission, null)
      return null
    case 'elapse':
      if (command.version !== draft.record.version) return changedMeanwhile(draft.record)
      elapse(draft, command.mission, context)
      return null
    case 'fail':
      if (command.version !== draft.record.version) return changedMeanwhile(draft.record)
      fail(draft, command.reason, context)
      return null
  }
}

const changedMeanwhile = ({ version }: RoutineRecord) =>
  refuse('CHANGED_SINCE', `The routine is at version ${version} by now.`, { version })

const SCHEDULING = ['schedule', 'isEnabled'] as const

function update(
  draft: RoutineDraft,
  { ifVersion, patch }: Command<'update'>,
  { now, actor }: RoutineContext,
): Refusal | null {
  const { record } = draft
  if (ifVersion !== null && ifVersion !== record.version)
    return refuse('VERSION_MISMATCH', `The routine is at version ${record.version}.`, {
      currentVersion: record.version,
    })
  const before = JSON.stringify(record.schedule)
  const wasEnabled = record.isEnabled
  Object.assign(record, patch)
  record.version++
  if (patch.plan !== undefined) record.approvedBy = actor
  // Saving the same schedule again does not drop what waits.
  const isRescheduled = before !== JSON.stringify(record.schedule) || wasEnabled !== record.isEnabled
  if (SCHEDULING.some((field) => field in patch) && isRescheduled) schedule(draft, now)
  draft.emit('routine_updated', { fields: Object.keys(patch) })
  return null
}

const isDue = ({ nextAt }: RoutineRecord, now: number) => nextAt !== null && nextAt <= now

function elapse(draft: RoutineDraft, mission: NewMission, { now, isBusy }: RoutineContext): void {
  const { record } = draft
  if (isDue(record, now)) fire(draft, mission, record.nextAt!, now, isBusy)
  const [next, ...rest] = record.waiting
  if (next === undefined || isBusy || draft.hasStarted) return
  record.waiting = rest
  draft.start(mission, next)
}

/** Its time has come, once or several times. */
function fire(draft: RoutineDraft, mission: NewMission, from: number, now: number, isBusy: boolean): void {
  const { record } = draft
  const plan = record.schedule!
  // Whatever its row says, no time becomes a second mission.
  const since = Math.max(from, (record.lastFor ?? 0) + 1)
  const { current, missed, hasDropped } = dueOf(plan, since, now)
  record.nextAt = nextOf(plan, now)
  if (hasDropped) draft.emit('routine_missed', { since: instant(from), until: instant(now) })
  const isLater = missed.length + record.waiting.length > 0
  if (missed.length > 0) {
    record.waiting = [...record.waiting, ...missed]
    draft.emit('routine_waiting', {
      scheduledFor: instant(missed[0]!),
      because: 'catch_up',
      times: missed.length,
    })
  }
  if (current === null) return
  // What is caught up goes first.
  if (missed.length > 0) record.waiting = [...record.waiting, current]
  else if (!isBusy && !isLater) draft.start(mission, current)
  else overlap(draft, current)
}

/** The mission before has not ended. */
function overlap(draft: RoutineDraft, scheduledFor: number): void {
  const { record } = draft
  const policy = record.schedule!.overlap
  const when = { scheduledFor: instant(scheduledFor) }
  if (policy === 'replace') {
    const [oldest] = record.waiting
    if (oldest !== undefined)
      draft.emit('routine_missed', { since: instant(oldest), until: instant(record.waiting.at(-1)!) })
    record.waiting = [scheduledFor]
    record.isReplacing = true
    draft.emit('routine_waiting', { ...when, because: 'replace', times: 1 })
  } else if (policy === 'queue' && record.waiting.length === 0) {
    record.waiting = [scheduledFor]
    draft.emit('routine_waiting', { ...when, because: 'queue', times: 1 })
  } else {
    record.skippedInRow++
    draft.emit('routine_skipped', { ...when, inRow: record.skippedInRow })
  }
}

/** The next scheduled time is another attempt. */
function fail(draft: RoutineDraft, reason: string, { now }: RoutineContext): void {
  const { record } = draft
  const scheduledFor = isDue(record, now) ? dropDue(draft, now) : dropWaiting(record)
  if (scheduledFor === null) return
  draft.emit('routine_failed', { scheduledFor: instant(scheduledFor), reason })
}

/** The time that should have started now, if any. Those before it would fail for the same reason, so they are missed. */
function dropDue(draft: RoutineDraft, now: number): number | null {
  const { record } = draft
  const from = record.nextAt!
  const { current, missed } = dueOf(record.schedule!, from, now)
  const failed = current ?? missed.at(-1) ?? null
  record.nextAt = nextOf(record.schedule!, now)
  if (failed !== from) draft.emit('routine_missed', { since: instant(from), until: instant(now) })
  return failed
}

function dropWaiting(record: RoutineRecord): number | null {
  const [failed = null, ...rest] = record.waiting
  record.waiting = rest
  if (rest.length === 0) record.isReplacing = false
  return failed
}
