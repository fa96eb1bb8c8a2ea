import { idCarriedBy } from '../../core/ids.ts'
import type { Card } from '../../core/shapes/board.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import { TASK_STATES } from '../../core/states.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { CardRow } from '../../store/server-store.ts'
import { instant } from '../views.ts'

const AWAITS = { review: 'result', question: 'question', budget: 'budget', dead_letter: 'person' } as const

export function cardView(row: CardRow): AnswerOf<typeof Card> {
  const { holder, leaseExpiresAt, waitsKind, waitsFor, openDeps, review, ...same } = row
  return {
    ...same,
    board: TASK_STATES[row.state].board,
    holder: holder === null ? null : { agent: holder, leaseExpiresAt: instant(leaseExpiresAt!) },
    awaits: waitsKind && AWAITS[waitsKind],
    waitsFor: waitsFor ?? [],
    openDeps: openDeps ?? 0,
    verification: review === 'none' ? null : review,
    stateSince: instant(row.stateSince),
    dueAt: instant(row.dueAt),
    createdAt: instant(row.createdAt),
    updatedAt: instant(row.updatedAt),
    completedAt: instant(row.completedAt),
  }
}

/** The cards of these tasks, in the order of their creation; unknown tasks are left out. */
export async function cardsOf(kernel: ServerKernel, { workspaceId }: Caller, uuids: readonly string[]) {
  const asked = new Set(uuids)
  const ids = uuids.map(idCarriedBy).filter((id) => id !== null)
  const { cards, seq } = await kernel.store.board.cards(workspaceId, ids)
  return { items: cards.filter(({ id }) => asked.has(id)).map(cardView), seq }
}
