import { Lines } from '../adapters/child/lines.ts'

/** The lines of a text that comes in pieces, with the last one even if unterminated. Lines of more than 8 MB are skipped. */
export async function* linesOf(
  pieces: AsyncIterable<string>,
  seen: (piece: string) => void,
): AsyncGenerator<string> {
  const lines = new Lines()
  for await (const piece of pieces) {
    seen(piece)
    yield* lines.take(piece)
  }
  yield* lines.end()
}

/** The first and the last of many lines, within a memory limit. */
export class FirstAndLast {
  readonly #firstLength: number
  readonly #lastLength: number
  readonly #first: string[] = []
  #last: string[] = []
  /** Entries of #last before this index are dropped. */
  #from = 0
  #length = { first: 0, last: 0 }

  constructor({ firstLength = 1024 * 1024, lastLength = 16 * 1024 * 1024 } = {}) {
    this.#firstLength = firstLength
    this.#lastLength = lastLength
  }

  take(line: string): void {
    if (this.#last.length === 0 && this.#length.first + line.length <= this.#firstLength) {
      this.#first.push(line)
      this.#length.first += line.length
      return
    }
    this.#last.push(line)
    this.#length.last += line.length
    // The very last line stays, however long it is: it usually reports the usage.
    while (this.#length.last > this.#lastLength && this.#from < this.#last.length - 1) {
      this.#length.last -= this.#last[this.#from]!.length
      this.#last[this.#from++] = ''
    }
    if (this.#from <= this.#last.length / 2) return
    this.#last = this.#last.slice(this.#from)
    this.#from = 0
  }

  *[Symbol.iterator](): Generator<string> {
    yield* this.#first
    for (let at = this.#from; at < this.#last.length; at++) yield this.#last[at]!
  }
}
