/** Longer lines are logged but not parsed: part of a JSON line is worse than none, and memory is limited. */
export const LONGEST_LINE = 8 * 1024 * 1024

/** Splits pieces of text into complete lines. */
export class Lines {
  /** How many lines were too long to be parsed. */
  skipped = 0
  #pieces: string[] = []
  #length = 0

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
    if (length > LONGEST_LINE) this.skipped++
    return line === '' ? [] : [line]
  }

  #hold(piece: string): void {
    this.#length += piece.length
    if (this.#length > LONGEST_LINE) this.#pieces = []
    else if (piece !== '') this.#pieces.push(piece)
  }
}
