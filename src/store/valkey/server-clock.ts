/** An answer older than this says too little about the time that has passed since. */
const KNOWN_FOR_MS = 1_000
/** Below one: the clock of this machine may be faster than the server's, and no decision may be ahead of the server. */
const PACE = 0.999

/** The server's clock, as far as its last answer tells: never ahead of it, unless it was set back since. */
export class ServerClock {
  #serverMs = 0
  #heardAt = Number.NEGATIVE_INFINITY

  /** Call when the answer arrives: the time it took is not added. */
  heard(serverMs: number): void {
    this.#serverMs = serverMs
    this.#heardAt = performance.now()
  }

  /** Null when it has not been heard of for too long. */
  now(): number | null {
    const passed = performance.now() - this.#heardAt
    return passed > KNOWN_FOR_MS ? null : Math.floor(this.#serverMs + passed * PACE)
  }
}

/** As the command TIME answers. */
export const millisecondsOf = ([seconds, micros]: readonly string[]) =>
  Number(seconds) * 1000 + Number(micros) / 1000
