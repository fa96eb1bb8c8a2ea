/** Eight times the timeout at most: what does not finish by then rarely finishes at all. */
const MOST_DOUBLINGS = 3
/** The longest timeout an agent can be configured with. */
const LONGEST_TIMEOUT_SEC = 7 * 86_400

/** ADE 8: a retry after a timeout gets more time. `timeouts`: how many attempts at the task timed out. */
export const timeoutSecAfter = (timeoutSec: number, timeouts: number): number =>
  Math.min(timeoutSec * 2 ** Math.min(timeouts, MOST_DOUBLINGS), LONGEST_TIMEOUT_SEC)
