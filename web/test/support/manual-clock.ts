import type { Clock } from '../../src/live/clock.ts'

/** Time that passes when the test says so. Timers run in their order, and promises between them. */
export class ManualClock implements Clock {
  #now = 1_800_000_000_000
  #timers: { at: number; run: () => void; id: number }[] = []
  #ids = 0
  readonly #random: () => number

  constructor(random: () => number = () => 0.5) {
    this.#random = random
  }

  now = () => this.#now
  random = () => this.#random()

  setTimeout(run: () => void, afterMs: number): unknown {
    const id = ++this.#ids
    this.#timers.push({ at: this.#now + afterMs, run, id })
    return id
  }

  clearTimeout(timer: unknown): void {
    this.#timers = this.#timers.filter(({ id }) => id !== timer)
  }

  get pending(): number {
    return this.#timers.length
  }

  /** Without running anything: as if the machine had been busy. */
  jump(ms: number): void {
    this.#now += ms
  }

  async pass(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      await settled()
      const next = this.#timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at || a.id - b.id)[0]
      if (!next) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.run()
    }
    this.#now = until
    await settled()
  }
}

/** All promises that can be resolved are. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await Promise.resolve()
}

/** Random numbers that a seed repeats (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
