import type { RuleContext } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { without } from './groups.ts'
import type { FailureClass } from './retry.ts'

/** After work that was not good enough, or a rate limit, the next attempt uses another model, where there is one. */

export function switchModel({ record }: TaskDraft, failureClass: FailureClass): void {
  if (failureClass !== 'quality' && failureClass !== 'rate_limited') return
  record.modelUse = { ...record.modelUse, modelSwitches: (record.modelUse?.modelSwitches ?? 0) + 1 }
  if (record.agentChoice?.otherAgentOnRetry && failureClass === 'quality' && record.agent !== null)
    record.agentChoice = { ...record.agentChoice, avoidedAgent: record.agent }
}

/** A person starts the task over, with its own model. */
export function useOwnModel(record: TaskRecord): void {
  if (record.modelUse?.modelSwitches === undefined) return
  record.modelUse = null
  record.agentChoice = without(record.agentChoice, 'avoidedAgent')
}

/** DESIGN-2 4: a preference for agents counts for this long; then anybody may have the task. */
const OTHERS_GO_FIRST_MS = 600_000

/** Its last result was not good enough, and another agent, with another model, is to try. */
export const isForOthersFirst = (
  { agentChoice, updatedAt, onlyAgent }: TaskRecord,
  by: string,
  { now }: RuleContext,
) => agentChoice?.avoidedAgent === by && onlyAgent === null && now < updatedAt + OTHERS_GO_FIRST_MS
