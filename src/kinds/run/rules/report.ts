import { workspaceEvent } from '../../events.ts'
import type { RunRecord, Usage } from '../record.ts'
import { isStarted } from '../states.ts'
import { spentOnTask } from './run-life.ts'
import { type NewRunEvent, NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from './step.ts'

/** What the program of a run reports on the way: a lost run leaves at least this behind. */
export interface RunReported {
  usage: Usage | null
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
  taskUuid: string | null
}

/** A run that has ended keeps its figures. */
export const reportRun = ({ runId, agent, taskUuid }: ReportingRun, said: RunReported): RunsStep<void> => {
  const tellsUsage = said.isUsageReported === true && taskUuid !== null
  return {
    on: 'runs',
    reads: { ...NOTHING_ASKED, runs: [runId], othersOf: tellsUsage ? [{ runId, taskId: null }] : [] },
    decide({ now, runs, others }) {
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
      const changes = {
        ...NOTHING_CHANGED,
        runs: isChanged ? [{ id: runId, set }] : [],
        timelines: said.timeline?.events.length ? [{ runId, ...said.timeline }] : [],
        events,
      }
      return { answer: undefined, changes }
    },
  }
}

/** What is not reported stays as it is known. */
const reportedFields = ({ usage, status, sessionId }: RunReported): Partial<RunRecord> => ({
  ...(usage && { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, usageBasis: 'partial' }),
  ...(usage?.cachedInputTokens != null && { cachedInputTokens: usage.cachedInputTokens }),
  ...(status && { statusMessage: status.message, statusColor: status.color }),
  ...(sessionId !== null && { sessionIdAfter: sessionId }),
})
