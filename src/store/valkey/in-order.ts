/** One at a time under each name, in the order they came. */
export class InOrder {
  readonly #last = new Map<number, Promise<void>>()

  /** Resolves when it is our turn; the function it gives ends it, however often it is called. */
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
