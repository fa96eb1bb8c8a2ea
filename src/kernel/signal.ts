/** Says that something happened here. A hint: who waits for it looks for itself, and looks now and then without one. */
export class Signal {
  readonly #listeners = new Set<() => void>()

  fire(): void {
    for (const listener of this.#listeners) listener()
  }

  on(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
