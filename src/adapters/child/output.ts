import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const TAIL_CHARACTERS = 8 * 1024

/** What a child writes to one of its pipes, read piece by piece: the next only when the last was taken. */
export class Output {
  /** Resolves when nobody writes to it any more, or when it was let go. */
  readonly ended: Promise<void>
  /** Bytes that came. */
  bytes = 0
  #tail = ''
  #hasEnded = false
  #waitingSince: number | null = null
  readonly #stream: Readable

  /** Begins to read at once: what nobody reads of a child that has ended is thrown away by Node. */
  constructor(stream: Readable, take: (text: string) => Promise<void>) {
    this.#stream = stream
    // It was let go, or could not be read: what came before is what there is.
    this.ended = this.#read(take).catch(() => undefined)
  }

  /** The end of it, for messages. */
  get tail(): string {
    return this.#tail.toWellFormed()
  }

  /** How long nothing came though somebody waited for it; zero while what came is being taken. */
  quietMs(): number {
    if (this.#hasEnded) return Number.POSITIVE_INFINITY
    return this.#waitingSince === null ? 0 : performance.now() - this.#waitingSince
  }

  letGo(): void {
    this.#stream.destroy()
  }

  async #read(take: (text: string) => Promise<void>): Promise<void> {
    // A character may be split over two chunks.
    const decoder = new StringDecoder('utf8')
    const give = async (text: string) => {
      if (text === '') return
      // Most pieces are longer than the tail: to join them to the last would only copy them.
      const last = text.length < TAIL_CHARACTERS ? this.#tail + text : text
      this.#tail = last.slice(-TAIL_CHARACTERS)
      await take(text)
    }
    try {
      this.#waitingSince = performance.now()
      for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
        this.#waitingSince = null
        this.bytes += chunk.length
        await give(decoder.write(chunk))
        this.#waitingSince = performance.now()
      }
    } finally {
      await give(decoder.end())
      this.#hasEnded = true
    }
  }
}
