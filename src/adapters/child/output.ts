import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

const TAIL_CHARACTERS = 8 * 1024

/** Reads one pipe of a child with backpressure: the next piece only when the last was taken. */
export class Output {
  /** Resolves when all writers have closed the pipe, or after `close`. */
  readonly ended: Promise<void>
  /** Bytes received. */
  bytes = 0
  #tail = ''
  #hasEnded = false
  #waitingSince: number | null = null
  readonly #stream: Readable

  /** Starts to read at once: Node discards unread output of a child that has ended. */
  constructor(stream: Readable, take: (text: string) => Promise<void>) {
    this.#stream = stream
    // Closed or failed: keep what was received before.
    this.ended = this.#read(take).catch(() => undefined)
  }

  /** The end of the output, for messages. */
  get tail(): string {
    return this.#tail.toWellFormed()
  }

  /** How long the reader has waited without output; zero while a piece is being taken. */
  quietMs(): number {
    if (this.#hasEnded) return Number.POSITIVE_INFINITY
    return this.#waitingSince === null ? 0 : performance.now() - this.#waitingSince
  }

  close(): void {
    this.#stream.destroy()
  }

  async #read(take: (text: string) => Promise<void>): Promise<void> {
    // A character may be split over two chunks.
    const decoder = new StringDecoder('utf8')
    const emit = async (text: string) => {
      if (text === '') return
      // Most pieces are longer than the tail: joining them to it would only copy them.
      const last = text.length < TAIL_CHARACTERS ? this.#tail + text : text
      this.#tail = last.slice(-TAIL_CHARACTERS)
      await take(text)
    }
    try {
      this.#waitingSince = performance.now()
      for await (const chunk of this.#stream as AsyncIterable<Buffer>) {
        this.#waitingSince = null
        this.bytes += chunk.length
        await emit(decoder.write(chunk))
        this.#waitingSince = performance.now()
      }
    } finally {
      await emit(decoder.end())
      this.#hasEnded = true
    }
  }
}
