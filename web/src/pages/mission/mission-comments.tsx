import { whetherDone } from '../../parts/show-refusal.ts'
import { CommentForm } from '../../things/comments/comment-form.tsx'
import { CommentThread } from '../../things/comments/comment-thread.tsx'
import { commentOnMission } from '../../things/comments/thread.ts'

/** What people and agents said about the mission. The next agent that works on one of its tasks gets them. */
export function MissionComments({ id }: { id: string }) {
  return (
    <CommentThread
      emptyWords="No comments yet. Agents that start a task of this mission read what you write."
      form={(replyTo, onDone) => (
        <CommentForm
          about={id}
          comment={(text) => whetherDone(commentOnMission(id, text, replyTo?.id ?? null))}
          onDone={onDone}
          replyTo={replyTo}
        />
      )}
      id={id}
      of="missions"
    />
  )
}
