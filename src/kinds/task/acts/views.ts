import type { StoredClaim, StoredResult, StoredTask } from '../../../kernel/store/store.ts'
import { actorIn } from '../../../pure/actors.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { isHeld, TASK_STATES } from '../../../pure/states.ts'
import type { EventView } from '../../../views/events/shapes.ts'
import { entityOf, textOrNull } from '../../event-entities.ts'
import { levelOf } from '../../log.ts'
import type { TaskDetails } from '../command.ts'
import type { LargeDetail } from '../postgres/details.ts'
import type { EventWithTask, TaskRecord } from '../record.ts'
import type { TaskTimers } from '../rules/groups.ts'
import { resultDigestOf } from '../rules/standing-result.ts'
import { trackOfQueue } from '../rules/task-keys.ts'
import type { TaskQuestion } from '../rules/waiting.ts'
import type { ClaimHistoryView } from '../shapes/claims.ts'
import type { ResultView } from '../shapes/results.ts'
import type { BriefTask, ListedTask, TaskView } from '../shapes/tasks.ts'

/** Records as API answers. */

type Brief = AnswerOf<typeof BriefTask>
type Task = AnswerOf<typeof TaskView>

/** A task from its narrow row alone. */
export function recordView(record: TaskRecord): Brief {
  const { type, board } = TASK_STATES[record.state]
  return {
    id: record.uuid,
    key: record.key,
    track: record.trackQueue === '' ? null : trackOfQueue(record.trackQueue),
    merge: record.merge === 'none' ? null : record.merge,
    state: record.state,
    stateType: type,
    board,
    priority: record.priority,
    generation: record.generation,
    epoch: record.epoch,
    version: record.version,
    attempt: record.attempt,
    maxRetries: record.maxRetries,
    continuations: record.continuations,
    maxContinuations: record.maxContinuations,
    agent: record.onlyAgent,
    requiredCapabilities: record.capabilities,
    verification: record.verification === 'none' ? null : { kind: record.verification },
    holder: isHeld(record.state)
      ? {
          agent: record.agent!,
          session: record.session!,
          generation: record.generation,
          leaseExpiresAt: instant(record.leaseExpiresAt!),
          ...(record.holder?.claimMetadata && { metadata: record.holder.claimMetadata }),
        }
      : null,
    timeouts: record.timers && timeoutsView(record.timers),
    estimatedDurationMinutes:
      record.timers?.estimateMs === undefined ? null : record.timers.estimateMs / 60_000,
    dueAt: instant(record.dueAt),
    expiresAt: instant(record.expiresAt),
    createdAt: instant(record.createdAt),
    updatedAt: instant(record.updatedAt),
    startedAt: instant(record.startedAt),
    completedAt: instant(record.completedAt),
    archivedAt: instant(record.archivedAt),
    purpose: record.purpose,
    optional: record.optional,
    servesTask: record.serves?.uuid ?? null,
    servesGeneration: record.serves?.generation ?? null,
    resultDigest: resultDigestOf(record),
  }
}

/** From its first start to its end; null: it has not ended, or was never started. */
export const durationMs = ({ startedAt, completedAt }: Pick<TaskRecord, 'startedAt' | 'completedAt'>) =>
  startedAt === null || completedAt === null ? null : completedAt - startedAt

/** The timeouts set on the task itself; null when there are none. */
function timeoutsView({
  assignMs,
  stallMs,
  verifyMs,
  hangGraceMs,
  hangAbortMs,
  attemptMs,
  deadlineMs,
}: TaskTimers): Brief['timeouts'] {
  const own = {
    assignSeconds: inSeconds(assignMs),
    stallSeconds: inSeconds(stallMs),
    verifySeconds: inSeconds(verifyMs),
    hangGraceSeconds: inSeconds(hangGraceMs),
    hangAbortSeconds: inSeconds(hangAbortMs),
    attemptSeconds: inSeconds(attemptMs),
    deadlineSeconds: inSeconds(deadlineMs),
  }
  return Object.values(own).every((seconds) => seconds === undefined) ? null : own
}

const inSeconds = (ms: number | undefined) => (ms === undefined ? undefined : ms / 1000)

/** What its last claim reported; null when it reported nothing. A new claim begins without what the one before it had reached. */
function progressView(
  { timers }: TaskRecord,
  { progressPercent, progressStep }: TaskDetails,
): Task['progress'] {
  const { doneBy = null, progressAt = null } = timers ?? {}
  if (doneBy === null && progressAt === null) return null
  return {
    percent: progressAt === null ? null : (progressPercent ?? null),
    step: progressAt === null ? null : (progressStep ?? null),
    estimatedCompletionAt: instant(doneBy),
    updatedAt: instant(progressAt),
  }
}

const questionView = ({ askedAt, answeredAt, ...question }: TaskQuestion): Task['question'] => ({
  ...question,
  askedAt: instant(askedAt),
  answeredAt: instant(answeredAt),
})

const awaitsView = ({ waitsKind, waitsSince, waitsBecause }: TaskDetails): Task['awaits'] =>
  waitsKind ? { kind: waitsKind, reason: waitsBecause ?? null, since: instant(waitsSince!) } : null

export function taskView({ record, details }: StoredTask): Task {
  const { title, taskType, description, input, tags, dependsOn, project, parent, userId } = details
  const { metadata, createdBy } = details
  const { error, failureClass, checkpoint } = details
  // Not by spreading: an object that begins with a spread costs several times as much, and every claim shows one.
  return Object.assign(recordView(record), {
    title,
    taskType,
    description,
    input: input ?? null,
    tags,
    dependsOn,
    project,
    parentId: parent,
    missionId: details.mission ?? null,
    plan: details.plan ?? null,
    userId,
    metadata: metadata ?? null,
    createdBy: createdBy ?? null,
    error: error ?? null,
    failureClass: failureClass ?? null,
    exitCode: record.holder?.exitCode ?? null,
    progress: progressView(record, details),
    checkpointData: checkpoint ?? null,
    question: details.question ? questionView(details.question) : null,
    awaits: awaitsView(details),
    commentCount: details.commentCount ?? 0,
  } satisfies Omit<Task, keyof Brief>)
}

/** Under the names with which a task is created. */
export const planFieldsView = (plan: TaskDetails['plan']) => ({
  model: plan?.model ?? null,
  ...(plan?.preferredAgent !== undefined && { preferredAgent: plan.preferredAgent }),
  complexity: plan?.complexity ?? null,
  estimatedTokens: plan?.estimatedTokens ?? null,
  successCriteria: plan?.successCriteria ?? null,
  outputSchema: plan?.outputSchema ?? null,
  toolsRequested: plan?.toolsRequested ?? [],
  systemPrompt: plan?.systemPrompt ?? null,
  budget: plan?.budget ?? null,
})

/** A task in a list: large fields are included only on request. `summary` is undefined where it was not asked for. */
export function listedTaskView(
  task: StoredTask,
  include: ReadonlySet<LargeDetail>,
  summary?: string | null,
): AnswerOf<typeof ListedTask> {
  const { input, checkpointData, ...view } = taskView(task)
  return {
    ...view,
    ...(include.has('input') ? { input } : {}),
    ...(include.has('checkpoint') ? { checkpointData } : {}),
    ...(summary === undefined ? {} : { summary }),
  }
}

/** A generation in a task's lineage; `resultAccepted` says whether its result was accepted. */
export function claimRowView(
  claim: StoredClaim,
  results: readonly StoredResult[],
  userId: string | null,
): AnswerOf<typeof ClaimHistoryView> {
  const own = results.filter(
    ({ generation, session }) => generation === claim.generation && session === claim.session,
  )
  const accepted = own.find((result) => result.accepted === true)
  return {
    generation: claim.generation,
    session: claim.session,
    agent: claim.agent,
    state: claim.state,
    acquiredAt: instant(claim.acquiredAt),
    releasedAt: instant(claim.endedAt),
    releaseReason: claim.endReason,
    resultAccepted: accepted ? true : own.some((result) => result.accepted === false) ? false : null,
    workProductRef: accepted?.ref ?? null,
    userId,
  }
}

export const resultView = (result: StoredResult): AnswerOf<typeof ResultView> => ({
  workProductRef: result.ref,
  generation: result.generation,
  epoch: result.epoch,
  session: result.session,
  agent: result.agent,
  accepted: result.accepted,
  rejectionReason: result.rejection,
  result: result.data,
  summary: result.summary,
  commit: result.commit,
  processingMs: result.processingMs,
  submittedAt: instant(result.submittedAt),
})

/** A result in a list, without its data. */
export function listedResultView(listed: StoredResult): Omit<AnswerOf<typeof ResultView>, 'result'> {
  const { result: _result, ...view } = resultView(listed)
  return view
}

export function eventView(event: EventWithTask, actorName: string | null): AnswerOf<typeof EventView> {
  const { type, taskUuid: taskId, missionUuid: missionId, actor, payload } = event
  const entity = entityOf({ type, taskId, missionId, payload })
  return {
    seq: event.seq,
    type,
    entityType: entity.type,
    entityId: entity.id,
    taskId,
    missionId,
    runId: textOrNull(payload.runId),
    generation: event.generation,
    version: event.version ?? null,
    number: event.number,
    purpose: event.purpose,
    from: event.from,
    to: event.to,
    actor,
    actorName,
    by: actorIn(actor, actorName),
    payload,
    level: levelOf(event),
    at: instant(event.at),
  }
}
