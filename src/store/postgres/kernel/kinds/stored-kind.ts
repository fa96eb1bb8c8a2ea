import type { Changes, ReadSet, View } from '../../../../core/batch/requests.ts'
import type { KindView } from '../../../../core/kinds/kind.ts'
import type { KindName, KindTypes } from '../../../../core/kinds/kinds.ts'
import type { TaskRecord } from '../../../../core/records.ts'
import type { Questions } from '../questions.ts'
import type { Bound } from '../statements.ts'

/** How Postgres holds one kind of record. */
export interface StoredKind<K extends KindName> {
  /**
   * Locks and reads the records that are to change, and those that claim and are limited in what they may claim. The
   * function gives what was read, once it was.
   */
  ask(questions: Questions, readSet: ReadSet): (records: ReadonlyMap<number, TaskRecord>) => ReadKind<K>
  /** Rows that tasks refer to: written before them. */
  writeFirst?(workspaceId: number, view: View, changes: Changes): Bound[]
  write(workspaceId: number, view: View, changes: Changes): Bound[]
  /** Checks under the lock of the counter what could not be seen at decision time. */
  checks(workspaceId: number, view: View, changes: Changes): Bound[]
}

interface ReadKind<K extends KindName> {
  view: KindView<KindTypes[K]>
  /** Those that claim and are limited, and how many tasks they hold. */
  claiming: ReadonlyMap<string, { record: KindTypes[K]['record']; held: number }>
}

/** A record holds more than what was locked: it claimed between the two. Read again. */
export class ChangedMeanwhile extends Error {
  override name = 'ChangedMeanwhile'
}
