import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import { columnOf } from '../../live/board-list.ts'
import type { ShownCard } from '../../live/pending-acts.ts'

/** A column is a view of the state, so a drop is an act. Only allowed ones are offered. Pure. */

/** `again`: retry or put back, as the user chooses. */
export type DropAct = 'priority' | 'approve' | 'reject' | 'again'
export type Tray = 'pause' | 'resume' | 'cancel' | 'retry'

export interface Drops {
  columns: Partial<Record<BoardColumn, DropAct>>
  trays: Tray[]
}

const TRAYS: readonly Tray[] = ['pause', 'resume', 'retry', 'cancel']

export function dropsFor(card: ShownCard): Drops {
  const trays = TRAYS.filter((act) => mayBeDone(act, card))
  switch (columnOf(card)) {
    case 'inbox':
      return { columns: { inbox: 'priority' }, trays }
    case 'review':
      return {
        columns: {
          ...(mayBeDone('approve', card) && { done: 'approve' }),
          ...(mayBeDone('reject', card) && { assigned: 'reject' }),
        },
        trays,
      }
    case 'done': {
      const mayBeAgain = mayBeDone('retry', card) || mayBeDone('reset', card)
      return { columns: mayBeAgain ? { inbox: 'again' } : {}, trays }
    }
    default:
      return { columns: {}, trays }
  }
}

export const CARD_PX = 84
export const GAP_PX = 8

/** The card that a point of a column lies on: a task dropped there takes its priority. */
export function placeAt(pointPx: number, count: number): number {
  const place = Math.floor((pointPx - GAP_PX) / (CARD_PX + GAP_PX))
  return Math.max(0, Math.min(place, count - 1))
}
