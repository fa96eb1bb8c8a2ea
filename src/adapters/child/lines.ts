/** Longer lines are logged but not parsed: part of a JSON line is worse than none, and memory is limited. */
export const LONGEST_LINE = 8 * 1024 * 1024

/** Splits pieces of text into complete lines. */
export class Lines {
  /** How many lines were too long to be parsed. */
  skipped = 0
  readonly #longest: number
  #pieces: string[] = []
  #length = 0

  constructor(longest = LONGEST_LINE) {
    this.#longest = longest
  }

  /** The lines that this piece completes. */
  take(text: string): string[] {
    const lines: string[] = []
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      this.#hold(text.slice(from, end))
      from = end + 1
      lines.push(...this.end())
    }
    if (from < text.length) this.#hold(text.slice(from))
    return lines
  }

  /** The last line, if no newline terminated it. Empty lines are dropped. */
  end(): string[] {
    const [length, line] = [this.#length, this.#pieces.join('').replace(/\r$/, '')]
    this.#pieces = []
    this.#length = 0
    if (length > this.#longest) this.skipped++
    return line === '' ? [] : [line]
  }

  #hold(piece: string): void {
    this.#length += piece.length
    if (this.#length > this.#longest) this.#pieces = []
    else if (piece !== '') this.#pieces.push(piece)
  }
}

/**
 * Leaves lines out of what is logged: the rest passes unchanged, to the byte. A line is held until it is known whether it is left out;
 * one that is too long to be parsed passes as it comes.
 */
export class Sieve {
  readonly #isLeftOut: (line: string) => boolean
  #held: string[] = []
  #length = 0
  #isPassing = false

  constructor(isLeftOut: (line: string) => boolean) {
    this.#isLeftOut = isLeftOut
  }

  /** What of the text so far is logged. */
  take(text: string): string {
    let kept = ''
    let from = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      kept += this.#take(text.slice(from, end + 1)) + this.end()
      this.#isPassing = false
      from = end + 1
    }
    return from < text.length ? kept + this.#take(text.slice(from)) : kept
  }

  /** What is held: an unfinished line. */
  end(): string {
    const line = this.#held.join('')
    this.#held = []
    this.#length = 0
    return line === '' || this.#isLeftOut(line) ? '' : line
  }

  #take(piece: string): string {
    if (this.#isPassing) return piece
    this.#held.push(piece)
    this.#length += piece.length
    if (this.#length <= LONGEST_LINE) return ''
    const line = this.#held.join('')
    this.#held = []
    this.#length = 0
    this.#isPassing = true
    return line
  }
}
