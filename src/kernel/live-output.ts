/** Live output of agents, for current watchers. Nothing is kept here: the log has all output, by offset. */

export interface OutputChunk {
  workspaceId: number
  runId: string
  agent: string
  stream: 'stdout' | 'stderr' | 'system'
  chunk: string
  /** Its start in the log. */
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
