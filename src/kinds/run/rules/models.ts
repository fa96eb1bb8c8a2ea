/** Which model an attempt uses: its own first, then the fallback models, in turn. */

export interface ModelChoice {
  /** The models in turn, the task's or the agent's own first. Null: whatever the program of the agent takes. */
  models: readonly (string | null)[]
  model: string | null
  /** A model other than the one of the previous attempt is used. */
  fallback: { from: string | null; to: string } | null
}

/** The task's list, which comes from its mission, takes precedence over the agent's. */
export function modelsInTurn(
  own: string | null,
  ofTask: readonly string[],
  ofAgent: readonly string[],
): (string | null)[] {
  return [...new Set([own, ...(ofTask.length > 0 ? ofTask : ofAgent)])]
}

/**
 * `switches`: how many attempts were to be followed by one with another model. `used`: the fallback that was used last, if
 * any. `isFree`: it is not known to be rate limited.
 */
export function chooseModel(
  models: readonly (string | null)[],
  { switches, used }: { switches: number; used: string | undefined },
  isFree: (model: string | null) => boolean,
): ModelChoice {
  const inTurn = models.map((_, step) => models[(switches + step) % models.length]!)
  const model = inTurn.find(isFree) ?? inTurn[0] ?? null
  const from = used ?? models[0] ?? null
  return { models, model, fallback: model !== null && model !== from ? { from, to: model } : null }
}
