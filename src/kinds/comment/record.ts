import { type EventDraft, missionEvent } from '../events.ts'

/** What people and agents say about a task or a mission. A comment never changes, and changes nothing but its thread. */

export const LONGEST_COMMENT = 10_000
/** Of the text, in the event: logs and streams stay small. */
const LONGEST_PREVIEW = 280

/** A comment, as it is written. */
export interface NewComment {
  readonly uuid: string
  readonly text: string
  /** An earlier comment of the same thread. */
  readonly replyTo: { readonly id: number; readonly uuid: string } | null
}

/** It is in the thread of a task or of a mission: exactly one of the two is set. A type alias: it is part of a stored reply. */
export type CommentAdded = NewComment & {
  readonly taskId: number | null
  readonly missionId: number | null
  /** The actor that wrote it. */
  readonly author: string
  readonly at: number
}

interface Said {
  comment: CommentAdded
  event: EventDraft
}

interface Saying {
  now: number
  actor: string
}

/** What its event says of the task. */
interface CommentedTask {
  id: number
  missionId: number | null
  generation: number
}

export function commentOnTask(task: CommentedTask, comment: NewComment, { now, actor }: Saying): Said {
  const { id: taskId, missionId, generation } = task
  return {
    comment: { ...comment, taskId, missionId: null, author: actor, at: now },
    event: {
      ...{ type: 'comment_added', taskId, missionId: missionId ?? undefined, generation },
      ...{ from: null, to: null, actor, at: now },
      payload: toldOf(comment, actor),
    },
  }
}

export const saidOnMission = (
  mission: { id: number; uuid: string },
  comment: NewComment,
  saying: Saying,
): Said => ({
  comment: { ...comment, taskId: null, missionId: mission.id, author: saying.actor, at: saying.now },
  event: missionEvent('comment_added', mission, toldOf(comment, saying.actor), saying),
})

const toldOf = ({ uuid, text, replyTo }: NewComment, author: string) => ({
  commentId: uuid,
  author,
  preview: text.slice(0, LONGEST_PREVIEW).toWellFormed(),
  isWhole: text.length <= LONGEST_PREVIEW,
  replyTo: replyTo?.uuid ?? null,
})
