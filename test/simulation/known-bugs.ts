/**
 * Where src is known to break a sentence, and what runs therefore leave out. Each is to be deleted here, with its one use,
 * when src is right.
 */

/**
 * A task that is divided waits again for all it ever waited for, by the rule of wholes. That may close a circle, and nobody
 * is due to look for it (seed 5): so only tasks that wait for nothing are divided.
 */
export const DIVISION_CLOSES_CIRCLES = true
