interface Batch<In, Out> {
  items: In[]
  answers: Promise<Out[]>
}

/**
 * Batches concurrent requests of one kind. A workspace has one batch in flight; requests that arrive during it form the
 * next. So a thousand callers cost two or three batches, and no workspace blocks the others.
 */
export class BatchLoader<In, Out> {
  /** Answers in the order of the items. */
  readonly #loadAll: (workspaceId: number, items: readonly In[]) => Promise<Out[]>
  readonly #next = new Map<number, Batch<In, Out>>()
  readonly #underWay = new Map<number, Promise<unknown>>()

  constructor(loadAll: (workspaceId: number, items: readonly In[]) => Promise<Out[]>) {
    this.#loadAll = loadAll
  }

  async ask(workspaceId: number, items: readonly In[]): Promise<Out[]> {
    if (items.length === 0) return []
    const batch = this.#next.get(workspaceId) ?? this.#openBatch(workspaceId)
    const first = batch.items.length
    batch.items.push(...items)
    return (await batch.answers).slice(first, first + items.length)
  }

  #openBatch(workspaceId: number): Batch<In, Out> {
    const before = this.#underWay.get(workspaceId) ?? Promise.resolve()
    const items: In[] = []
    const answers = before
      // The callers of the previous batch got its error.
      .catch(() => undefined)
      .then(() => {
        this.#next.delete(workspaceId)
        return this.#loadAll(workspaceId, items)
      })
    const batch = { items, answers }
    this.#next.set(workspaceId, batch)
    this.#underWay.set(workspaceId, answers)
    const forget = () => {
      if (this.#underWay.get(workspaceId) === answers) this.#underWay.delete(workspaceId)
    }
    answers.then(forget, forget)
    return batch
  }
}
