import { createContext, useContext, useSyncExternalStore } from 'react'
import type { ShownCard } from '../../live/pending-acts.ts'
import type { Drops } from './drops.ts'

/** Where the user is on the board: the card under the cursor, those selected, the one dragged. Cards listen to their own part. */

interface DeskState {
  readonly cursor: string | null
  readonly selected: ReadonlySet<string>
  readonly dragged: { card: ShownCard; drops: Drops } | null
  /** The acts of a card are shown at this point. */
  readonly menu: { id: string; x: number; y: number } | null
}

export class Desk {
  #state: DeskState = { cursor: null, selected: new Set(), dragged: null, menu: null }
  /** Where a range of selected cards begins. */
  #rangeFrom: string | null = null
  readonly #listeners = new Set<() => void>()

  get = () => this.#state

  subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  set(change: Partial<DeskState>): void {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }

  toggle(id: string): void {
    const selected = new Set(this.#state.selected)
    if (!selected.delete(id)) selected.add(id)
    this.#rangeFrom = id
    this.set({ selected })
  }

  /** Selects from the card that was selected last to this one, in the order of the column that has both. */
  selectRange(id: string, order: readonly string[]): void {
    const from = this.#rangeFrom === null ? -1 : order.indexOf(this.#rangeFrom)
    const to = order.indexOf(id)
    if (from < 0 || to < 0) this.toggle(id)
    else {
      const range = order.slice(Math.min(from, to), Math.max(from, to) + 1)
      this.set({ selected: new Set([...this.#state.selected, ...range]) })
    }
  }

  clearSelection(): void {
    this.#rangeFrom = null
    this.set({ selected: new Set() })
  }

  /** What an act is about: all that is selected, or the card under the cursor. */
  subject(): readonly string[] {
    const { selected, cursor } = this.#state
    return selected.size > 0 ? [...selected] : cursor === null ? [] : [cursor]
  }
}

export const DeskContext = createContext<Desk | null>(null)

export function useDesk(): Desk {
  const desk = useContext(DeskContext)
  if (!desk) throw new Error('A card is drawn outside of a board.')
  return desk
}

/** A part of it; the component is drawn again only when that part changes. */
export function useOnDesk<T>(desk: Desk, part: (state: DeskState) => T): T {
  return useSyncExternalStore(desk.subscribe, () => part(desk.get()))
}
