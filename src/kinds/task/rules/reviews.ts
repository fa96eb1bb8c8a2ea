/** How results are judged. */

/**
 * Whose verdict a result needs: nobody's, a person's, the verdict of any caller of `verdict`, or one that Baton gets, by its own
 * check or by a task of purpose `verification`.
 */
export type VerifiedBy = 'none' | 'human' | 'verifier' | 'baton'

/** The result that a verification judges. */
export interface Serves {
  readonly taskId: number
  readonly uuid: string
  readonly generation: number
  /** The agents that may not judge it: those that made it and, while there are others, those too close to it. */
  readonly notAgents: readonly string[]
  /** How many times a person had asked for another verdict on it; missing: not at all. */
  readonly round?: number | undefined
}
