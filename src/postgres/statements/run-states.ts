import {
  LIVE_RUN_STATES,
  RUN_STATES_AFTER_READING,
  type RunState,
  WAKING_STATES,
  type WakeupState,
} from '../../kinds/run/states.ts'

/** States of runs and wakeups in SQL, taken from the tables of the core. Partial indexes have the same conditions. */

const listOf = (states: readonly string[]) => `(${states.map((state) => `'${state}'`).join(', ')})`

const QUEUED_WAKEUP: WakeupState = 'queued'
const QUEUED_RUN: RunState = 'queued'
const RUNNING: RunState = 'running'
const SUCCEEDED: RunState = 'succeeded'
const FAILED: readonly RunState[] = ['failed', 'timed_out']

/** `status`, or with an alias `w.status`: a run that may have a process. */
export const isLive = (status: string) => `${status} in ${listOf(LIVE_RUN_STATES)}`
export const isRunning = (status: string) => `${status} = '${RUNNING}'`
/** A run whose agent has read its prompt. */
export const hasReadItsPrompt = (status: string) => `${status} in ${listOf(RUN_STATES_AFTER_READING)}`
export const hasSucceeded = (status: string) => `${status} = '${SUCCEEDED}'`
/** It ended without success, and nobody stopped it. */
export const hasFailed = (status: string) => `${status} in ${listOf(FAILED)}`
export const isNotStarted = (status: string) => `${status} = '${QUEUED_RUN}'`

/** A wakeup that waits for its run. */
export const isQueued = (status: string) => `${status} = '${QUEUED_WAKEUP}'`
/** A wakeup that woke its agent, or will. */
export const wokeItsAgent = (status: string) => `${status} in ${listOf(WAKING_STATES)}`
