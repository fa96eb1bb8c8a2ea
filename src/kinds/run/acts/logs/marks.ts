/** Places in a log. Of very many, some are left out at even distances, so that the size is bounded. */
export class Marks {
  readonly #most: number
  #offsets: number[] = []
  /** Keeps one mark in this many. */
  every: number
  count = 0

  constructor({ most, every = 1 }: { most: number; every?: number }) {
    this.#most = most
    this.every = every
  }

  add(offset: number): void {
    if (this.count++ % this.every !== 0) return
    this.#offsets.push(offset)
    if (this.#offsets.length <= this.#most) return
    this.#offsets = this.#offsets.filter((_, i) => i % 2 === 0)
    this.every *= 2
  }

  get offsets(): readonly number[] {
    return this.#offsets
  }
}
