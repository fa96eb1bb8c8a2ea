import type { Kind, KindShape } from '../../kinds/kind.ts'
import type { Effects, TaskRecord } from '../../kinds/task/record.ts'

/** The records of any kind that hold tasks. */
export interface Holders {
  kind: Pick<Kind<KindShape>, 'holderOf' | 'mayHoldBeforeItExists'>
  seen: (key: string) => { holding: number[] } | undefined
}

interface InBatch {
  /** Of all tasks that were read. */
  ids: () => Iterable<number>
  claims: Effects['claims']
  record: (id: number) => TaskRecord | undefined
}

/** The tasks a record holds now, in the order of their creation: those that were read, with the changes of this batch. */
export function heldTasks(
  { kind, seen }: Holders,
  key: string,
  { ids: read, claims, record }: InBatch,
): TaskRecord[] {
  const known = seen(key)?.holding ?? (kind.mayHoldBeforeItExists ? read() : [])
  const ids = new Set(known)
  for (const claim of claims) if (kind.holderOf(claim) === key) ids.add(claim.taskId)
  return Array.from(ids, (id) => record(id)!)
    .filter((task) => kind.holderOf(task) === key && task.claimState === 'active')
    .sort((a, b) => a.id - b.id)
}
