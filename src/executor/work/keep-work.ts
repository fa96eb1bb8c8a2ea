import type { Ending } from '../../kinds/run/rules/ending.ts'
import type { RunFolder } from '../../kinds/run/shapes/folder.ts'
import type { ExecutorContext } from '../context.ts'
import { WorkNotSaved } from '../folders/found-work.ts'
import { FolderRefused } from '../folders/refused.ts'
import type { WholeWork, WorkToKeep } from './work-to-keep.ts'

/** What a run leaves in its worktree becomes a commit, before anything happens to its task. */

/** The fields of the folder that say what became of the work. */
export type KeptWork = Pick<RunFolder, 'saved' | 'notSaved' | 'work'>

const NOTHING_TO_KEEP: KeptWork = {}

export async function keepWork(context: ExecutorContext, work: WorkToKeep): Promise<KeptWork> {
  const { held, folder, agent, secrets, runId, isRunning } = work
  if (!folder?.worktree || held?.purpose !== 'work') return NOTHING_TO_KEEP
  const { worktree, continues } = folder
  try {
    const { title, resultCommit } = await standingOf(context, work.workspaceId, held)
    const saved = await context.folders.save(worktree, {
      author: { name: agent.name, email: `${agent.slug}@baton.localhost` },
      message: `${title}\n\nTask ${held.uuid}, generation ${held.generation}, run ${runId}`,
      ...{ secrets: await secrets.current(), resultCommit, isRunning },
    })
    const start = continues?.commit ?? worktree.baseCommit
    const figures = await context.folders.record(worktree, start, saved)
    const { commit, committedFiles, leftOut, leftOutCount, unfinished } = saved
    return {
      saved: { commit, committedFiles, leftOut, leftOutCount, unfinished },
      work: figures && { whole: figures.committed, attempt: figures.attempt },
    }
  } catch (error) {
    if (!(error instanceof WorkNotSaved || error instanceof FolderRefused))
      context.log.error({ err: error, runId }, 'the work of a run could not be saved')
    return { saved: null, notSaved: error instanceof Error ? error.message : String(error) }
  }
}

/** The title of the task, and the commit of the result that this generation has submitted, if it has. */
async function standingOf(
  { kernel }: ExecutorContext,
  workspaceId: number,
  { taskId, generation }: NonNullable<WorkToKeep['held']>,
) {
  const [found] = await kernel.store.tasksById(workspaceId, [taskId])
  const { generation: now, resultHash, resultCommit = null } = found?.record ?? {}
  const isSubmitted = now === generation && resultHash != null
  return {
    title: found?.details.title ?? 'Work',
    resultCommit: isSubmitted ? resultCommit : null,
  }
}

/** Why the result is not accepted, as the end of its run; null: it may be. */
export async function whyNotAccepted(
  { folders }: ExecutorContext,
  { folder, held }: Pick<WorkToKeep, 'folder' | 'held'>,
  { saved, notSaved }: KeptWork,
  { upstream }: WholeWork,
): Promise<Ending | null> {
  if (!folder?.worktree || held?.purpose !== 'work') return null
  if (!saved)
    return failed('work_not_saved', `The work could not be saved: ${notSaved ?? 'the folder is gone'}`)
  if (saved.unfinished)
    return failed(
      'work_incomplete',
      `The work has an unfinished ${saved.unfinished.kind.replace('_', '-')}: finish it, or undo it.`,
    )
  const { commit } = saved
  const conflicts = folder.conflicts ?? []
  const problems = await folders.whyNotWhole(folder.worktree, { commit, upstream, conflicts })
  return problems.length === 0 ? null : failed('work_incomplete', problems.join(' '))
}

const failed = (errorCode: 'work_not_saved' | 'work_incomplete', errorMessage: string): Ending => ({
  status: 'failed',
  errorCode,
  errorMessage,
})
