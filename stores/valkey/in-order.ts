/** One at a time under each name, in order of arrival. */
export class InOrder {
  readonly #last = new Map<number, Promise<void>>()

  /** Resolves when the caller may proceed. The returned function ends that; calling it again does nothing. */
  async enter(name: number): Promise<() => void> {
    const before = this.#last.get(name)
    let leave: () => void = () => undefined
    const mine = new Promise<void>((resolve) => (leave = resolve))
    this.#last.set(name, mine)
    await before
    return () => {
      leave()
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }
}
