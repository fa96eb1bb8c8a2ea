import type { DiscardedWork, Execution, RemovableWork } from '../../../door/execution.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { isHeld } from '../../../pure/states.ts'
import { commentFrom } from '../../task/acts/comment-from.ts'
import { command, requireRecord } from '../../task/acts/tasks.ts'
import type { TaskRecord } from '../../task/record.ts'
import type { DiscardAnswer } from '../../task/shapes/discard.ts'
import { hasLiveRun } from '../postgres/work-reads.ts'
import { runFolderOf } from '../shapes/folder.ts'

interface Asked {
  generation?: number | undefined
  comment?: string | undefined
}

const NOTHING: DiscardedWork = { generations: [], branches: [], folders: 0, elsewhere: [] }

/** A person does not want the work of a task: its folders and branches go, and no attempt begins with it. */
export async function discardWork(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  uuid: string,
  { generation, comment }: Asked,
): Promise<AnswerOf<typeof DiscardAnswer>> {
  const said = commentFrom(comment)
  const record = await requireRecord(kernel, caller, uuid)
  if (isHeld(record.state))
    throw new Refused('WRONG_STATE', 'An agent holds the task: cancel or pause it first.')
  if (await hasLiveRun(kernel.store.readers, caller.workspaceId, record.id))
    throw new Refused('WRONG_STATE', 'A run of the task is in progress: cancel it first.')
  const runs = (await kernel.store.runs.workOf(caller.workspaceId, record.id)).filter(
    (run) => runFolderOf(run.folder)?.worktree,
  )
  const wanted = runs.filter((run) => generation === undefined || run.generation === generation)
  if (wanted.length === 0) {
    if (generation === undefined) return { taskId: uuid, ...NOTHING }
    throw new Refused('NOT_FOUND', `No run of generation ${generation} has worked in a git worktree.`)
  }
  const remove = async (found: RemovableWork): Promise<void> => {
    if (isDone(record, found)) return
    const { version } = record
    await command(kernel, caller, uuid, { kind: 'removeWork', because: 'discarded', ...found, version }, said)
  }
  const work = {
    ...{ taskUuid: uuid, lastGeneration: record.generation, generation: generation ?? null, runs },
    accepted: record.state === 'completed' ? record.resultCommit : null,
  }
  return { taskId: uuid, ...(await execution.discard(work, remove)) }
}

/** It was discarded before: there is nothing to record. */
const isDone = ({ continuation }: TaskRecord, { generations, branches, folders }: RemovableWork) =>
  branches + folders === 0 && (continuation?.freshFrom ?? 1) > (generations.at(-1) ?? 0)
