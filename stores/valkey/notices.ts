import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { mayLetCallersProceed } from '../../src/kernel/batch/waiting-callers.ts'
import type { Changes } from '../../src/kernel/store/portable.ts'
import type { Committed } from '../../src/kernel/store/store.ts'

/**
 * Notifies listeners of commits of this process and of others. Notices of others are a hint: they are published with the
 * write, but a disconnected subscriber misses them. Waiting callers also poll slowly.
 */
export class Notices {
  readonly #channel: string
  readonly #connect: () => Redis
  readonly #process = randomUUID()
  readonly #listeners = new Set<Committed>()
  #subscriber: Redis | null = null

  constructor(channel: string, connect: () => Redis) {
    this.#channel = channel
    this.#connect = connect
  }

  listen(listener: Committed): () => void {
    this.#listeners.add(listener)
    this.#subscriber ??= this.#subscribe()
    return () => this.#listeners.delete(listener)
  }

  /** Sent with the write, as a command preceded by its length. */
  commandFor(workspaceId: number, changes: Changes): string[] {
    const { events, tasksWaiting } = summaryOf(changes)
    if (events === 0) return []
    const notice = [this.#process, workspaceId, events, tasksWaiting ? 1 : 0].join(' ')
    return ['3', 'PUBLISH', this.#channel, notice]
  }

  send(workspaceId: number, changes: Changes): void {
    if (changes.events.length > 0) this.#tellAll(workspaceId, summaryOf(changes))
  }

  close(): void {
    this.#listeners.clear()
    this.#subscriber?.disconnect()
  }

  #subscribe(): Redis {
    const subscriber = this.#connect()
    subscriber.on('message', (_channel: string, notice: string) => {
      const [process, workspaceId, events, tasksWaiting] = notice.split(' ')
      if (process === this.#process) return
      this.#tellAll(Number(workspaceId), { events: Number(events), tasksWaiting: tasksWaiting === '1' })
    })
    // Again after each reconnect.
    subscriber.on('ready', () => void subscriber.subscribe(this.#channel).catch(() => undefined))
    subscriber.connect().catch(() => undefined)
    return subscriber
  }

  #tellAll: Committed = (workspaceId, what) => {
    for (const listener of this.#listeners) listener(workspaceId, what)
  }
}

const summaryOf = (changes: Changes) => ({
  events: changes.events.length,
  tasksWaiting: mayLetCallersProceed(changes),
})
