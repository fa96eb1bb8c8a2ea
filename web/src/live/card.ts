import type { Tokens } from '../../../src/kinds/run/shapes/tokens.ts'
import type { AnswerOf } from '../../../src/pure/shapes.ts'
import type { Card as CardShape } from '../../../src/views/board/shapes.ts'
import type { EventView } from '../../../src/views/events/shapes.ts'

/** A card as the store keeps it: events have times in milliseconds, answers as text, and two forms of one time would be compared wrongly. */

export type LiveEvent = AnswerOf<typeof EventView>
export type AnsweredCard = AnswerOf<typeof CardShape>

type Times = 'stateSince' | 'createdAt' | 'updatedAt'
type MaybeTimes = 'dueAt' | 'completedAt'

export interface Card extends Omit<AnsweredCard, Times | MaybeTimes | 'holder' | 'board'> {
  readonly stateSince: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly dueAt: number | null
  readonly completedAt: number | null
  readonly holder: { readonly agent: string; readonly leaseExpiresAt: number } | null
}

const momentOf = (text: string | null) => (text === null ? null : Date.parse(text))

export function cardFrom({ board: _column, ...card }: AnsweredCard): Card {
  const { holder } = card
  return {
    ...card,
    stateSince: Date.parse(card.stateSince),
    createdAt: Date.parse(card.createdAt),
    updatedAt: Date.parse(card.updatedAt),
    dueAt: momentOf(card.dueAt),
    completedAt: momentOf(card.completedAt),
    holder: holder && { agent: holder.agent, leaseExpiresAt: Date.parse(holder.leaseExpiresAt) },
  }
}

/** A field of an event's payload, if it has the expected type. */
/** What a run had used at an event; null: the event does not say. */
export function tokensAt(event: LiveEvent): Tokens | null {
  const [input, cachedInput, output] = ['inputTokens', 'cachedInputTokens', 'outputTokens'].map((field) =>
    payloadField(event, field, 'number'),
  )
  if (input === undefined || output === undefined) return null
  return { input, cachedInput: cachedInput ?? null, cacheWrite: null, output }
}

export function payloadField(event: LiveEvent, field: string, type: 'string'): string | undefined
export function payloadField(event: LiveEvent, field: string, type: 'number'): number | undefined
export function payloadField({ payload }: LiveEvent, field: string, type: 'string' | 'number'): unknown {
  const value = payload[field]
  return typeof value === type ? value : undefined
}
