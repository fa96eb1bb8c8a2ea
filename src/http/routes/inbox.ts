import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import * as api from '../../core/api/inbox.ts'
import { INBOX_KINDS } from '../../core/waiting.ts'
import type { Execution } from '../../flow/execution.ts'
import { answerInboxItem } from '../../flow/inbox/answer.ts'
import { answerInboxItems } from '../../flow/inbox/answer-many.ts'
import { inboxPage, showInboxItem } from '../../flow/inbox/read.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { InboxPlace } from '../../store/server-store.ts'
import { cursorWith, LATEST_MS, valuesIn } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { pageSize, wantedId } from '../schema.ts'

/** What waits for a person. */

export function inboxRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, api.listInbox, async ({ query, caller }) => {
    const sort = query.sort ?? 'oldest'
    const filter = {
      kinds: query.kind === undefined ? INBOX_KINDS : [query.kind],
      missionId: wantedId(query.mission) ?? null,
      sort,
      after: query.cursor === undefined ? null : placeIn(query.cursor, sort),
    }
    const { list, last } = await inboxPage(kernel, caller, filter, pageSize(query.limit))
    return { ...list, nextCursor: last && cursorAt(last, sort) }
  })

  serve(app, api.readInboxItem, ({ params, caller }) => showInboxItem(kernel, execution, caller, params.id))

  serve(app, api.answerInboxItems, ({ body, caller }) => answerInboxItems(kernel, execution, caller, body))

  serve(app, api.answerInboxItem, ({ params, body, caller }) =>
    answerInboxItem(kernel, execution, caller, params.id, body),
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
