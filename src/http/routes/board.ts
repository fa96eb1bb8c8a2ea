import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { actOnMany, MOST_CARDS, readBoard, readCards } from '../../core/api/board.ts'
import type { BoardColumn } from '../../core/board.ts'
import { Refused } from '../../core/errors.ts'
import { actOnTasks } from '../../flow/board/act.ts'
import { readBoard as boardOf } from '../../flow/board/board.ts'
import { cardsOf } from '../../flow/board/cards.ts'
import { namedProject } from '../../flow/projects.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { sendCompressed } from '../compressed.ts'
import { cursorWith, LATEST_MS, valuesIn } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { pageSize, wantedId } from '../schema.ts'

export function boardRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, readBoard, async (request, reply) => {
    const { query, caller } = request
    const filter = {
      missionId: wantedId(query.mission),
      projectId: await namedProject(kernel, caller, query.project),
      agent: query.agent,
      tag: query.tag,
      text: query.q,
    }
    const limit = query.counts ? 0 : pageSize(query.limit, { most: MOST_CARDS })
    const page = { column: query.column, after: placeOf(query), limit }
    return sendCompressed(request, reply, await boardOf(kernel, caller, filter, page, cursorAt))
  })

  serve(app, readCards, async (request, reply) =>
    sendCompressed(request, reply, await cardsOf(kernel, request.caller, request.body.ids)),
  )

  serve(app, actOnMany, ({ body, caller }) => actOnTasks(kernel, caller, body))
}

const cursorAt = (column: BoardColumn, place: readonly number[]) => cursorWith([column, ...place])

const Moment = z.int().min(-LATEST_MS).max(LATEST_MS)
const Id = z.int()
const Inbox = z.tuple([z.literal('inbox'), z.int().min(-10).max(-1), Moment, Id])
const Other = (column: BoardColumn) => z.tuple([z.literal(column), Moment, Id])

function placeOf({
  column,
  cursor,
}: {
  column?: BoardColumn | undefined
  cursor?: string | undefined
}): number[] | null {
  if (cursor === undefined) return null
  if (column === undefined)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'continues one column, which "column" must name')
  const [, ...place] = valuesIn<[BoardColumn, ...number[]]>(
    cursor,
    column === 'inbox' ? Inbox : Other(column),
  )
  return place
}
