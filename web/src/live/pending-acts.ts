import { type Act, columnsAfter, transitionOf } from '../../../src/kinds/task/rules/allowed-acts.ts'
import { isTerminal } from '../../../src/pure/states.ts'
import type { BoardColumn } from '../../../src/views/board/columns.ts'
import type { Card } from './card.ts'

/** Acts that were sent and not answered: their expected outcome is shown at once, marked as unconfirmed. */

export interface PendingAct {
  readonly act: Act
  /** Where it is shown until then; null: where it is. */
  readonly column: BoardColumn | null
  /** No answer came: it is not known whether it was done. */
  readonly isUnknown?: boolean
}

export interface ShownCard extends Card {
  readonly pending?: PendingAct | undefined
}

interface Pending {
  act: PendingAct
  patch: Partial<Card>
  /** The version of the task after the act, once it is answered. */
  doneVersion: number | null
  /** The event does not contain the new value: only the card that is read afterwards does. */
  needsRead: boolean
  /** Made of this card: rows compare by identity. */
  from: Card | null
  shown: ShownCard | null
}

type Moving = Parameters<typeof transitionOf>[0]
const MOVING: readonly Act[] = [
  'pause',
  'resume',
  'cancel',
  'retry',
  'reset',
  'approve',
  'reject',
  'answer',
] satisfies Moving[]

/** The card after an act, where only one outcome is possible. */
export function foreseen(
  act: Act,
  card: Card,
  now: number,
): { column: BoardColumn | null; patch: Partial<Card> } {
  const columns = columnsAfter(act, card.state)
  if (columns.length !== 1 || !MOVING.includes(act)) return { column: null, patch: {} }
  const { to } = transitionOf(act as Moving)
  const completedAt = isTerminal(to) ? now : null
  return { column: columns[0]!, patch: { state: to, stateSince: now, completedAt, holder: null } }
}

export class PendingActs {
  readonly #byTask = new Map<string, Pending>()

  begin(id: string, act: PendingAct, patch: Partial<Card>): void {
    const needsRead = act.column === null && Object.keys(patch).length > 0
    this.#byTask.set(id, { act, patch, needsRead, doneVersion: null, from: null, shown: null })
  }

  /** The act was done; the event that says so may still be on its way. True: nothing more is awaited. */
  answered(id: string, version: number | null, card: Card | undefined): boolean {
    const pending = this.#byTask.get(id)
    if (!pending) return true
    pending.doneVersion = version
    return !pending.needsRead && this.settled(id, card)
  }

  /** Whether what is known of the card contains the outcome. */
  settled(id: string, card: Card | undefined): boolean {
    const pending = this.#byTask.get(id)
    if (!pending) return true
    const { doneVersion } = pending
    if (doneVersion === null || (card && card.version < doneVersion)) return false
    this.#byTask.delete(id)
    return true
  }

  end(id: string): boolean {
    return this.#byTask.delete(id)
  }

  has(id: string): boolean {
    return this.#byTask.has(id)
  }

  shown(card: Card): ShownCard {
    const pending = this.#byTask.get(card.id)
    if (!pending) return card
    if (pending.from !== card || !pending.shown) {
      pending.from = card
      pending.shown = { ...card, ...pending.patch, pending: pending.act }
    }
    return pending.shown
  }
}
