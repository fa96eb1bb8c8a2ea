import { runFolderOf } from '../../kinds/run/shapes/folder.ts'
import { Refused } from '../../pure/errors.ts'
import type { ExecutorContext } from '../context.ts'
import { keepWork, whyNotAccepted } from './keep-work.ts'

/** A result that an agent submits itself, with the token of its run: its work becomes a commit first. */

/** The commit of the work; null: the run does not work in a worktree. Refused where the work cannot be saved. */
export async function commitForResult(
  context: ExecutorContext,
  { workspaceId, runId }: { workspaceId: number; runId: string },
): Promise<string | null> {
  const working = context.working.get(runId)
  if (!working) {
    const run = await context.kernel.store.runs.find(workspaceId, runId)
    if (!runFolderOf(run?.folder)?.worktree) return null
    throw new Refused(
      'WORK_NOT_SAVED',
      'The work of this run is on another node: submit its result to BATON_URL, which is the node that runs it.',
    )
  }
  const kept = await keepWork(context, { ...working, isRunning: true })
  const problem = await whyNotAccepted(context, working, kept, working)
  if (problem)
    throw new Refused(
      problem.errorCode === 'work_incomplete' ? 'WORK_INCOMPLETE' : 'WORK_NOT_SAVED',
      problem.errorMessage!,
    )
  return kept.saved?.commit ?? null
}
