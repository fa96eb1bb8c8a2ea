/** How far what is shown is behind the server. It is always on the screen. */

/** Times are the server's. */
export type Freshness =
  | { kind: 'live' }
  | { kind: 'catching_up'; behind: number }
  /** The connection is lost; it is tried again at this time. */
  | { kind: 'again'; at: number }
  | { kind: 'offline'; since: number }
  /** The socket is blocked: the log is asked for every two seconds. */
  | { kind: 'polling' }
  /** Connected, but a part of the page could not be read; it is tried again at this time. */
  | { kind: 'late'; at: number }
  | { kind: 'signed_out' }

export interface Shown {
  readonly freshness: Freshness
  /** The moment, in the server's time, that the screen shows. */
  readonly asOf: number | null
  /** How long the last event took from the server to the screen. */
  readonly lagMs: number | null
}

type Listener = () => void

/** On a slow line the offset varies by less than this. */
const NOTICED_MS = 2_000

export class FreshnessStore {
  #connection: Freshness = { kind: 'catching_up', behind: 0 }
  /** When each read that failed is tried again. */
  readonly #late = new Map<object, number>()
  #shown: Shown = { freshness: { kind: 'catching_up', behind: 0 }, asOf: null, lagMs: null }
  /** What to add to the clock of this machine for the server's time. */
  offsetMs = 0
  /** How often the clock of this machine was found to be wrong by more than a person notices. */
  offsetSteps = 0
  readonly #listeners = new Set<Listener>()

  get = (): Shown => this.#shown

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(connection: Freshness): void {
    this.#connection = connection
    this.#judge()
  }

  /** What this reader shows is old until it is read again at that time, by the clock of this machine; null: it is fresh. */
  late(reader: object, at: number | null): void {
    if (at === null) this.#late.delete(reader)
    else this.#late.set(reader, at + this.offsetMs)
    this.#judge()
  }

  /** A lost connection says more than a read that failed. */
  #judge(): void {
    const isLate = this.#late.size > 0 && isConnected(this.#connection)
    const freshness: Freshness = isLate
      ? { kind: 'late', at: Math.min(...this.#late.values()) }
      : this.#connection
    if (JSON.stringify(freshness) === JSON.stringify(this.#shown.freshness)) return
    this.#change({ ...this.#shown, freshness })
  }

  /** The server's time, received now. While all is well nothing is drawn for it. */
  heard(serverNow: number, here: number): void {
    const offsetMs = serverNow - here
    const isStep = Math.abs(offsetMs - this.offsetMs) >= NOTICED_MS
    this.offsetMs = offsetMs
    this.#shown = { ...this.#shown, asOf: serverNow }
    if (!isStep) return
    this.offsetSteps += 1
    this.#change(this.#shown)
  }

  /** Events up to this moment are on the screen. */
  showed(at: number, here: number): void {
    const lagMs = Math.max(0, here + this.offsetMs - at)
    this.#shown = { ...this.#shown, lagMs, asOf: Math.max(at, this.#shown.asOf ?? at) }
  }

  #change(shown: Shown): void {
    this.#shown = shown
    for (const listener of [...this.#listeners]) listener()
  }
}

export const isConnected = ({ kind }: Freshness) =>
  kind === 'live' || kind === 'catching_up' || kind === 'polling' || kind === 'late'
