import { z } from 'zod'
import { INBOX_KINDS } from '../../kinds/task/rules/waiting.ts'
import { endpoint } from '../../pure/endpoint.ts'
import { IdParams, Page, Uuid } from '../../pure/shapes.ts'
import { InboxAnswer, InboxAnswers, InboxDetail, InboxList, InboxOutcome, InboxOutcomes } from './shapes.ts'

/** What waits for a person. */

const tag = 'inbox'
const ListQuery = z.strictObject({
  ...Page,
  kind: z.enum(INBOX_KINDS).optional(),
  mission: Uuid.optional(),
  sort: z.enum(['oldest', 'blocks']).optional().describe('Default: oldest'),
})

export const listInbox = endpoint({
  method: 'GET',
  path: '/inbox',
  summary:
    'List what waits for a person, oldest first or by how much it blocks; then missions whose end nobody has seen',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: InboxList,
  paging: {},
})

export const readInboxItem = endpoint({
  method: 'GET',
  path: '/inbox/:id',
  summary: 'Read an item with everything that is needed to decide',
  tag,
  needs: 'read',
  params: IdParams,
  answer: InboxDetail,
})

export const answerInboxItems = endpoint({
  method: 'POST',
  path: '/inbox/answer',
  summary: 'Answer several items with the same decision; each is decided separately',
  tag,
  needs: 'operate',
  body: InboxAnswers,
  answer: InboxOutcomes,
})

export const answerInboxItem = endpoint({
  method: 'POST',
  path: '/inbox/:id/answer',
  summary: 'Answer an item: Baton carries out the decision',
  tag,
  needs: 'operate',
  params: IdParams,
  body: InboxAnswer,
  answer: InboxOutcome,
})
