import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

type Answer = AnswerTo<'GET', '/tasks/:id/comments'>
export type Comment = Answer['items'][number]

interface Thread {
  readonly first: Comment
  readonly replies: readonly Comment[]
}

/** Replies are listed below the first comment of their thread, however deep they answer each other. Pure. */
export function threadsOf(comments: readonly Comment[]): Thread[] {
  const firstOf = new Map<string, string>()
  const threads = new Map<string, { first: Comment; replies: Comment[] }>()
  for (const comment of comments) {
    const root = comment.replyTo === null ? undefined : firstOf.get(comment.replyTo)
    firstOf.set(comment.id, root ?? comment.id)
    if (root === undefined) threads.set(comment.id, { first: comment, replies: [] })
    else threads.get(root)!.replies.push(comment)
  }
  return [...threads.values()]
}

const A_PAGE = '200'
const MOST_PAGES = 10

/** The thread of a task or a mission. */
export const useComments = (of: 'tasks' | 'missions', id: string) =>
  useSnapshot<Pick<Answer, 'items'>>(
    ['comments', of, id],
    async ({ signal }) => {
      const read = (after?: string) =>
        api().read(`/${of}/:id/comments`, {
          params: { id },
          query: { limit: A_PAGE, ...(after === undefined ? {} : { after }) },
          signal,
        })
      let { body, seq } = await read()
      const items = [...body.items]
      for (let page = 1; body.nextCursor !== null && page < MOST_PAGES; page++) {
        ;({ body, seq } = await read(items.at(-1)!.id))
        items.push(...body.items)
      }
      return { body: { items }, seq }
    },
    { follows: of === 'tasks' ? about.task(id) : about.missionItself(id) },
  )

/** Comments in threads. No undo: a comment cannot be taken back. */

const bodyOf = (text: string, replyTo: string | null) => ({ text, ...(replyTo === null ? {} : { replyTo }) })

/** `toHolder`: the agent that works on it is told at once. */
export const commentOnTask = (id: string, text: string, replyTo: string | null, toHolder = false) =>
  api().post('/tasks/:id/comments', {
    params: { id },
    body: { ...bodyOf(text, replyTo), ...(toHolder && { toHolder }) },
  })

export const commentOnMission = (id: string, text: string, replyTo: string | null) =>
  api().post('/missions/:id/comments', { params: { id }, body: bodyOf(text, replyTo) })
