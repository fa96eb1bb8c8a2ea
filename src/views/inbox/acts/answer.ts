import type { z } from 'zod'
import type { Execution } from '../../../door/execution.ts'
import { slugUnlessOwn } from '../../../door/named-agents.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { forOne } from '../../../kernel/many.ts'
import { once } from '../../../kernel/once.ts'
import { operateAgent } from '../../../kinds/agent/acts/agents.ts'
import { acknowledgeAlert } from '../../../kinds/alert/acts.ts'
import {
  cancelStopped,
  moveBetween,
  operateBudget,
  requireBudget,
} from '../../../kinds/budget/acts/operate.ts'
import { listBudgets } from '../../../kinds/budget/postgres/reads.ts'
import { budgetState } from '../../../kinds/budget/rules/room.ts'
import {
  approveMission,
  operateMission,
  rejectMission,
  requireMission,
} from '../../../kinds/mission/acts/missions.ts'
import { isEnd, stateOf } from '../../../kinds/mission/states.ts'
import { commentFrom } from '../../../kinds/task/acts/comment-from.ts'
import { command } from '../../../kinds/task/acts/tasks.ts'
import { raiseBudget, updateTask } from '../../../kinds/task/acts/update.ts'
import type { TaskCommand } from '../../../kinds/task/command.ts'
import type { TaskRecord } from '../../../kinds/task/record.ts'
import type { Budget } from '../../../pure/budget.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { type InboxRow, readInboxItem } from '../postgres.ts'
import type { Decision, InboxAnswer, InboxOutcome } from '../shapes.ts'
import { firstAnswer } from './first-answer.ts'
import { actionsFor, idOf, itemView, type NamedItem, namedIn, placeOf } from './items.ts'
import { changedSince, settleBeforeReading } from './read.ts'

/** Answers to items of the inbox: each carries out what was decided about the item, bound to what was seen. */

type Given = z.output<typeof InboxAnswer>
type Outcome = { state: string }

/** Refusals that say that it has changed. */
const CHANGED = new Set(['STALE_GENERATION', 'WRONG_STATE', 'CHANGED_SINCE', 'VERSION_MISMATCH', 'NOT_FOUND'])

export async function answerInboxItem(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  id: string,
  given: Given,
): Promise<AnswerOf<typeof InboxOutcome>> {
  const named = namedIn(id)
  if (named.about === 'alert') await settleBeforeReading(kernel, caller.workspaceId)
  const row = await readInboxItem(kernel.store.readers, caller.workspaceId, placeOf(named))
  const isAsSeen =
    row !== null &&
    idOf(row) === id &&
    (given.generation === undefined || given.generation === row.generation) &&
    (given.digest === undefined || given.digest === row.digest)
  if (!isAsSeen) {
    const first = await firstAnswer(kernel, caller, named, given.decision)
    if (first) return first
    const seen = row === null && given.decision === 'seen' && (await seenBefore(kernel, caller, named))
    if (seen) return seen
    throw await changedSince(kernel, caller, named, row)
  }
  const actions = actionsFor(row)
  if (!actions.includes(given.decision))
    throw Refused.field('VALIDATION_FAILED', 'decision', `must be one of: ${actions.join(', ')}`)
  const outcome = async () => {
    const { state } = await perform(kernel, execution, caller, row, given)
    return { id, decision: given.decision, about: itemView(row).about, state }
  }
  try {
    // The item of a budget may still be there after its answer.
    return await (row.budget ? once(kernel, caller, outcome) : outcome())
  } catch (error) {
    if (!(error instanceof Refused) || !CHANGED.has(error.code)) throw error
    throw await changedSince(kernel, caller, named, null)
  }
}

/** Somebody else has seen it already: that is what was wanted. */
async function seenBefore(
  kernel: ServerKernel,
  caller: Caller,
  { id, about, name }: NamedItem,
): Promise<AnswerOf<typeof InboxOutcome> | null> {
  if (about !== 'finished') return null
  const mission = await requireMission(kernel, caller, name)
  if (!isEnd(mission.phase)) return null
  const subject = { taskId: null, missionId: mission.uuid, runId: null, agent: null, budgetId: null }
  return { id, decision: 'seen', about: subject, state: stateOf(mission) }
}

function perform(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  row: InboxRow,
  given: Given,
): Promise<Outcome> {
  if (row.kind === 'agent') return onAgent(kernel, execution, caller, row, given)
  if (row.alert) return acknowledgeAlert(kernel, caller, row.alert.id, given.comment ?? null)
  if (row.budget) return onBudget(kernel, forOne(caller, 'budget'), row.budget, row, given)
  if (row.ref === 'mission') return onMission(kernel, caller, row, given)
  const agent = row.kind === 'alert' ? row.onlyAgent : row.judge
  if (given.decision === 'resume' && row.kind !== 'budget')
    return resumeFor(kernel, execution, caller, row, agent!, given.comment)
  return onTask(kernel, caller, row, given)
}

/** What it has stopped is cancelled, or continues with more. */
async function onBudget(
  kernel: ServerKernel,
  caller: Caller,
  { budgetId, unknownModel }: NonNullable<InboxRow['budget']>,
  { generation }: InboxRow,
  { decision, budget, move, comment }: Given,
): Promise<Outcome> {
  if (decision === 'cancel') await cancelStopped(kernel, caller, budgetId, comment ?? null)
  else if (decision === 'allow')
    await operateBudget(kernel, caller, budgetId, { kind: 'allowModel', model: unknownModel! })
  else if (decision === 'raise')
    await operateBudget(kernel, caller, budgetId, {
      kind: 'update',
      ifVersion: generation,
      set: givenBudget(budget),
    })
  else {
    if (move === undefined) throw Refused.field('VALIDATION_FAILED', 'move', 'is missing')
    if ((await listBudgets(kernel.store.readers, caller.workspaceId, { id: move.from }, 1)).length === 0)
      throw Refused.field('VALIDATION_FAILED', 'move.from', 'is no budget of this workspace')
    await moveBetween(kernel, caller, { ...move, to: budgetId })
  }
  return { state: budgetState(await requireBudget(kernel, caller, budgetId)) }
}

/** The agent works again, and what waited for it is given to it: a result that a person was asked about is judged after all. */
async function resumeFor(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  row: InboxRow,
  agent: string,
  comment: string | undefined,
): Promise<Outcome> {
  // The idempotency key is that of what follows.
  await operateAgent(kernel, execution, { ...caller, idempotency: undefined }, agent, { kind: 'resume' })
  if (row.kind === 'alert') return { state: row.taskState! }
  return verifyAgain(kernel, caller, row, agent, comment)
}

async function verifyAgain(
  kernel: ServerKernel,
  caller: Caller,
  { taskId, generation, digest }: InboxRow,
  agent: string | null,
  comment: string | undefined,
): Promise<Outcome> {
  const bound = { generation: generation!, digest: digest ?? undefined }
  const act = { kind: 'verifyAgain', agent, ...bound } as const
  const { record } = await command(kernel, caller, taskId!, act, commentFrom(comment))
  return { state: record.state }
}

function onAgent(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  { ref: slug }: InboxRow,
  { decision, comment }: Given,
): Promise<Outcome> {
  const act = (command: Parameters<typeof operateAgent>[4]) =>
    operateAgent(kernel, execution, caller, slug, command)
  if (decision === 'resume') return act({ kind: 'resume' })
  if (decision === 'pause') return act({ kind: 'pause', graceful: true, reason: comment ?? null })
  return act({ kind: 'terminate', graceful: false, reason: comment ?? 'terminated by a person' })
}

function onMission(
  kernel: ServerKernel,
  caller: Caller,
  { kind, missionId, generation, digest }: InboxRow,
  { decision, comment, budget }: Given,
): Promise<Outcome> {
  const id = missionId!
  if (decision === 'seen') return operateMission(kernel, caller, id, { kind: 'seen' })
  // By the plan of the item, also where the caller names none.
  const seen = kind === 'outcome' ? { comment } : { planVersion: generation!, digest: digest!, comment }
  if (decision === 'approve') return approveMission(kernel, caller, id, seen)
  // biome-ignore lint/suspicious/noThenProperty: the name that clients use, on a value that is never awaited
  if (decision === 'reject') return rejectMission(kernel, caller, id, { ...seen, then: 'fail' })
  // biome-ignore lint/suspicious/noThenProperty: as above
  if (decision === 'replan') return rejectMission(kernel, caller, id, { ...seen, then: 'replan' })
  if (decision === 'cancel')
    return operateMission(kernel, caller, id, { kind: 'cancel', reason: comment ?? null })
  const ifVersion = kind === 'budget' ? generation : null
  return operateMission(kernel, caller, id, {
    kind: 'update',
    ifVersion,
    patch: { budget: givenBudget(budget) },
  })
}

async function onTask(kernel: ServerKernel, caller: Caller, row: InboxRow, given: Given): Promise<Outcome> {
  const { decision, answer } = given
  const id = row.taskId!
  if (decision === 'release') return updateTask(kernel, caller, id, { agent: null }, null)
  if (decision === 'raise') return raise(kernel, caller, row, given)
  if (decision === 'verify') {
    const judge = given.agent === undefined ? null : await slugUnlessOwn(kernel, caller, given.agent)
    return verifyAgain(kernel, caller, row, judge, given.comment)
  }
  if (decision === 'answer' && answer === undefined)
    throw Refused.field('VALIDATION_FAILED', 'answer', 'is missing')
  const { record } = await command(kernel, caller, id, commandFor(row, given), commentFrom(given.comment))
  return { state: record.state }
}

function givenBudget(budget: Given['budget']): Budget {
  if (budget === undefined) throw Refused.field('VALIDATION_FAILED', 'budget', 'is missing')
  return budget
}

function raise(
  kernel: ServerKernel,
  caller: Caller,
  { taskId, taskState, generation: seen }: InboxRow,
  { budget }: Given,
): Promise<Outcome> {
  const isAsSeen = ({ state, generation }: TaskRecord) => state === taskState && generation === seen
  return raiseBudget(kernel, caller, taskId!, givenBudget(budget), isAsSeen)
}

type OfTask = Exclude<
  Decision,
  | 'replan'
  | 'raise'
  | 'move'
  | 'allow'
  | 'release'
  | 'pause'
  | 'terminate'
  | 'verify'
  | 'seen'
  | 'acknowledge'
>

type OnItem = Extract<TaskCommand, { kind: Exclude<OfTask, 'fail'> }>

function commandFor({ generation: seen, digest, taskState }: InboxRow, given: Given): OnItem {
  const { fresh } = given
  const comment = given.comment ?? null
  const generation = seen!
  const bound = { generation, digest: digest ?? undefined }
  const commands: Record<OfTask, OnItem> = {
    approve: { kind: 'approve', comment, ...bound },
    reject: { kind: 'reject', comment, ...bound, fresh },
    fail: { kind: 'reject', comment, ...bound, forGood: true },
    answer: { kind: 'answer', answer: given.answer!, generation },
    retry: { kind: 'retry', reason: comment, generation, fresh },
    resume: { kind: 'resume', generation },
    archive: { kind: 'archive' },
    skip: { kind: 'skip', reason: comment ?? 'skipped by a person', generation, whileIn: taskState! },
    cancel: { kind: 'cancel', reason: comment, generation, whileIn: taskState! },
  }
  return commands[given.decision as OfTask]
}
