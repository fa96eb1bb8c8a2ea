import type { OutputChunk } from './frames.ts'

/** Which followers want the output of which runs. A socket follows sixteen at most: those that were asked for last. */

const MOST_FOLLOWED = 16

type OnChunk = (chunk: OutputChunk) => void
interface Follower {
  runIds: readonly string[]
  onChunk: OnChunk
}

export class Output {
  readonly #followers = new Set<Follower>()
  readonly #notify: (runIds: readonly string[]) => void
  #followed = ''

  constructor(notify: (runIds: readonly string[]) => void) {
    this.#notify = notify
  }

  follow(runIds: readonly string[], onChunk: OnChunk): () => void {
    const follower = { runIds, onChunk }
    this.#followers.add(follower)
    this.#changed()
    return () => {
      this.#followers.delete(follower)
      this.#changed()
    }
  }

  take(chunk: OutputChunk): void {
    for (const { runIds, onChunk } of this.#followers) if (runIds.includes(chunk.runId)) onChunk(chunk)
  }

  #changed(): void {
    const all = [...new Set([...this.#followers].reverse().flatMap(({ runIds }) => runIds))]
    const followed = all.slice(0, MOST_FOLLOWED)
    const text = followed.join()
    if (text === this.#followed) return
    this.#followed = text
    this.#notify(followed)
  }
}
