/** Eight times as long at most: what then does not come to an end hardly ever would. */
const MOST_DOUBLINGS = 3
/** The longest that the settings of an agent may say. */
const LONGEST_TIMEOUT_SEC = 7 * 86_400

/** ADE 8: what ran out of time is tried again with more of it. `timeouts`: how many attempts at the task ended so. */
export const timeoutSecAfter = (timeoutSec: number, timeouts: number): number =>
  Math.min(timeoutSec * 2 ** Math.min(timeouts, MOST_DOUBLINGS), LONGEST_TIMEOUT_SEC)
