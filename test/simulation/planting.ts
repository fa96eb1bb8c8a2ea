import type { View } from '../../src/kernel/batch/requests.ts'
import type { TaskCommand } from '../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { PlantedBug } from './planted-bug.ts'

/** The view with some tasks looking different from what they are. */
export function withRecords(view: View, change: (record: TaskRecord) => Partial<TaskRecord> | null): View {
  const records = new Map(view.records)
  for (const [id, record] of records) {
    const other = change(record)
    if (other) records.set(id, { ...record, ...other })
  }
  return { ...view, records }
}

export type Command<K extends TaskCommand['kind']> = Extract<TaskCommand, { kind: K }>

/** The request with its command changed, when it is of this kind and its task exists. */
export function onCommand<K extends TaskCommand['kind']>(
  kind: K,
  change: (command: Command<K>, record: TaskRecord) => TaskCommand,
): NonNullable<PlantedBug['request']> {
  return (request, view) => {
    if (request.on !== 'task' || request.command.kind !== kind) return request
    const record = view.records.get(request.taskId)
    return record ? { ...request, command: change(request.command as Command<K>, record) } : request
  }
}
