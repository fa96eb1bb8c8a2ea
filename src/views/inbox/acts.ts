import { z } from 'zod'
import { wantedId } from '../../door/asked.ts'
import { actsOf } from '../../door/door.ts'
import type { Execution } from '../../door/execution.ts'
import { readCursor, writeCursor } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { forOne, outcomeOf } from '../../kernel/many.ts'
import { INBOX_KINDS } from '../../kinds/task/rules/waiting.ts'
import { Refused } from '../../pure/errors.ts'
import { LATEST_MS, valuesOf } from '../../pure/paging.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { answerInboxItem } from './acts/answer.ts'
import { inboxPage, showInboxItem } from './acts/read.ts'
import * as api from './api.ts'
import type { InboxPlace } from './postgres.ts'
import type { InboxAnswers, InboxOutcomes } from './shapes.ts'

/** How many are answered at a time: each needs a connection to the database. */
const AT_A_TIME = 4

/** One decision about several items, each bound to what was seen of it. */
async function answerInboxItems(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  { items, ...decision }: z.output<typeof InboxAnswers>,
): Promise<AnswerOf<typeof InboxOutcomes>> {
  const named = new Set(items.map(({ id }) => id))
  if (named.size < items.length)
    throw Refused.field('VALIDATION_FAILED', 'items', 'names an item more than once')
  const outcomes: AnswerOf<typeof InboxOutcomes>['items'][number][] = []
  const answerOne = async ({ id, ...seen }: (typeof items)[number]) => {
    const { answer, refused } = await outcomeOf(() =>
      answerInboxItem(kernel, execution, forOne(caller, id), id, { ...decision, ...seen }),
    )
    if (answer) return { id, done: true, state: answer.state, code: null, detail: null }
    return { id, done: false, state: null, code: refused.code, detail: refused.refusal.detail }
  }
  for (let first = 0; first < items.length; first += AT_A_TIME)
    outcomes.push(...(await Promise.all(items.slice(first, first + AT_A_TIME).map(answerOne))))
  return { items: outcomes, done: outcomes.filter(({ done }) => done).length }
}

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
