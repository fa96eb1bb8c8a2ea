import type { TaskRecord } from '../../kinds/task/record.ts'
import type { TaskGroups } from '../../kinds/task/rules/groups.ts'
import { groupsOf, type StoredWatch, watchOf } from './watch-column.ts'

/** A task with the fields as they are stored: some have other names than in a record, and its groups are one. */
export type TaskAsStored = Omit<TaskRecord, keyof TaskGroups> & { readonly watch: StoredWatch | null }

/** For tasks in stored JSON. Rows have codecs of their own, made from record-fields.ts. */
export function taskAsStored(record: TaskRecord): TaskAsStored {
  const { timers, continuation, modelUse, agentChoice, holder, attention, children, resultCommit, ...rest } =
    record
  return { ...rest, watch: watchOf(record) }
}

export function recordOf({ watch, ...rest }: TaskAsStored): TaskRecord {
  return { ...rest, ...groupsOf(watch) }
}
