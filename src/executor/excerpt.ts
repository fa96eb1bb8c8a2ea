/** The part of a stream that is stored in the row of its run: its beginning and its end. */

export const EXCERPT_BYTES = 32 * 1024
const HEAD_SHARE = 1 / 8

export class Excerpt {
  readonly #most: number
  readonly #headBytes: number
  readonly #tailBytes: number
  #head = ''
  #tail = ''
  #bytes = 0

  /** `mostBytes` of the stream are stored; the line that says what is omitted comes on top. */
  constructor(mostBytes: number) {
    this.#most = mostBytes
    this.#headBytes = Math.floor(mostBytes * HEAD_SHARE)
    this.#tailBytes = mostBytes - this.#headBytes
  }

  /** In memory it is cut by characters, of which there are never more than bytes. */
  take(text: string): void {
    if (text === '') return
    this.#bytes += Buffer.byteLength(text)
    const room = this.#headBytes - this.#head.length
    let rest = text
    if (room > 0 && this.#tail === '') {
      this.#head += text.slice(0, room)
      rest = text.slice(room)
    }
    const most = this.#tailBytes
    // A large piece replaces the tail: joining and cutting it would only copy it. Small pieces are rarely cut.
    if (rest.length >= most) this.#tail = rest.slice(-most)
    else this.#tail += rest
    if (this.#tail.length > 2 * most) this.#tail = this.#tail.slice(-most)
  }

  /** Null when there was no output. Says where bytes are left out. */
  text(): string | null {
    if (this.#bytes === 0) return null
    const isWhole = this.#bytes <= this.#most
    const text = isWhole ? this.#head + this.#tail : this.#cut()
    // Postgres accepts no NUL in text, and half a character at a cut must not get into the database.
    return text.toWellFormed().replaceAll('\0', '\u{fffd}')
  }

  #cut(): string {
    const head = firstBytes(this.#head, this.#headBytes)
    const tail = lastBytes(this.#tail, this.#tailBytes)
    const left = this.#bytes - Buffer.byteLength(head) - Buffer.byteLength(tail)
    return `${head}\n… ${left} bytes omitted; see the log …\n${tail}`
  }
}

const isInside = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** In whole characters. */
function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  let end = Math.min(most, bytes.length)
  while (end > 0 && isInside(bytes[end])) end--
  return bytes.toString('utf8', 0, end)
}

function lastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  let start = Math.max(0, bytes.length - most)
  while (isInside(bytes[start])) start++
  return bytes.toString('utf8', start)
}
