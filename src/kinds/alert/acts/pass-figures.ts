import type { Figures } from '../rules/instance.ts'

/** How long figures count. */
const KEPT_MS = 600_000

/** What the coordinator of this process saw lately: how long its passes took, and how often the database failed it. */
export class PassFigures {
  #passes: { at: number; ms: number }[] = []
  #errors: number[] = []

  /** Of passes, only those that are longer than all after them matter. */
  passed(ms: number, at = performance.now()): void {
    while (this.#passes.length > 0 && this.#passes.at(-1)!.ms <= ms) this.#passes.pop()
    this.#passes.push({ at, ms })
    this.#forget(at)
  }

  failed(at = performance.now()): void {
    this.#errors.push(at)
    this.#forget(at)
  }

  now(at = performance.now()): Figures {
    this.#forget(at)
    return { longestPassMs: this.#passes[0]?.ms ?? 0, databaseErrors: this.#errors.length }
  }

  #forget(at: number): void {
    while (this.#passes.length > 0 && at - this.#passes[0]!.at > KEPT_MS) this.#passes.shift()
    while (this.#errors.length > 0 && at - this.#errors[0]! > KEPT_MS) this.#errors.shift()
  }
}
