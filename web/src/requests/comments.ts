import { api } from './api.ts'

/** What is said in threads. No undo: what was said was said. */

const bodyOf = (text: string, replyTo: string | null) => ({ text, ...(replyTo === null ? {} : { replyTo }) })

export const commentOnTask = (id: string, text: string, replyTo: string | null) =>
  api().post('/tasks/:id/comments', { params: { id }, body: bodyOf(text, replyTo) })

export const commentOnMission = (id: string, text: string, replyTo: string | null) =>
  api().post('/missions/:id/comments', { params: { id }, body: bodyOf(text, replyTo) })
