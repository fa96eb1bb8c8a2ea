import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { BOARD_COLUMNS, type BoardColumn } from '../../core/board.ts'
import { Refused } from '../../core/errors.ts'
import { ActAnswer, ActBody, Board, CardsAnswer, CardsBody } from '../../core/shapes/board.ts'
import { Name, Slug, Tag, Uuid } from '../../core/shapes/common.ts'
import { actOnTasks } from '../../flow/board/act.ts'
import { readBoard } from '../../flow/board/board.ts'
import { cardsOf } from '../../flow/board/cards.ts'
import { namedProject } from '../../flow/projects.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { sendCompressed } from '../compressed.ts'
import { cursorWith, LATEST_MS, valuesIn } from '../cursor.ts'
import { Digits, numberOr, route, wantedId } from '../schema.ts'

/** Tasks by column, as a board shows them, and acts on many of them. */

const tag = 'board'
const MOST_CARDS = 1_000
const BoardQuery = z.strictObject({
  mission: Uuid.optional(),
  project: Slug.optional(),
  agent: Name.optional().describe('It holds the task, or the task is for it alone'),
  tag: Tag.optional(),
  q: Name.optional().describe('Part of the title'),
  limit: Digits.optional().describe(`Cards in each column, at most ${MOST_CARDS}`),
  column: z.enum(BOARD_COLUMNS).optional(),
  cursor: Name.optional().describe('With column: the next page of it'),
  counts: z.literal('1').optional().describe('Only counts, no cards'),
})
type Query = z.output<typeof BoardQuery>

export function boardRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Querystring: Query }>(
    '/board',
    route({
      summary: 'Read the board: counts and the first cards of each column',
      tag,
      needs: 'read',
      query: BoardQuery,
      answer: Board,
    }),
    async (request, reply) => {
      const { query, caller } = request
      const filter = {
        missionId: wantedId(query.mission),
        projectId: await namedProject(kernel, caller, query.project),
        agent: query.agent,
        tag: query.tag,
        text: query.q,
      }
      const limit = query.counts ? 0 : Math.min(Math.max(numberOr(query.limit, 50), 1), MOST_CARDS)
      const page = { column: query.column, after: placeOf(query), limit }
      return sendCompressed(request, reply, await readBoard(kernel, caller, filter, page, cursorAt))
    },
  )

  app.post<{ Body: z.output<typeof CardsBody> }>(
    '/tasks/cards',
    route({
      summary: 'Read the cards of several tasks; unknown tasks are left out',
      tag,
      needs: 'read',
      body: CardsBody,
      answer: CardsAnswer,
    }),
    async (request, reply) =>
      sendCompressed(request, reply, await cardsOf(kernel, request.caller, request.body.ids)),
  )

  app.post<{ Body: z.output<typeof ActBody> }>(
    '/tasks/act',
    route({
      summary: 'Do the same to several tasks; each is decided for itself',
      tag,
      needs: 'operate',
      body: ActBody,
      answer: ActAnswer,
    }),
    ({ body, caller }) => actOnTasks(kernel, caller, body),
  )
}

const cursorAt = (column: BoardColumn, place: readonly number[]) => cursorWith([column, ...place])

const Moment = z.int().min(-LATEST_MS).max(LATEST_MS)
const Id = z.int()
const Inbox = z.tuple([z.literal('inbox'), z.int().min(-10).max(-1), Moment, Id])
const Other = (column: BoardColumn) => z.tuple([z.literal(column), Moment, Id])

function placeOf({ column, cursor }: Query): number[] | null {
  if (cursor === undefined) return null
  if (column === undefined)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'continues one column, which "column" must name')
  const [, ...place] = valuesIn<[BoardColumn, ...number[]]>(
    cursor,
    column === 'inbox' ? Inbox : Other(column),
  )
  return place
}
