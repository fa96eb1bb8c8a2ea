import { type Refusal, refuse } from '../../../pure/errors.ts'
import { MOST_CONTRACTORS } from '../../agent/rules/contractors.ts'
import { contractorsIn } from '../../agent/rules/contractors-of-tasks.ts'
import type { Actor } from '../../task/record.ts'
import type { MissionRecord, PlanVersion } from '../record.ts'
import { stateOf } from '../states.ts'
import type { ProposedPlan } from './command.ts'
import { type Command, type MissionContext, type MissionDraft, wrongState } from './draft.ts'
import { withoutOutcome } from './outcome.ts'
import { contract, plannedPayload, planVersion } from './plans.ts'

/**
 * Another plan for a mission that runs. It is a proposal: the tasks of the approved one continue. Its approval changes, adds and
 * cancels tasks by their tempIds, in one transaction.
 */

/** Whether a newer plan waits for approval while the mission follows an earlier one. */
export const hasProposal = ({ phase, plan, approved }: MissionRecord) =>
  phase === 'running' && plan !== null && approved !== null && plan.version !== approved.version

/** Whatever its autonomy: a person sees what would happen to work that is under way. */
export function proposeChanges(
  draft: MissionDraft,
  proposed: ProposedPlan['plan'],
  context: MissionContext,
  plannerModel?: string | null,
): Refusal | null {
  const { record } = draft
  if (record.closedBy.includes('cancelling')) return wrongState(draft, 'propose a plan')
  record.plan = planVersion(record, proposed, context)
  const { outcome } = record.config
  if (outcome?.isPlanning) record.config = { ...record.config, outcome: { ...outcome, isPlanning: false } }
  draft.note('mission_plan_proposed', plannedPayload(record.plan, plannerModel))
  return null
}

export function approveChanges(
  draft: MissionDraft,
  { version, digest, taskCount }: PlanVersion,
  { tasks, changes, comment }: Pick<Command<'approve'>, 'tasks' | 'changes' | 'comment'>,
  approvedBy: Actor,
): Refusal | null {
  const { record } = draft
  if (record.closedBy.includes('cancelling')) return wrongState(draft, 'approve')
  contract(record, contractorsIn(tasks, changes))
  if (record.contractors.length > MOST_CONTRACTORS)
    return refuse('LIMIT_REACHED', `A mission has at most ${MOST_CONTRACTORS} contractors.`, {
      limit: 'contractors',
    })
  record.approved = { version, digest }
  // What was missing is in the plan now.
  if (record.config.outcome) record.config = withoutOutcome(record.config)
  const cancelled = changes.filter(({ command }) => command.kind === 'cancel').length
  draft.note('mission_plan_changed', {
    ...{ approvedBy, version, digest, taskCount, comment },
    ...{ added: tasks.length, changed: changes.length - cancelled, cancelled },
  })
  draft.creates = tasks
  return null
}

/** The mission continues with the plan that it follows. */
export function rejectChanges(
  draft: MissionDraft,
  { version }: PlanVersion,
  { outcome, comment, followed }: Pick<Command<'reject'>, 'outcome' | 'comment' | 'followed'>,
): Refusal | null {
  const { record } = draft
  if (outcome === 'replan')
    return refuse(
      'WRONG_STATE',
      'A mission that runs is not planned again by its planner: propose another plan, or reject this one without "replan".',
      { missionState: stateOf(record) },
    )
  if (followed?.version !== record.approved?.version)
    return refuse('CHANGED_SINCE', `The mission follows version ${record.approved?.version} of its plan now.`)
  record.plan = { ...followed!, body: null }
  record.rejected = [...record.rejected, version]
  draft.note('mission_plan_rejected', { version, comment, follows: followed!.version })
  return null
}
