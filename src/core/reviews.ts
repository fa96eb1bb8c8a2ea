/** How results are judged. */

/**
 * Whose verdict a result needs: nobody's, a person's, that of whoever calls `verdict`, or one that Baton gets, by a check of its
 * own or by a task of purpose `verification`.
 */
export type Review = 'none' | 'human' | 'verifier' | 'baton'

/** The result that a verification judges. */
export interface Serves {
  readonly taskId: number
  readonly uuid: string
  readonly generation: number
  /** Those who may not judge it: who made it, and while others are there, whoever is too close to it. */
  readonly notAgents: readonly string[]
}
