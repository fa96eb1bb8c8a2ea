import { refuse } from '../../../pure/errors.ts'
import { isHeld, isTerminal } from '../../../pure/states.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft } from '../record.ts'

type RemoveWork = Extract<TaskCommand, { kind: 'removeWork' }>

/**
 * Recorded before anything is removed: whatever happens then, no generation begins with work that may be gone, and a task that
 * somebody has claimed, judged or retried meanwhile keeps its work.
 */
export function removeWork(draft: TaskDraft, command: RemoveWork, { actor }: RuleContext): TaskReply {
  const { record } = draft
  const { because, generations, branches, folders, version } = command
  const { state, resultCommit, continuation } = record
  if (isHeld(state))
    return refuse('WRONG_STATE', 'An agent holds the task: cancel or pause it first.', { taskState: state })
  if (because === 'retention' && !isTerminal(state))
    return refuse('WRONG_STATE', 'The task has not ended.', { taskState: state })
  // Whether accepted work is elsewhere, too, only who reads the repository knows.
  const awaitsVerdict = !isTerminal(state) && record.resultHash !== null
  if (awaitsVerdict && resultCommit !== null && generations.includes(record.generation))
    return refuse('WRONG_STATE', 'The work awaits a verdict: reject the result first.', { taskState: state })
  if (version !== record.version)
    return refuse('CHANGED_SINCE', 'The task has changed since its work was looked at.', {
      taskState: state,
      currentVersion: record.version,
    })
  const freshFrom = Math.max(continuation?.freshFrom ?? 1, (generations.at(-1) ?? 0) + 1)
  draft.touch()
  record.continuation = { ...continuation, freshFrom }
  draft.note('task_work_removed', actor, { because, generations: [...generations], branches, folders })
  return { ok: true, reason: 'DONE', record }
}
