import type { RunKernel } from '../door/server-kernel.ts'
import type { UnreadComments } from '../kernel/store/comment-reads.ts'
import { commentsForPrompt, MOST_COMMENTS } from '../kinds/run/prompts/comments.ts'
import { actorIn } from '../pure/actors.ts'
import type { Held } from './holding.ts'

/** What was said about the task of a run, and about its mission, and is not read yet. */

export interface ToldComments {
  /** For the prompt; null: nothing. */
  comments: unknown
  /** Recorded when the run begins: they are read if it succeeds. If it does not, the next prompt contains them again. */
  upTo: UnreadComments['upTo']
}

const NOTHING_SAID: ToldComments = { comments: null, upTo: { task: null, mission: null } }

export async function unreadComments(
  kernel: RunKernel,
  workspaceId: number,
  held: Held | null,
): Promise<ToldComments> {
  if (!held) return NOTHING_SAID
  const task = { id: held.taskId, missionId: held.missionId ?? null }
  const { comments, total, upTo } = await kernel.store.comments.unread(workspaceId, task, MOST_COMMENTS)
  if (total === 0) return NOTHING_SAID
  const authors = comments.map(({ author }) => author)
  const nameOf = await kernel.actorNames.of(workspaceId, authors)
  const said = comments.map(({ author, at, on, text }) => ({
    by: actorIn(author, nameOf(author)).name ?? author,
    at: new Date(at).toISOString(),
    on,
    text,
  }))
  return { comments: commentsForPrompt(said, total, await pathsOf(kernel, workspaceId, held, upTo)), upTo }
}

/** Where all of them can be read. */
async function pathsOf(
  kernel: RunKernel,
  workspaceId: number,
  { uuid, missionId }: Held,
  upTo: UnreadComments['upTo'],
): Promise<string[]> {
  const mission =
    upTo.mission === null || missionId == null
      ? null
      : await kernel.store.missions.find(workspaceId, missionId)
  return [
    ...(upTo.task === null ? [] : [`/api/v1/tasks/${uuid}/comments`]),
    ...(mission ? [`/api/v1/missions/${mission.uuid}/comments`] : []),
  ]
}
