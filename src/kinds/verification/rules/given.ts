/** What is recorded with a verdict. The evidence stays with the verification. */
export interface VerdictGiven {
  /** The agent; `baton` for its own checks. */
  verifier: string
  /** From 0 to 1. */
  score: number | null
  /** The id of the verification. */
  verification: string | null
}
