import type { TaskRecord } from '../kinds/task/record.ts'
import type { Change } from './batch/moved.ts'
import { BatchLoader } from './batch-loader.ts'
import { StoreUnavailable } from './store/store.ts'

/** What follows from changes of tasks, in transactions of its own: a reaction that fails must not undo finished work. */
export interface Reaction<K> {
  when: (change: Change) => boolean
  react: (kernel: K, workspaceId: number, tasks: readonly TaskRecord[]) => Promise<void>
  /** What is logged when it fails. */
  fault: string
  /**
   * One at a time in each workspace: tasks that change meanwhile are handled together afterwards. Such a reaction must handle
   * what its own requests change: it would wait for itself.
   */
  isBatched?: true
}

/** How a caller waits for reactions to its request. */
export interface Following {
  /** Is answered when everything that follows is done, too. By default the answer comes first. */
  waits?: true | undefined
  /** The `react` of the reaction that sends the request. It is not started again by it. */
  within?: unknown
}

interface Faulty {
  fault: (error: unknown, what: string) => void
}

export type Follow = (workspaceId: number, moved: readonly Change[], within?: unknown) => Promise<void>

/** Runs the reactions to changed tasks, one after the other. Never rejects. */
export function follower<K extends Faulty>(kernel: K, reactions: readonly Reaction<K>[]): Follow {
  const started = reactions.map((reaction) => ({ ...reaction, start: starting(kernel, reaction) }))
  return async (workspaceId, moved, within) => {
    for (const { when, react, start } of started) {
      const tasks = react === within ? [] : moved.filter(when).map(({ after }) => after)
      if (tasks.length > 0) await start(workspaceId, tasks)
    }
  }
}

type Start = (workspaceId: number, tasks: readonly TaskRecord[]) => Promise<unknown>

function starting<K extends Faulty>(kernel: K, { react, fault, isBatched }: Reaction<K>): Start {
  const start: Start = async (workspaceId, tasks) => {
    try {
      await react(kernel, workspaceId, tasks)
    } catch (error) {
      // The store is unreachable, or the task changed on every try: upkeep finds what was missed. No caller waits for an answer
      // here, so any other error must be logged.
      if (!(error instanceof StoreUnavailable)) kernel.fault(error, fault)
    }
  }
  if (!isBatched) return start
  const batches = new BatchLoader<TaskRecord, undefined>(async (...asked) => {
    await start(...asked)
    return []
  })
  return (...asked) => batches.ask(...asked)
}
