import { z } from 'zod'
import { wantedId } from '../../door/asked.ts'
import { actsOf } from '../../door/door.ts'
import { readCursor, writeCursor } from '../../door/paging.ts'
import type { InboxPlace } from '../../door/server-store.ts'
import { INBOX_KINDS } from '../../kinds/task/rules/waiting.ts'
import { LATEST_MS, valuesOf } from '../../pure/paging.ts'
import { answerInboxItem } from './acts/answer.ts'
import { answerInboxItems } from './acts/answer-many.ts'
import { inboxPage, showInboxItem } from './acts/read.ts'
import * as api from './api.ts'

/** What waits for a person. */

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
type Values = z.output<typeof Place> | z.output<typeof Blocking>

/** Each order has its own cursor. */
const cursorOf = (sort: 'oldest' | 'blocks') => valuesOf<Values>(sort === 'blocks' ? Blocking : Place)

const valuesIn = ({ since, kind, num, ref, blocks }: InboxPlace, sort: 'oldest' | 'blocks'): Values =>
  sort === 'blocks' ? [since, kind, num, ref, blocks!] : [since, kind, num, ref]

function placeIn([since, kind, num, ref, blocks]: Values): InboxPlace {
  return { since, kind, num, ref, blocks }
}

export const inboxActs = actsOf(api)({
  listInbox: async ({ kernel }, { query, caller, page }) => {
    const { sort = 'oldest', kind } = query
    const cursor = cursorOf(sort)
    const filter = {
      kinds: kind === undefined ? INBOX_KINDS : [kind],
      missionId: wantedId(query.mission) ?? null,
      sort,
      after: query.cursor === undefined ? null : placeIn(readCursor(cursor, query.cursor)),
    }
    const { list, last } = await inboxPage(kernel, caller, filter, page.limit)
    return { ...list, nextCursor: last && writeCursor(cursor, valuesIn(last, sort)) }
  },
  readInboxItem: ({ kernel, execution }, { params, caller }) =>
    showInboxItem(kernel, execution, caller, params.id),
  answerInboxItems: ({ kernel, execution }, { body, caller }) =>
    answerInboxItems(kernel, execution, caller, body),
  answerInboxItem: ({ kernel, execution }, { params, body, caller }) =>
    answerInboxItem(kernel, execution, caller, params.id, body),
})
