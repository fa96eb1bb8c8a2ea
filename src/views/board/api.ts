import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { limitUpTo, Name } from '../../pure/shapes.ts'
import { BOARD_COLUMNS } from './columns.ts'
import { ActAnswer, ActBody, Board, BoardValues, CardsAnswer, CardsBody } from './shapes.ts'

/** Tasks by column, as a board shows them, and acts on many of them. */

const tag = 'board'
export const MOST_CARDS = 1_000

const LONGEST_LIST = 4_000
const several = (name: string, more = `The ${name} of the task`) =>
  z
    .string()
    .min(1)
    .max(LONGEST_LIST)
    .optional()
    .describe(
      `${more}. Several are separated by commas: one of them; with ! before a value: not that one. A backslash takes the next character as it is`,
    )

export const readBoard = endpoint({
  method: 'GET',
  path: '/board',
  summary: 'Read the board: counts and the first cards of each column',
  tag,
  needs: 'read',
  query: z.strictObject({
    state: several('state'),
    type: several('type'),
    priority: several('priority'),
    tag: several('tag'),
    agent: several('agent', 'It holds the task, or the task is for it alone'),
    mission: several('mission'),
    project: several('project'),
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

export const readBoardValues = endpoint({
  method: 'GET',
  path: '/board/values',
  summary: 'Read which tags and types tasks have, to filter the board by them',
  tag,
  needs: 'read',
  answer: BoardValues,
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
