/**
 * Tasks that ended, gathered while the look at those before them is under way: what waits for them is asked for once for
 * all of them, not once for each.
 */
export class EndedTasks {
  readonly #follow: (workspaceId: number, ended: readonly number[]) => Promise<void>
  readonly #gathered = new Map<number, { ended: number[]; settled: Promise<void> }>()
  readonly #underWay = new Map<number, Promise<void>>()

  constructor(follow: (workspaceId: number, ended: readonly number[]) => Promise<void>) {
    this.#follow = follow
  }

  /** Resolves when what waited for these has been looked at. */
  add(workspaceId: number, ended: readonly number[]): Promise<void> {
    if (ended.length === 0) return Promise.resolve()
    const gathered = this.#gathered.get(workspaceId)
    if (gathered) {
      gathered.ended.push(...ended)
      return gathered.settled
    }
    const before = this.#underWay.get(workspaceId) ?? Promise.resolve()
    const settled = before.then(() => this.#next(workspaceId))
    this.#gathered.set(workspaceId, { ended: [...ended], settled })
    return settled
  }

  async #next(workspaceId: number): Promise<void> {
    const { ended } = this.#gathered.get(workspaceId)!
    this.#gathered.delete(workspaceId)
    const following = this.#follow(workspaceId, ended)
    this.#underWay.set(workspaceId, following)
    await following
    if (this.#underWay.get(workspaceId) === following) this.#underWay.delete(workspaceId)
  }
}
