import * as api from '../core/api/changes.ts'
import { Refused } from '../core/errors.ts'
import type { ChangesView } from '../core/shapes/changes.ts'
import type { AnswerOf } from '../core/shapes/common.ts'
import { runFolderOf } from '../core/shapes/run-folder.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import { actsOf } from './acts.ts'
import { numberIn } from './asked.ts'
import { discardWork } from './discard.ts'
import type { ChangesAsked, Execution } from './execution.ts'
import { changesOfMission } from './missions/changes.ts'
import { requireRun } from './runs.ts'
import { requireRecord } from './tasks.ts'

/** What runs did to repositories, as far as the caller may see it. */

type View = AnswerOf<typeof ChangesView>
type Asked = Omit<ChangesAsked, 'submitted'>

async function changesOfRun(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  runId: string,
  asked: Asked,
): Promise<View> {
  const { id, taskId, generation, folder } = await requireRun(kernel, caller, runId)
  const changes = await execution.changesOf(folder, { ...asked, submitted: null })
  return shown(caller, { runId: id, taskId, generation, ...changes })
}

/** Of the newest run that worked in a worktree; preferably of one whose work was saved. */
async function changesOfTask(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  taskId: string,
  { generation, ...asked }: Asked & { generation: number | undefined },
): Promise<View> {
  const task = await requireRecord(kernel, caller, taskId)
  const runs = await kernel.store.runs.workOf(caller.workspaceId, task.id)
  const inWorktrees = runs.filter((run) => runFolderOf(run.folder)?.worktree)
  const wanted = inWorktrees.filter((run) => generation === undefined || run.generation === generation)
  const run = wanted.find(({ folder }) => runFolderOf(folder)?.saved) ?? wanted[0]
  if (!run)
    throw new Refused(
      'CHANGES_UNAVAILABLE',
      generation === undefined
        ? 'No run of the task has worked in a git worktree.'
        : `No run of generation ${generation} has worked in a git worktree.`,
    )
  const submitted = task.generation === run.generation ? (task.watch?.resultCommit ?? null) : null
  const changes = await execution.changesOf(run.folder, { ...asked, submitted })
  return shown(caller, { runId: run.id, taskId, generation: run.generation, ...changes })
}

/** Paths of the machine are for people who work on it: a caller that may choose the folders of agents knows them anyway. */
const shown = (caller: Caller, { folder, mergeCommand, ...changes }: View): View => {
  const isShown = caller.rights.has('configure_agents')
  return { ...changes, folder: isShown ? folder : null, mergeCommand: isShown ? mergeCommand : null }
}

interface Query {
  path?: string | null | undefined
  diff?: 'whole' | undefined
  since: ChangesAsked['since']
}

const askedIn = ({ path = null, diff, since }: Query) => ({
  ...{ path, since, isWhole: diff === 'whole' && path === null },
})

export const changeActs = actsOf(api)({
  readChanges: ({ kernel, execution }, { params, query, caller }) =>
    changesOfRun(kernel, execution, caller, params.id, askedIn(query)),
  readChangesOfTask: ({ kernel, execution }, { params, query, caller }) => {
    const asked = { ...askedIn(query), generation: numberIn(query.generation) }
    return changesOfTask(kernel, execution, caller, params.id, asked)
  },
  readChangesOfMission: (
    { kernel, execution },
    { params, query: { path = null, repository = null }, caller },
  ) => changesOfMission(kernel, execution, caller, params.id, { path, repository }),
  discardWork: ({ kernel, execution }, { params, body, caller }) =>
    discardWork(kernel, execution, caller, params.id, body),
})
