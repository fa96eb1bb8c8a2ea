import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Uuid } from '../../core/shapes/common.ts'
import {
  InboxAnswer,
  InboxAnswers,
  InboxDetail,
  InboxList,
  InboxOutcome,
  InboxOutcomes,
} from '../../core/shapes/inbox.ts'
import { INBOX_KINDS } from '../../core/waiting.ts'
import type { Execution } from '../../flow/execution.ts'
import { answerInboxItem } from '../../flow/inbox/answer.ts'
import { answerInboxItems } from '../../flow/inbox/answer-many.ts'
import { inboxPage, showInboxItem } from '../../flow/inbox/read.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { InboxPlace } from '../../store/server-store.ts'
import { cursorWith, LATEST_MS, valuesIn } from '../cursor.ts'
import { IdParams, Page, pageSize, route, wantedId } from '../schema.ts'

/** What waits for a person. */

const tag = 'inbox'
const ListQuery = z.strictObject({
  ...Page,
  kind: z.enum(INBOX_KINDS).optional(),
  mission: Uuid.optional(),
  sort: z.enum(['oldest', 'blocks']).optional().describe('Default: oldest'),
})

type OnItem = { Params: { id: string } }

export function inboxRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/inbox',
    route({
      summary: 'List what waits for a person, oldest first or by how much it blocks',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: InboxList,
    }),
    async ({ query, caller }) => {
      const sort = query.sort ?? 'oldest'
      const filter = {
        kinds: query.kind === undefined ? INBOX_KINDS : [query.kind],
        missionId: wantedId(query.mission) ?? null,
        sort,
        after: query.cursor === undefined ? null : placeIn(query.cursor, sort),
      }
      const { list, last } = await inboxPage(kernel, caller, filter, pageSize(query.limit))
      return { ...list, nextCursor: last && cursorAt(last, sort) }
    },
  )

  app.get<OnItem>(
    '/inbox/:id',
    route({
      summary: 'Read an item with everything that is needed to decide',
      tag,
      needs: 'read',
      params: IdParams,
      answer: InboxDetail,
    }),
    ({ params, caller }) => showInboxItem(kernel, execution, caller, params.id),
  )

  app.post<{ Body: z.output<typeof InboxAnswers> }>(
    '/inbox/answer',
    route({
      summary: 'Decide the same about several items; each is decided for itself',
      tag,
      needs: 'operate',
      body: InboxAnswers,
      answer: InboxOutcomes,
    }),
    ({ body, caller }) => answerInboxItems(kernel, execution, caller, body),
  )

  app.post<OnItem & { Body: z.output<typeof InboxAnswer> }>(
    '/inbox/:id/answer',
    route({
      summary: 'Decide about an item: the act that it stands for is done',
      tag,
      needs: 'operate',
      params: IdParams,
      body: InboxAnswer,
      answer: InboxOutcome,
    }),
    ({ params, body, caller }) => answerInboxItem(kernel, execution, caller, params.id, body),
  )
}

const cursorAt = ({ since, kind, num, ref, blocks }: InboxPlace, sort: string): string =>
  cursorWith([since, kind, num, ref, ...(sort === 'blocks' ? [blocks] : [])])

const Place = z.tuple([
  z.number().min(0).max(LATEST_MS),
  z.enum(INBOX_KINDS),
  z.int().min(0),
  z
    .string()
    .max(100)
    .regex(/^[^\0]*$/),
])
const Blocking = z.tuple([...Place.def.items, z.int().min(0).max(2_147_483_647)])

function placeIn(cursor: string, sort: string): InboxPlace {
  const [since, kind, num, ref, blocks] = valuesIn<unknown[]>(
    cursor,
    sort === 'blocks' ? Blocking : Place,
  ) as z.output<typeof Blocking>
  return { since, kind, num, ref, blocks }
}
