interface Round<In, Out> {
  items: In[]
  answers: Promise<Out[]>
}

/**
 * Questions of one kind that come together are asked together. A workspace has one round under way; what comes meanwhile
 * gathers for the next. So a thousand callers cost two or three rounds, and none of them stands between other workspaces
 * and the store.
 */
export class BatchLoader<In, Out> {
  /** Answers in the order of the items. */
  readonly #askAll: (workspaceId: number, items: readonly In[]) => Promise<Out[]>
  readonly #next = new Map<number, Round<In, Out>>()
  readonly #underWay = new Map<number, Promise<unknown>>()

  constructor(askAll: (workspaceId: number, items: readonly In[]) => Promise<Out[]>) {
    this.#askAll = askAll
  }

  async ask(workspaceId: number, items: readonly In[]): Promise<Out[]> {
    if (items.length === 0) return []
    const round = this.#next.get(workspaceId) ?? this.#gather(workspaceId)
    const first = round.items.length
    round.items.push(...items)
    return (await round.answers).slice(first, first + items.length)
  }

  #gather(workspaceId: number): Round<In, Out> {
    const before = this.#underWay.get(workspaceId) ?? Promise.resolve()
    const items: In[] = []
    const answers = before
      // Who asked before and was refused has been told so.
      .catch(() => undefined)
      .then(() => {
        this.#next.delete(workspaceId)
        return this.#askAll(workspaceId, items)
      })
    const round = { items, answers }
    this.#next.set(workspaceId, round)
    this.#underWay.set(workspaceId, answers)
    const forget = () => {
      if (this.#underWay.get(workspaceId) === answers) this.#underWay.delete(workspaceId)
    }
    answers.then(forget, forget)
    return round
  }
}
