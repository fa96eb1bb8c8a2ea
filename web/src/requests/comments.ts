import { api } from './api.ts'

/** Comments in threads. No undo: a comment cannot be taken back. */

const bodyOf = (text: string, replyTo: string | null) => ({ text, ...(replyTo === null ? {} : { replyTo }) })

export const commentOnTask = (id: string, text: string, replyTo: string | null) =>
  api().post('/tasks/:id/comments', { params: { id }, body: bodyOf(text, replyTo) })

export const commentOnMission = (id: string, text: string, replyTo: string | null) =>
  api().post('/missions/:id/comments', { params: { id }, body: bodyOf(text, replyTo) })
