import type { BudgetRecord } from '../../budget/record.ts'
import { whyStopped } from '../../budget/rules/words.ts'
import { workspaceEvent } from '../../events.ts'
import type { ModelTotals } from '../../usage/record.ts'
import { NO_USAGE, type Recorded, record, type SeenUsage } from '../../usage/rules/step.ts'
import { type Timed, withTime } from '../../usage/rules/time.ts'
import type { RunEnd, RunRecord, Usage } from '../record.ts'
import { isStarted } from '../states.ts'
import { spentOnTask, usageAskOf } from './run-life.ts'
import { type NewRunEvent, NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from './step.ts'

/** What the program of a run reports on the way: a lost run leaves at least this behind. */
export interface RunReported {
  usage: Usage | null
  /**
   * What is booked in the ledger, under the number of this report: the totals by model (null: they are as they were), and the time that it
   * has worked; null: nothing new.
   */
  booking: {
    number: number
    models: Readonly<Record<string, ModelTotals>> | null
    time?: Timed | undefined
  } | null
  /** Readers of the log get its usage. */
  isUsageReported?: boolean | undefined
  status: { message: string; color: string } | null
  sessionId: string | null
  flags: readonly { code: string; detail: string }[]
  /** Added to its timeline, from this number on; also when the run has ended in the meantime. */
  timeline?: { firstSeq: number; events: readonly NewRunEvent[] } | undefined
}

interface ReportingRun {
  runId: string
  agent: string
  task: RunEnd['task']
}

/** Why the run must stop: a budget that covers it has nothing left. */
export interface OverBudget extends Pick<BudgetRecord, 'budgetId' | 'scope'> {
  reason: string
}

/** A run that has ended keeps its figures. The answer says whether it must stop. */
export const reportRun = (
  { runId, agent, task }: ReportingRun,
  said: RunReported,
): RunsStep<OverBudget | null> => {
  const taskUuid = task?.uuid ?? null
  const tellsUsage = said.isUsageReported === true && taskUuid !== null
  const { booking } = said
  return {
    on: 'runs',
    reads: {
      ...NOTHING_ASKED,
      runs: [runId],
      othersOf: tellsUsage ? [{ runId, taskId: null }] : [],
      usage: booking && usageAskOf({ runId, agent, task: task ?? null }),
    },
    decide({ now, runs, others, usage }) {
      const before = runs.get(runId)
      const isRunning = before !== undefined && isStarted(before.status)
      const set = reportedFields(said)
      const who = { runId, agent, taskId: taskUuid }
      const [byAgent, bySystem] = [`agent:${agent}`, 'system'].map((actor) => ({ actor, now }))
      const events = said.flags.map((flag) => workspaceEvent('run_flagged', { ...who, ...flag }, bySystem!))
      if (said.status) events.unshift(workspaceEvent('run_status', { ...who, ...said.status }, byAgent!))
      if (isRunning && tellsUsage) {
        const run = { ...before, ...set }
        const { inputTokens, cachedInputTokens, outputTokens } = run
        const used = { inputTokens, cachedInputTokens, outputTokens, ...spentOnTask(run, others.get(runId)) }
        events.unshift(workspaceEvent('run_usage', { ...who, ...used }, byAgent!))
      }
      const isChanged = isRunning && Object.keys(set).length > 0
      const recorded =
        isRunning && usage && booking
          ? record(usage, { sourceId: runId, generation: 0 }, reportOf(booking, usage, before, now), now)
          : null
      const changes = {
        ...NOTHING_CHANGED,
        runs: isChanged ? [{ id: runId, set }] : [],
        timelines: said.timeline?.events.length ? [{ runId, ...said.timeline }] : [],
        spent: spentOf(task, recorded?.booked ?? null),
        usage: recorded?.changes ?? NO_USAGE,
        events: [...events, ...(recorded?.events ?? [])],
      }
      return { answer: recorded && overBudget(recorded.stop), changes }
    },
  }
}

function reportOf(
  { number, models, time }: NonNullable<RunReported['booking']>,
  { source }: SeenUsage,
  { startedAt }: Pick<RunRecord, 'startedAt'>,
  now: number,
) {
  const working = { time: time ?? null, startedAt, now, isFinal: false }
  return { number, isWhole: true, models: withTime(models ?? source?.booked ?? {}, source, working) }
}

/** Of the mission of its task; it is counted as a run when it ends. */
const spentOf = (task: ReportingRun['task'], booked: Recorded['booked']) =>
  task && booked
    ? [
        {
          ...{ taskId: task.id, tokens: booked.tokens, usd: booked.usd, notionalUsd: booked.notionalUsd },
          ...{ runs: 0, unknownRuns: 0 },
        },
      ]
    : []

/** A mission that is spent closes its gate instead, and stops what is under way in it. */
function overBudget(stop: Recorded['stop']): OverBudget | null {
  if (stop === null || (stop.budget.scope === 'mission' && stop.why === 'spent')) return null
  const { budgetId, scope } = stop.budget
  return { budgetId, scope, reason: whyStopped(stop.budget, stop.why) }
}

/** What is not reported stays as it is known. */
const reportedFields = ({ usage, status, sessionId }: RunReported): Partial<RunRecord> => ({
  ...(usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, usageBasis: 'partial' }),
  ...(usage?.cachedInputTokens != null && { cachedInputTokens: usage.cachedInputTokens }),
  ...(status && { statusMessage: status.message, statusColor: status.color }),
  ...(sessionId !== null && { sessionIdAfter: sessionId }),
})
