/**
 * Whose turn it is among the projects of a workspace (start-time fair queueing). Each task handed out moves its project
 * one step on; the project that is furthest behind comes next. A project that had nothing waiting joins at the present
 * step, so it neither waits for what others were given before nor saves up turns.
 *
 * A hint, not a truth: it is kept by each process, and losing it costs nothing but the memory of who was served last.
 */
export class ProjectFairness {
  readonly #next = new Map<number, number>()
  #now = 0

  /** The step at which this project's next task stands; the lowest is served first. */
  of(projectId: number): number {
    return Math.max(this.#now, this.#next.get(projectId) ?? 0)
  }

  served(projectId: number): void {
    this.#now = this.of(projectId)
    this.#next.set(projectId, this.#now + 1)
    if (this.#next.size > MANY) this.#forgetThePast()
  }

  /** Projects that are not ahead of the present step stand where unknown ones do. */
  #forgetThePast(): void {
    for (const [projectId, step] of this.#next) if (step <= this.#now) this.#next.delete(projectId)
  }
}

const MANY = 1_000
