import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import type { Page } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { freshUuid } from '../../kernel/fresh-uuid.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import type { StoredComment, Thread } from '../../kernel/store/comment-reads.ts'
import { actorIn } from '../../pure/actors.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { requireMission } from '../mission/acts/missions.ts'
import { mustBeMissionOfRun } from '../mission/acts/of-run.ts'
import { textOf } from '../task/acts/comment-from.ts'
import { command, requireRecord } from '../task/acts/tasks.ts'
import * as api from './api.ts'
import type { CommentAdded, NewComment } from './record.ts'
import type { CommentBody, CommentList, CommentView } from './shapes.ts'

/** Comments on tasks and missions. */

type Body = z.output<typeof CommentBody>
type View = AnswerOf<typeof CommentView>

/** Comments are never removed alone: what it replies to is still there when it is written. */
async function commentIn(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  thread: Thread,
  { text, replyTo }: Body,
): Promise<NewComment> {
  const comment = { uuid: freshUuid(), text: textOf(text, 'text') }
  if (replyTo === undefined) return { ...comment, replyTo: null }
  const id = await kernel.store.comments.find(workspaceId, thread, replyTo)
  if (id === null)
    throw Refused.field('VALIDATION_FAILED', 'replyTo', `names no comment of this ${thread.on}`)
  return { ...comment, replyTo: { id, uuid: replyTo } }
}

type Place = Pick<View, 'taskId' | 'missionId'>

async function commentsIn(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  thread: Thread,
  page: Page<string>,
  place: Place,
): Promise<AnswerOf<typeof CommentList>> {
  const { after } = page
  const from = after === undefined ? 0 : await kernel.store.comments.find(workspaceId, thread, after)
  if (from === null)
    throw Refused.field('VALIDATION_FAILED', 'after', `names no comment of this ${thread.on}`)
  const found = await kernel.store.comments.list(workspaceId, thread, from, page.rows)
  const authors = found.map(({ author }) => author)
  const nameOf = await kernel.actorNames.of(workspaceId, authors)
  return page.of(
    found,
    (one) => commentView(one, nameOf(one.author), place),
    ({ uuid }) => uuid,
  )
}

async function addedView(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  added: CommentAdded,
  place: Place,
): Promise<View> {
  const nameOf = await kernel.actorNames.of(workspaceId, [added.author])
  const stored = { ...added, replyTo: added.replyTo?.uuid ?? null }
  return commentView(stored, nameOf(added.author), place)
}

const commentView = (
  { uuid, replyTo, text, author, at }: Pick<StoredComment, 'uuid' | 'replyTo' | 'text' | 'author' | 'at'>,
  authorName: string | null,
  place: Place,
): View => ({ id: uuid, ...place, replyTo, text, author: actorIn(author, authorName), at: instant(at) })

export const commentActs = actsOf(api)({
  commentOnTask: async ({ kernel }, { params: { id: uuid }, body, caller }) => {
    // Agents read it as what a person says while they work: no agent says that to another one.
    if (body.toHolder && !caller.rights.has('operate'))
      throw new Refused('FORBIDDEN', 'To tell the agent at work something needs the right "operate".')
    const { id } = await requireRecord(kernel, caller, uuid)
    const comment = await commentIn(kernel, caller, { on: 'task', id }, body)
    const reply = await command(kernel, caller, uuid, { kind: 'comment', comment, toHolder: body.toHolder })
    return addedView(kernel, caller, reply.comment, { taskId: uuid, missionId: null })
  },
  commentOnMission: async ({ kernel }, { params: { id: uuid }, body, caller }) => {
    await mustBeMissionOfRun(kernel, caller, uuid, 'comments')
    const { id } = await requireMission(kernel, caller, uuid)
    const comment = await commentIn(kernel, caller, { on: 'mission', id }, body)
    const request = { on: 'mission', key: uuid, uuid, command: { kind: 'comment', comment } } as const
    const reply = granted(await kernel.run(caller, request))
    return addedView(kernel, caller, reply.comment!, { taskId: null, missionId: uuid })
  },
  listCommentsOfTask: async ({ kernel }, { params: { id: uuid }, page, caller }) => {
    const { id } = await requireRecord(kernel, caller, uuid)
    return commentsIn(kernel, caller, { on: 'task', id }, page, { taskId: uuid, missionId: null })
  },
  listCommentsOfMission: async ({ kernel }, { params: { id: uuid }, page, caller }) => {
    const { id } = await requireMission(kernel, caller, uuid)
    return commentsIn(kernel, caller, { on: 'mission', id }, page, { taskId: null, missionId: uuid })
  },
})
