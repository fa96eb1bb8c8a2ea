import type { Changes, ReadSet, View } from '../../kernel/batch/requests.ts'
import type { KindName, KindTypes, KindView } from '../../kinds/kind.ts'
import type { TaskRecord } from '../../kinds/task/record.ts'
import type { Pipeline } from './pipeline.ts'
import type { Bound } from './statements.ts'

/** What any kind of thing has in Postgres. */
export interface Stored {
  /** Its tables, and what the server may do with their rows. */
  tables: Readonly<Record<string, string>>
  /** The earliest times that its upkeep acts on, each as a query that its step's index answers. */
  due?: readonly string[]
}

/** How Postgres holds one kind of record. */
export interface StoredKind<K extends KindName> extends Stored {
  /** Of a kind that is the rows of one table: which, its key in its workspace, and what the server may do with them. */
  plain?: { readonly table: string; readonly key: string; readonly may: string }
  /** Unique constraints whose violation means that another transaction was first: the batch is read again. */
  firstCome?: readonly string[]
  /**
   * Locks and reads the records that are to change, and those that claim and are limited in what they may claim. The
   * function gives what was read, once it was; null: there is nothing to read.
   */
  ask(
    pipeline: Pipeline,
    readSet: ReadSet,
  ): ((records: ReadonlyMap<number, TaskRecord>) => ReadKind<K>) | null
  /** Rows that tasks refer to: written before them. */
  writeFirst?(workspaceId: number, view: View, changes: Changes): Bound[]
  write(workspaceId: number, view: View, changes: Changes): Bound[]
  /** Checks under the lock of the counter what could not be seen at decision time. */
  checks?(workspaceId: number, view: View, changes: Changes): Bound[]
}

/** Those that claim and are limited, and how many tasks they hold. */
export type Limiting = Pick<View, 'workers' | 'claimingAgents'>

interface ReadKind<K extends KindName> {
  view: KindView<KindTypes[K]>
  limiting?: Partial<Limiting>
}

/** A record holds more than what was locked: it claimed between the two. Read again. */
export class ChangedMeanwhile extends Error {
  override name = 'ChangedMeanwhile'
}
