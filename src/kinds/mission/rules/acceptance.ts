import type { Refusal } from '../../../pure/errors.ts'
import type { MissionRecord } from '../record.ts'
import { openTasks } from './counts.ts'
import { type Act, type MissionDraft, wrongState } from './draft.ts'
import { awaitsAcceptance, withoutOutcome } from './outcome.ts'

/** What people decide about the outcome of a mission, and what follows. */

type Outcome = NonNullable<MissionRecord['config']['outcome']>

const setOutcome = ({ record }: MissionDraft, outcome: Outcome): void => {
  record.config = { ...record.config, outcome }
}

/** All its tasks have ended well. Called again, it changes nothing. */
export function awaitAcceptance(draft: MissionDraft): void {
  const { config, counts } = draft.record
  if (config.outcome) return
  setOutcome(draft, { state: 'ready', missing: null, isPlanning: false })
  draft.note('mission_outcome_ready', { tasksCompleted: counts.byState.completed ?? 0 })
}

/** There is work again: its outcome is another one. */
export function workAgain(draft: MissionDraft): void {
  draft.record.config = withoutOutcome(draft.record.config)
  draft.note('mission_updated', { fields: ['outcome'] })
}

const whyNotNow = (draft: MissionDraft, act: string): Refusal | null =>
  awaitsAcceptance(draft.record) && openTasks(draft.record.counts) === 0 ? null : wrongState(draft, act)

/** What is missing is for the planner, or for a person who makes the next plan. */
export const decline: Act<'decline'> = (draft, { missing, planning }) => {
  const refusal = whyNotNow(draft, 'reject the outcome')
  if (refusal) return refusal
  setOutcome(draft, { state: 'declined', missing, isPlanning: planning !== null })
  draft.note('mission_outcome_declined', { missing, isPlanned: planning !== null })
  draft.creates = planning === null ? [] : [planning]
  return null
}

/** The outcome is good: the mission ends with it. */
export const accept =
  (finish: (draft: MissionDraft, end: 'completed', now: number) => void): Act<'accept'> =>
  (draft, _command, { now }) => {
    const refusal = whyNotNow(draft, 'accept the outcome')
    if (refusal) return refusal
    finish(draft, 'completed', now)
    // Who accepts the outcome has seen it.
    draft.record.unseen = false
    return null
  }

/** The planner made no plan for what is missing: a person has to. */
export function planOfRestFailed(draft: MissionDraft, reason: string): void {
  setOutcome(draft, { ...draft.record.config.outcome!, isPlanning: false })
  draft.note('mission_plan_failed', { reason })
}
