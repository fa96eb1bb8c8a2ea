/** What agents write, for those who are watching just now. It is not kept here: the log has all of it, by offset. */

export interface OutputChunk {
  workspaceId: number
  runId: string
  agent: string
  stream: 'stdout' | 'stderr' | 'system'
  chunk: string
  /** Where in the log it begins. */
  offset: number
}

export class LiveOutput {
  readonly #listeners = new Set<(chunk: OutputChunk) => void>()

  publish(chunk: OutputChunk): void {
    for (const listener of this.#listeners) listener(chunk)
  }

  onOutput(listener: (chunk: OutputChunk) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
