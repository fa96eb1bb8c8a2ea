import type { Changes } from '../kernel/batch/requests.ts'
import type { StoredComment, Thread, UnreadComments } from '../kernel/store/comment-reads.ts'
import { hasReadItsPrompt } from '../kinds/run/states.ts'
import type { Workspace } from './workspace.ts'

/** Comments in the memory store. */

export function writeComments({ comments, details }: Workspace, changes: Changes): void {
  for (const { uuid, text, author, at, replyTo, taskId, missionId } of changes.comments) {
    const on = taskId === null ? 'mission' : 'task'
    const of = taskId ?? missionId!
    comments.push({
      ...{ id: comments.length + 1, uuid, on, of, text, author, at, replyTo: replyTo?.uuid ?? null },
    })
    const counted = taskId === null ? undefined : details.get(taskId)
    if (counted) details.set(of, { ...counted, commentCount: (counted.commentCount ?? 0) + 1 })
  }
}

const isIn =
  ({ on, id }: Thread) =>
  (comment: Workspace['comments'][number]) =>
    comment.on === on && comment.of === id

const shown = ({ of: _of, ...comment }: Workspace['comments'][number]): StoredComment => comment

export const listComments = ({ comments }: Workspace, thread: Thread, after: number, limit: number) =>
  comments
    .filter(isIn(thread))
    .filter(({ id }) => id > after)
    .slice(0, limit)
    .map(shown)

export const findComment = ({ comments }: Workspace, thread: Thread, uuid: string): number | null =>
  comments.filter(isIn(thread)).find((one) => one.uuid === uuid)?.id ?? null

export function unreadComments(
  { comments, runs }: Workspace,
  task: { id: number; missionId: number | null },
  limit: number,
): UnreadComments {
  // A simulation has many runs, and nobody comments there.
  if (comments.length === 0) return { comments: [], total: 0, upTo: { task: null, mission: null } }
  const seen = { task: 0, mission: 0 }
  for (const { taskId, status, promptedTaskComment, toldMissionComment } of runs.values()) {
    if (taskId !== task.id || !hasReadItsPrompt(status)) continue
    seen.task = Math.max(seen.task, promptedTaskComment ?? 0)
    seen.mission = Math.max(seen.mission, toldMissionComment ?? 0)
  }
  const unread = comments.filter(
    ({ on, of, id }) => of === (on === 'task' ? task.id : task.missionId) && id > seen[on],
  )
  const lastOn = (on: Thread['on']) => unread.findLast((one) => one.on === on)?.id ?? null
  return {
    comments: unread.slice(-limit).map(shown),
    total: unread.length,
    upTo: { task: lastOn('task'), mission: lastOn('mission') },
  }
}
