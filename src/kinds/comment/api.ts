import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { byUuid } from '../../pure/paging.ts'
import { IdParams, LARGEST_PAGE, limitUpTo, Uuid } from '../../pure/shapes.ts'
import { MissionParams } from '../mission/shapes/missions.ts'
import { CommentBody, CommentList, CommentView, TaskCommentBody } from './shapes.ts'

/** Threads of tasks and missions. Those who work may comment, too: an agent, on its own task and its mission. */

const tag = 'comments'

const adding = { tag, needs: 'work', body: CommentBody, status: 201, answer: CommentView } as const

export const commentOnTask = endpoint({
  method: 'POST',
  path: '/tasks/:id/comments',
  summary: 'Comment on a task: the next agent that works on it gets the comment, or the present one at once',
  params: IdParams,
  ...adding,
  body: TaskCommentBody,
})

export const commentOnMission = endpoint({
  method: 'POST',
  path: '/missions/:id/comments',
  summary: 'Comment on a mission: the next agent that works on it gets the comment',
  params: MissionParams,
  ...adding,
})

const paging = { ...byUuid, param: 'after' } as const
const CommentQuery = z.strictObject({
  after: Uuid.optional().describe('The id of a comment: those that were written after it'),
  limit: limitUpTo(LARGEST_PAGE),
})
const listing = { tag, needs: 'read', query: CommentQuery, answer: CommentList, paging } as const

export const listCommentsOfTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/comments',
  summary: 'List the comments on a task, oldest first',
  params: IdParams,
  ...listing,
})

export const listCommentsOfMission = endpoint({
  method: 'GET',
  path: '/missions/:id/comments',
  summary: 'List the comments on a mission, oldest first',
  params: MissionParams,
  ...listing,
})
