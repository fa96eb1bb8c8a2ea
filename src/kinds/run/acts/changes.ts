import { numberIn } from '../../../door/asked.ts'
import { actsOf } from '../../../door/door.ts'
import type { ChangesAsked } from '../../../door/execution.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { changesOfMission } from '../../mission/acts/changes.ts'
import { requireRecord } from '../../task/acts/tasks.ts'
import * as api from '../api/changes.ts'
import type { ChangesView } from '../shapes/changes.ts'
import { runFolderOf } from '../shapes/folder.ts'
import { discardWork } from './discard.ts'
import { requireRun } from './runs.ts'

/** What runs did to repositories, as far as the caller may see it. */

type View = AnswerOf<typeof ChangesView>

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
  readChanges: async ({ kernel, execution }, { params, query, caller }) => {
    const { id, taskUuid, generation, folder } = await requireRun(kernel, caller, params.id)
    const changes = await execution.changesOf(folder, { ...askedIn(query), submitted: null })
    return shown(caller, { runId: id, taskId: taskUuid, generation, ...changes })
  },
  /** Of the newest run that worked in a worktree; preferably of one whose work was saved. */
  readChangesOfTask: async ({ kernel, execution }, { params: { id: taskId }, query, caller }) => {
    const generation = numberIn(query.generation)
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
    const submitted = task.generation === run.generation ? task.resultCommit : null
    const changes = await execution.changesOf(run.folder, { ...askedIn(query), submitted })
    return shown(caller, { runId: run.id, taskId, generation: run.generation, ...changes })
  },
  readChangesOfMission: (
    { kernel, execution },
    { params, query: { path = null, repository = null }, caller },
  ) => changesOfMission(kernel, execution, caller, params.id, { path, repository }),
  discardWork: ({ kernel, execution }, { params, body, caller }) =>
    discardWork(kernel, execution, caller, params.id, body),
})
