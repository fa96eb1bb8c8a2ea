import type { RuleContext } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import type { FailureClass } from './retry.ts'
import type { TaskWatch } from './watch-fields.ts'

/** After work that was not good enough, or a rate limit, the next attempt uses another model, where there is one. */

export function switchModel({ record }: TaskDraft, failureClass: FailureClass): void {
  if (failureClass !== 'quality' && failureClass !== 'rate_limited') return
  const { modelSwitches = 0, otherAgentOnRetry } = record.watch ?? {}
  const avoids = otherAgentOnRetry && failureClass === 'quality' && record.agent !== null
  record.watch = {
    ...record.watch,
    modelSwitches: modelSwitches + 1,
    ...(avoids && { avoidedAgent: record.agent! }),
  }
}

/** A person starts the task over, with its own model. */
export function withOwnModel(watch: TaskWatch | null): TaskWatch | null {
  if (watch?.modelSwitches === undefined) return watch
  const { modelSwitches: _switches, usedModel: _model, avoidedAgent: _agent, ...rest } = watch
  return Object.keys(rest).length === 0 ? null : rest
}

/** DESIGN-2 4: a preference for agents counts for this long; then anybody may have the task. */
const OTHERS_GO_FIRST_MS = 600_000

/** Its last result was not good enough, and another agent, with another model, is to try. */
export const isForOthersFirst = (
  { watch, updatedAt, onlyAgent }: TaskRecord,
  by: string,
  { now }: RuleContext,
) => watch?.avoidedAgent === by && onlyAgent === null && now < updatedAt + OTHERS_GO_FIRST_MS
