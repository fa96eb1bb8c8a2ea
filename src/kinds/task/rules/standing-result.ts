/** The result of a task that is accepted or awaits a verdict, and the commit of the work that was submitted with it. */

interface Standing {
  resultHash: string | null
  resultCommit: string | null
}

interface Submitted {
  hash: string
  commit?: string | null | undefined
}

/** From now on this is the result of the task. */
export function standBy(record: Standing, { hash, commit }: Submitted): void {
  record.resultHash = hash
  record.resultCommit = commit ?? null
}

/**
 * What approvals are bound to. The hash is of the result alone: two attempts may report the same and differ in their work, so
 * the commit is part of the digest.
 */
export const resultDigestOf = ({ resultHash, resultCommit }: Readonly<Standing>): string | null =>
  resultHash !== null && resultCommit !== null ? `${resultHash}.${resultCommit}` : resultHash
