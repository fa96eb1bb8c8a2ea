/** How far what is shown is behind the server: the screen always says. */

/** Times are the server's. */
export type Freshness =
  | { kind: 'live' }
  | { kind: 'catching_up'; behind: number }
  /** The connection is lost; it is tried again at this time. */
  | { kind: 'again'; at: number }
  | { kind: 'offline'; since: number }
  /** The socket is blocked: the log is asked for every two seconds. */
  | { kind: 'polling' }
  | { kind: 'signed_out' }

export interface Shown {
  readonly freshness: Freshness
  /** The moment, in the server's time, that the screen shows. */
  readonly asOf: number | null
  /** How long the last event took from the server to the screen. */
  readonly lagMs: number | null
}

type Listener = () => void

/** On a slow line the offset varies by less. */
const NOTICED_MS = 2_000

export class FreshnessStore {
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

  set(freshness: Freshness): void {
    if (JSON.stringify(freshness) === JSON.stringify(this.#shown.freshness)) return
    this.#change({ ...this.#shown, freshness })
  }

  /** The server's time, heard now. While all is well nothing is drawn for it. */
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
  kind === 'live' || kind === 'catching_up' || kind === 'polling'
