import { viewOf } from '../../../pure/fields.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { durationMs } from '../../task/acts/views.ts'
import { storedPlan } from '../plan/stored-plan.ts'
import { MISSION_FIELDS, type MissionRecord, PLAN_FIELDS, type PlanVersion } from '../record.ts'
import { taskCount } from '../rules/counts.ts'
import { hasProposal } from '../rules/replan.ts'
import { costText, knownCost } from '../rules/spending.ts'
import { MissionView, PlanVersionView } from '../shapes/missions.ts'
import { MISSION_STATES, stateOf } from '../states.ts'

/** Missions as API answers. */

/** What became of the tasks of a mission that has ended. */
function summaryOf(counts: MissionRecord['counts'], isSimulated: boolean): string {
  const { completed = 0, failed = 0, cancelled = 0, skipped = 0 } = counts.byState
  const others = Object.entries({ failed, cancelled, skipped }).filter(([, count]) => count > 0)
  const how = [
    `${completed} of ${taskCount(counts)} tasks completed`,
    ...others.map(([name, n]) => `${n} ${name}`),
  ]
  return `${how.join(', ')}; ${counts.tokens.toLocaleString('en-US')} tokens, ${costText(counts, isSimulated)}.`
}

const viewOfMission = viewOf(MISSION_FIELDS, MissionView)

/** `isSimulated`: a part of what it cost is. */
export function missionView(record: MissionRecord, isSimulated: boolean): AnswerOf<typeof MissionView> {
  const { plan, counts, completedAt } = record
  const state = stateOf(record)
  return {
    ...viewOfMission(record),
    project: record.project,
    state,
    stateType: MISSION_STATES[state].type,
    planVersion: plan?.version ?? null,
    planDigest: plan?.digest ?? null,
    approvedVersion: record.approved?.version ?? null,
    proposedVersion: hasProposal(record) ? plan!.version : null,
    estimate: plan && estimateView(plan),
    strategy: plan?.strategy ?? null,
    taskCount: taskCount(counts),
    tasksByState: counts.byState,
    tasksCompleted: counts.byState.completed ?? 0,
    tasksFailed: counts.byState.failed ?? 0,
    tokensUsed: counts.tokens,
    costUsd: knownCost(counts),
    isSimulated,
    ...{ runs: counts.runs, unknownRuns: counts.unknownRuns },
    resultSummary: completedAt === null ? null : summaryOf(counts, isSimulated),
    errorMessage: record.error,
    after: record.after,
    durationMs: durationMs(record),
  }
}

const viewOfPlan = viewOf(PLAN_FIELDS, PlanVersionView)

const estimateView = ({ estimatedTokens, estimatedUsd }: NonNullable<MissionRecord['plan']>) => ({
  estimatedTokens,
  costUsd: estimatedUsd,
})

export const planVersionView = (
  plan: PlanVersion,
  { approved, rejected }: Pick<MissionRecord, 'approved' | 'rejected'>,
): AnswerOf<typeof PlanVersionView> => ({
  ...viewOfPlan(plan),
  estimate: estimateView(plan),
  isApproved: plan.version === approved?.version,
  isRejected: rejected.includes(plan.version),
  proposedAt: instant(plan.at),
  plan: plan.body === null ? null : storedPlan(plan.body),
})
