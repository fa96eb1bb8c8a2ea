import { timeFor } from '../../task/rules/timers.ts'

/** The longest timeout an agent can be configured with. */
const LONGEST_TIMEOUT_SEC = 7 * 86_400

/** ADE 8: a retry after a timeout gets more time. `timeouts`: how many attempts at the task timed out. */
export const timeoutSecAfter = (timeoutSec: number, timeouts: number): number =>
  Math.min(timeFor(timeoutSec, timeouts), LONGEST_TIMEOUT_SEC)
