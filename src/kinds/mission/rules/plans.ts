import { type Refusal, refuse } from '../../../pure/errors.ts'
import type { NewContractor } from '../../agent/rules/contractors.ts'
import { contractorsIn } from '../../agent/rules/contractors-of-tasks.ts'
import { picosOf } from '../../run/rules/dollars.ts'
import type { NewTask } from '../../task/command.ts'
import type { Actor } from '../../task/record.ts'
import type { MissionRecord, PlanVersion } from '../record.ts'
import type { PlanningTask, ProposedPlan } from './command.ts'
import type { MissionContext, MissionDraft } from './draft.ts'
import { settle } from './ends.ts'

/** The plan of a mission: made, seen, approved. */

/** With a plan it waits for approval, or begins at once; without one it is planned first. */
export function start(
  draft: MissionDraft,
  tasks: readonly NewTask[],
  planning: PlanningTask | null,
  context: MissionContext,
  approvedBy: Actor | null = null,
): void {
  draft.record.dueAt = null
  if (draft.record.plan) planIsReady(draft, tasks, context, approvedBy)
  else startPlanning(draft, planning!)
}

export function startPlanning(draft: MissionDraft, planning: PlanningTask): void {
  const { onlyAgent: agent, plannerModel } = planning
  draft.move('mission_planning_started', { agent, ...(plannerModel !== undefined && { plannerModel }) })
  draft.creates = [planning]
}

export const planVersion = (
  { plan: last, rejected }: MissionRecord,
  plan: ProposedPlan['plan'],
  { now, actor }: MissionContext,
): PlanVersion => ({
  ...plan,
  // A version that was rejected stays what it was.
  version: Math.max(last?.version ?? 0, ...rejected) + 1,
  proposedBy: actor,
  at: now,
})

/** What the log says of a plan, with the model of an agent that made it. */
export const plannedPayload = (
  { version, digest, taskCount, strategy, estimatedTokens, estimatedUsd }: PlanVersion,
  plannerModel: string | null | undefined,
) => ({
  ...{ version, digest, taskCount, strategy, estimatedTokens, estimatedUsd },
  ...(plannerModel !== undefined && { plannerModel }),
})

/** Its newest plan waits for approval, unless it was approved before, or this mission may begin without. */
export function planIsReady(
  draft: MissionDraft,
  tasks: readonly NewTask[],
  context: MissionContext,
  approvedBy: Actor | null = null,
  plannerModel?: string | null,
): void {
  const plan = draft.record.plan!
  draft.move('mission_plan_ready', plannedPayload(plan, plannerModel))
  if (approvedBy !== null || mayBeginByItself(draft.record, plan))
    approve(draft, plan, tasks, approvedBy ?? 'system', null, context)
}

/** A plan whose price is unknown is never approved by its price. */
function mayBeginByItself({ config }: MissionRecord, { estimatedUsd }: PlanVersion): boolean {
  if (config.autonomy !== 'autonomous') return config.autonomy === 'full_auto'
  if (estimatedUsd === null || config.approveBelowUsd === undefined) return false
  return picosOf(estimatedUsd) <= picosOf(config.approveBelowUsd)
}

export function approve(
  draft: MissionDraft,
  { version, digest, taskCount, proposedBy }: PlanVersion,
  tasks: readonly NewTask[],
  approvedBy: Actor,
  comment: string | null,
  { now }: MissionContext,
): void {
  const { record } = draft
  record.approved = { version, digest }
  // It was sent back to a planner that then made no other one; the approver has changed their mind.
  record.rejected = record.rejected.filter((one) => one !== version)
  record.startedAt ??= now
  draft.move('mission_approved', { approvedBy, version, digest, taskCount, comment, proposedBy })
  draft.creates = tasks
  contract(record, contractorsIn(tasks))
  if (tasks.length === 0) settle(draft, now)
}

/** It remembers who works for it alone. */
export function contract(record: MissionRecord, contractors: readonly NewContractor[]): void {
  const slugs = contractors.map(({ slug }) => slug)
  record.contractors = [...new Set([...record.contractors, ...slugs])]
}

const changed = (plan: PlanVersion): Refusal =>
  refuse('CHANGED_SINCE', `The plan is at version ${plan.version} now.`, {
    planVersion: plan.version,
    digest: plan.digest,
  })

/** Why a plan that was made from this version is not taken: another one came meanwhile. */
export const whyNotAfter = ({ plan }: MissionRecord, seenVersion: number | undefined): Refusal | null =>
  plan && seenVersion !== undefined && seenVersion !== plan.version ? changed(plan) : null

/** The newest plan, or why the caller must look again. */
export function planAsSeen(
  { plan, approved }: MissionRecord,
  seen: { planVersion?: number | undefined; digest?: string | undefined },
): PlanVersion | Refusal {
  if (!plan || approved?.version === plan.version)
    return refuse('WRONG_STATE', 'There is no plan that waits for approval.')
  const isOther =
    (seen.planVersion !== undefined && seen.planVersion !== plan.version) ||
    (seen.digest !== undefined && seen.digest !== plan.digest)
  return isOther ? changed(plan) : plan
}

export const isRefusal = (value: PlanVersion | Refusal): value is Refusal => 'ok' in value
