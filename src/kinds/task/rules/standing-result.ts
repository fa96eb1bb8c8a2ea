import type { TaskWatch } from './watch-fields.ts'

/** The result of a task that is accepted or awaits a verdict, and the commit of the work that was submitted with it. */

interface Standing {
  resultHash: string | null
  watch: TaskWatch | null
}

interface Submitted {
  hash: string
  commit?: string | null | undefined
}

/** From now on this is the result of the task. */
export function standBy(record: Standing, { hash, commit }: Submitted): void {
  record.resultHash = hash
  if (commit != null) record.watch = { ...record.watch, resultCommit: commit }
  else if (record.watch?.resultCommit !== undefined) {
    const { resultCommit: _before, ...rest } = record.watch
    record.watch = Object.keys(rest).length === 0 ? null : rest
  }
}

/**
 * What approvals are bound to. The hash is of the result alone: two attempts may report the same and differ in their work, so
 * the commit is part of the digest.
 */
export const resultDigestOf = ({ resultHash, watch }: Standing): string | null =>
  resultHash !== null && watch?.resultCommit !== undefined
    ? `${resultHash}.${watch.resultCommit}`
    : resultHash
