import type { AgentCall } from '../shapes/told.ts'
import { isStarted } from '../states.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type ProcessIdentity, type RunsStep, unchanged } from './step.ts'

/** What a run adds to its record on its way, and what goes with its log. A run that has ended stays as it is. */

/** Its process, in case this node is not there to end it. */
export const processSpawned = (
  runId: string,
  { pid, startTime, bootId }: ProcessIdentity,
): RunsStep<void> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, runs: [runId] },
  decide({ runs }) {
    const run = runs.get(runId)
    if (!run || !isStarted(run.status)) return unchanged(undefined)
    const set = { pid, pidStarted: startTime, bootId }
    return { answer: undefined, changes: { ...NOTHING_CHANGED, runs: [{ id: runId, set }] } }
  },
})

/** How its agent was called: each call replaces the one before. */
export const agentCalled = (runId: string, call: AgentCall): RunsStep<void> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, runs: [runId] },
  decide({ runs }) {
    const run = runs.get(runId)
    if (!run || !isStarted(run.status)) return unchanged(undefined)
    return { answer: undefined, changes: { ...NOTHING_CHANGED, calls: [{ runId, call }] } }
  },
})

/** What the run was told is deleted with its log. */
export const logDeleted = (runId: string): RunsStep<void> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, runs: [runId] },
  decide({ now, runs }) {
    if (!runs.has(runId)) return unchanged(undefined)
    const gone = { runs: [{ id: runId, set: { logGoneAt: now } }], deletedTold: [runId] }
    return { answer: undefined, changes: { ...NOTHING_CHANGED, ...gone } }
  },
})
