import { plainRows } from '../../../postgres/statements/plain-rows.ts'
import {
  RUN_FIELDS,
  RUNTIME_FIELDS,
  SHOWN_RUN_FIELDS,
  SHOWN_WAKEUP_FIELDS,
  TASK_SESSION_FIELDS,
  WAKEUP_FIELDS,
} from '../record.ts'

/** Wakeups, runs and what agents keep between runs, as rows. */

export const wakeupRows = plainRows('wakeups', WAKEUP_FIELDS)
export const shownWakeups = plainRows('wakeups', SHOWN_WAKEUP_FIELDS)
export const runRows = plainRows('runs', RUN_FIELDS)
export const shownRuns = plainRows('runs', SHOWN_RUN_FIELDS)
export const runtimeRows = plainRows('agent_runtime_state', RUNTIME_FIELDS)
export const sessionRows = plainRows('agent_task_sessions', TASK_SESSION_FIELDS, {
  keyWidth: 3,
  kept: ['created_at'],
})
