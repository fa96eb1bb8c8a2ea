/** Notifies listeners in this process. Only a hint: listeners read the state themselves, and also poll. */
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
