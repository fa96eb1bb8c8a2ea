import type { Committed } from '../kernel/store/store.ts'
import type { EventDraft } from '../kinds/events.ts'
import type { Workspace } from './workspace.ts'

/** The only writer of the logs in memory: numbers the events, and notifies those who wait for them. */
export class MemoryEventWriter {
  readonly #listeners = new Set<Committed>()

  onCommit(listener: Committed): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Part of the transaction that writes what they report. */
  append({ events: log }: Workspace, events: readonly EventDraft[]): void {
    for (const event of events) log.push({ ...event, seq: log.length + 1 })
  }

  /** After the transaction. */
  committed: Committed = (workspaceId, what) => {
    for (const listener of this.#listeners) listener(workspaceId, what)
  }
}
