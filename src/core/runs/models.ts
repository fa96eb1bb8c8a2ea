/** Which model an attempt uses: its own first, then those that stand in for it, in turn. */

export interface ModelChoice {
  /** The models in turn, the task's or the agent's own first. Null: whatever the program of the agent takes. */
  models: readonly (string | null)[]
  model: string | null
  /** Another model than that of the attempt before stands in. */
  fallback: { from: string | null; to: string } | null
}

/** The list of the task, which is that of its mission, goes before that of its agent. */
export function modelsInTurn(
  own: string | null,
  ofTask: readonly string[],
  ofAgent: readonly string[],
): (string | null)[] {
  return [...new Set([own, ...(ofTask.length > 0 ? ofTask : ofAgent)])]
}

/**
 * `switches`: how many attempts were to be followed by one with another model. `used`: the model that stood in last, if one
 * did. `isFree`: it is not known to be rate limited.
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
