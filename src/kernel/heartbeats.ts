import type { Beat } from '../core/commands.ts'
import { Refused } from '../core/errors.ts'

/** At most this often the beats of one agent are written. */
const PAUSE_MS = 200

interface PendingBeat<T> {
  beat: Beat
  answer: (value: T) => void
  refuse: (reason: unknown) => void
}

/**
 * Beats of one agent that come faster than anybody needs them are written together: the newest is what counts, and all
 * who sent one are answered when it is written. So a flood of beats is a handful of writes a second.
 */
export class HeartbeatBatcher<T> {
  readonly #write: (workspaceId: number, agent: string, beat: Beat) => Promise<T>
  /** Those who wait until the pause after the last write is over. */
  readonly #waiting = new Map<string, PendingBeat<T>[]>()

  constructor(write: (workspaceId: number, agent: string, beat: Beat) => Promise<T>) {
    this.#write = write
  }

  tell(workspaceId: number, agent: string, beat: Beat): Promise<T> {
    // Beats of two sessions speak for different claims.
    const name = JSON.stringify([workspaceId, agent, beat.session])
    const waiting = this.#waiting.get(name)
    if (waiting)
      return new Promise((answer, refuse) => {
        waiting.push({ beat, answer, refuse })
      })
    this.#waiting.set(name, [])
    this.#later(name, workspaceId, agent)
    return this.#write(workspaceId, agent, beat)
  }

  #later(name: string, workspaceId: number, agent: string): void {
    setTimeout(() => {
      const waiting = this.#waiting.get(name)!
      if (waiting.length === 0) return void this.#waiting.delete(name)
      this.#waiting.set(name, [])
      this.#later(name, workspaceId, agent)
      void this.#writeOne(workspaceId, agent, waiting)
    }, PAUSE_MS)
  }

  /** The newest for all of them; one that is refused is refused alone, and the next newest speaks for the rest. */
  async #writeOne(workspaceId: number, agent: string, waiting: readonly PendingBeat<T>[]): Promise<void> {
    for (let left = [...waiting]; left.length > 0; ) {
      const newest = left.reduce((one, other) => (isOlder(other.beat, one.beat) ? one : other))
      try {
        const written = await this.#write(workspaceId, agent, newest.beat)
        const place = left.indexOf(newest)
        left.forEach(({ beat, answer, refuse }, i) => {
          // Sent before one that was heard before it.
          if (i > place && isOlder(beat, newest.beat)) refuse(outOfOrder(newest.beat))
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

const isOlder = (one: Beat, other: Beat) =>
  one.sentAt !== null && other.sentAt !== null && one.sentAt < other.sentAt

const outOfOrder = ({ sentAt }: Beat) =>
  new Refused('OUT_OF_ORDER', 'A beat that was sent later has been heard already.', {
    lastSentAt: new Date(sentAt!).toISOString(),
  })
