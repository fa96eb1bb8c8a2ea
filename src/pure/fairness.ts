/**
 * Fairness among the projects of a workspace (start-time fair queueing). Each task that is served moves its project one
 * step on; the project that is furthest behind is next. A project that had no waiting tasks joins at the current step, so
 * it neither waits for what others got before nor accumulates credit.
 *
 * A hint, not the truth: each process has its own, and losing it only loses who was served last.
 */
export class ProjectFairness {
  readonly #next = new Map<number, number>()
  #now = 0

  /** The step of this project's next task; the lowest is served first. */
  of(projectId: number): number {
    return Math.max(this.#now, this.#next.get(projectId) ?? 0)
  }

  served(projectId: number): void {
    this.#now = this.of(projectId)
    this.#next.set(projectId, this.#now + 1)
    if (this.#next.size > MANY) this.#prune()
  }

  /** Projects that are not ahead of the current step are equal to unknown ones. */
  #prune(): void {
    for (const [projectId, step] of this.#next) if (step <= this.#now) this.#next.delete(projectId)
  }
}

const MANY = 1_000
