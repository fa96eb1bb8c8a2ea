import type { Heartbeat } from '../kinds/agent/rules/command.ts'
import { Refused } from '../pure/errors.ts'

/** The shortest interval between writes of one agent's heartbeats. */
const INTERVAL_MS = 200

interface PendingHeartbeat<T> {
  heartbeat: Heartbeat
  answer: (value: T) => void
  refuse: (reason: unknown) => void
}

/**
 * Batches the heartbeats of one agent: only the newest is written, and all senders are answered after that write. So a flood
 * of heartbeats costs a few writes per second.
 */
export class HeartbeatBatcher<T> {
  readonly #write: (workspaceId: number, agent: string, heartbeat: Heartbeat) => Promise<T>
  /** Heartbeats that wait for the interval after the last write to end. */
  readonly #waiting = new Map<string, PendingHeartbeat<T>[]>()

  constructor(write: (workspaceId: number, agent: string, heartbeat: Heartbeat) => Promise<T>) {
    this.#write = write
  }

  record(workspaceId: number, agent: string, heartbeat: Heartbeat): Promise<T> {
    // Heartbeats of two sessions renew different claims.
    const name = JSON.stringify([workspaceId, agent, heartbeat.session])
    const waiting = this.#waiting.get(name)
    if (waiting)
      return new Promise((answer, refuse) => {
        waiting.push({ heartbeat, answer, refuse })
      })
    this.#waiting.set(name, [])
    this.#scheduleNext(name, workspaceId, agent)
    return this.#write(workspaceId, agent, heartbeat)
  }

  #scheduleNext(name: string, workspaceId: number, agent: string): void {
    setTimeout(() => {
      const waiting = this.#waiting.get(name)!
      if (waiting.length === 0) return void this.#waiting.delete(name)
      this.#waiting.set(name, [])
      this.#scheduleNext(name, workspaceId, agent)
      void this.#writeOne(workspaceId, agent, waiting)
    }, INTERVAL_MS)
  }

  /** Writes the newest for all. If it is refused, only its sender gets the refusal, and the next newest is written. */
  async #writeOne(
    workspaceId: number,
    agent: string,
    waiting: readonly PendingHeartbeat<T>[],
  ): Promise<void> {
    for (let left = [...waiting]; left.length > 0; ) {
      const newest = left.reduce((one, other) => (isOlder(other.heartbeat, one.heartbeat) ? one : other))
      try {
        const written = await this.#write(workspaceId, agent, newest.heartbeat)
        const place = left.indexOf(newest)
        left.forEach(({ heartbeat, answer, refuse }, i) => {
          // Sent earlier than a heartbeat that arrived before it.
          if (i > place && isOlder(heartbeat, newest.heartbeat)) refuse(outOfOrder(newest.heartbeat))
          else answer(written)
        })
        return
      } catch (error) {
        const refused = error instanceof Refused ? [newest] : left
        for (const { refuse } of refused) refuse(error)
        left = left.filter((one) => !refused.includes(one))
      }
    }
  }
}

const isOlder = (one: Heartbeat, other: Heartbeat) =>
  one.sentAt !== null && other.sentAt !== null && one.sentAt < other.sentAt

const outOfOrder = ({ sentAt }: Heartbeat) =>
  new Refused('OUT_OF_ORDER', 'A heartbeat that was sent later has already been recorded.', {
    lastSentAt: new Date(sentAt!).toISOString(),
  })
