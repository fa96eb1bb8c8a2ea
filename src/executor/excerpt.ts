/** The part of a stream that is stored in the row of its run: its beginning and its end. */

const HEAD_BYTES = 4 * 1024
const TAIL_BYTES = 28 * 1024

export class Excerpt {
  #head = ''
  #tail = ''
  #bytes = 0

  take(text: string): void {
    if (text === '') return
    this.#bytes += Buffer.byteLength(text)
    const room = HEAD_BYTES - this.#head.length
    let rest = text
    if (room > 0 && this.#tail === '') {
      this.#head += text.slice(0, room)
      rest = text.slice(room)
    }
    // A large piece replaces the tail: joining and cutting it would only copy it. Small pieces are rarely cut.
    if (rest.length >= TAIL_BYTES) this.#tail = rest.slice(-TAIL_BYTES)
    else this.#tail += rest
    if (this.#tail.length > 2 * TAIL_BYTES) this.#tail = this.#tail.slice(-TAIL_BYTES)
  }

  /** Null when there was no output. Says where bytes are left out. */
  text(): string | null {
    if (this.#bytes === 0) return null
    // Half a character at a cut must not get into the database.
    const head = this.#head.toWellFormed()
    const tail = this.#tail.slice(-TAIL_BYTES).toWellFormed()
    const left = this.#bytes - Buffer.byteLength(head) - Buffer.byteLength(tail)
    const cut = left > 0 ? `\n… ${left} bytes omitted; see the log …\n` : ''
    // Postgres accepts no NUL in text.
    return `${head}${cut}${tail}`.replaceAll('\0', '\u{fffd}')
  }
}
