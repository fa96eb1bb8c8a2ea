import type { Purpose } from '../../kinds/task/record.ts'

/** What an agent asks the queue for. */

/** Which waiting tasks an agent may get: those reserved for it, and those for any agent with its capabilities. */
export interface QueueFilter {
  agent: string
  /** Sorted. */
  capabilities: readonly string[]
  /** Only from this project; 0 is "in no project". */
  projectId?: number | undefined
  /** Only from these tracks. */
  tracks?: readonly string[] | undefined
  /** Only what is reserved for the agent. */
  isReservedOnly?: boolean | undefined
  /** Only work of these types. What is reserved for the agent, and what is no work, may be of any. */
  taskTypes?: readonly string[] | undefined
  /** Only tasks with one of these purposes. Default: work. */
  purposes?: readonly Purpose[] | undefined
}

export const ONLY_WORK: readonly Purpose[] = ['work']

/** Most callers ask for anything: only the others need a name of their own. */
export function queryName({ capabilities, projectId, tracks, purposes, taskTypes }: QueueFilter): string {
  const isForAll = projectId === undefined && tracks === undefined && purposes === undefined
  if (isForAll && capabilities.length === 0 && taskTypes === undefined) return ANYTHING
  const types = taskTypes === undefined ? [] : [taskTypes]
  return JSON.stringify([capabilities, projectId ?? null, tracks ?? null, purposes ?? ONLY_WORK, ...types])
}
const ANYTHING = JSON.stringify([[], null, null, ONLY_WORK])
