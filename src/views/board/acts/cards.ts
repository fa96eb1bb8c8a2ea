import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { CardRow, LackingWork } from '../../../door/server-store.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { TASK_STATES } from '../../../pure/states.ts'
import type { Card } from '../shapes.ts'

const AWAITS = {
  review: 'result',
  question: 'question',
  budget: 'budget',
  dead_letter: 'person',
  alert: 'agent',
} as const

/** In as few words as a card has room for; the page of the run says more. */
function workNote({ isNotSaved, isMissing, leftOut, unread }: LackingWork): string {
  if (isNotSaved) return 'Work not saved'
  if (isMissing) return 'Earlier work missing'
  if (leftOut === 0 && unread !== null) return unread
  return leftOut === 1 ? '1 file left out' : `${leftOut} files left out`
}

/** Field by field: spreading costs several times as much, and a board has thousands of cards. */
export const cardView = (row: CardRow): AnswerOf<typeof Card> => ({
  id: row.id,
  number: row.number,
  key: row.key,
  title: row.title,
  taskType: row.taskType,
  purpose: row.purpose,
  state: row.state,
  stateSince: instant(row.stateSince),
  board: TASK_STATES[row.state].board,
  priority: row.priority,
  project: row.project,
  agent: row.agent,
  holder: row.holder === null ? null : { agent: row.holder, leaseExpiresAt: instant(row.leaseExpiresAt!) },
  generation: row.generation,
  version: row.version,
  attempt: row.attempt,
  maxRetries: row.maxRetries,
  step: row.step,
  percent: row.percent,
  reason: row.reason,
  awaits: row.waitsKind && AWAITS[row.waitsKind],
  resultDigest: row.resultDigest,
  dueAt: instant(row.dueAt),
  waitsFor: row.waitsFor ?? [],
  openDeps: row.openDeps ?? 0,
  missionId: row.missionId,
  verification: row.review === 'none' ? null : row.review,
  tags: row.tags,
  costUsd: row.costUsd,
  tokens: row.tokens,
  runId: row.runId,
  workNote: row.work && workNote(row.work),
  commentCount: row.commentCount,
  createdAt: instant(row.createdAt),
  updatedAt: instant(row.updatedAt),
  completedAt: instant(row.completedAt),
})

/** The cards of these tasks, in the order of their creation; unknown tasks are left out. */
export async function cardsOf(kernel: ServerKernel, { workspaceId }: Caller, uuids: readonly string[]) {
  const asked = new Set(uuids)
  const ids = uuids.map(idCarriedBy).filter((id) => id !== null)
  const { cards, seq } = await kernel.store.board.cards(workspaceId, ids)
  return { items: cards.filter(({ id }) => asked.has(id)).map(cardView), seq }
}
