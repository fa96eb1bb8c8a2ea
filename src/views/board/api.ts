import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { limitUpTo, Name, Slug, Tag, Uuid } from '../../pure/shapes.ts'
import { BOARD_COLUMNS } from './columns.ts'
import { ActAnswer, ActBody, Board, CardsAnswer, CardsBody } from './shapes.ts'

/** Tasks by column, as a board shows them, and acts on many of them. */

const tag = 'board'
export const MOST_CARDS = 1_000

export const readBoard = endpoint({
  method: 'GET',
  path: '/board',
  summary: 'Read the board: counts and the first cards of each column',
  tag,
  needs: 'read',
  query: z.strictObject({
    mission: Uuid.optional(),
    project: Slug.optional(),
    agent: Name.optional().describe('It holds the task, or the task is for it alone'),
    tag: Tag.optional(),
    q: Name.optional().describe('Part of the title'),
    limit: limitUpTo(MOST_CARDS, `Cards in each column, at most ${MOST_CARDS}`),
    column: z.enum(BOARD_COLUMNS).optional(),
    cursor: Name.optional().describe('With column: the next page of it'),
    counts: z.literal('1').optional().describe('Only counts, no cards'),
  }),
  answer: Board,
  paging: { most: MOST_CARDS },
  isLarge: true,
})

export const readCards = endpoint({
  method: 'POST',
  path: '/tasks/cards',
  summary: 'Read the cards of several tasks; unknown tasks are left out',
  tag,
  needs: 'read',
  body: CardsBody,
  answer: CardsAnswer,
  isLarge: true,
})

export const actOnMany = endpoint({
  method: 'POST',
  path: '/tasks/act',
  summary: 'Do the same to several tasks; each is decided separately',
  tag,
  needs: 'operate',
  body: ActBody,
  answer: ActAnswer,
})
