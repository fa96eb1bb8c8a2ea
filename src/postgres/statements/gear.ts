import type pg from 'pg'
import type { LastWrites } from './event-writer.ts'

/** How steps on one kind of thing are locked, read and written. */
export interface Gear<Reads, View, Changes> {
  /** Begins the transaction, locks and reads, and then reads the clock: one round trip. */
  lockAndRead(client: pg.PoolClient, workspaceId: number, reads: Reads): Promise<View>
  /** What is written with the commit; null: nothing was changed, also not by the read. */
  lastWrites(workspaceId: number, view: View, changes: Changes): ToCommit | null
  /** What to read on the next attempt after this error; null: it would fail again. */
  readsAfter(error: unknown, reads: Reads): Reads | null
}

interface ToCommit extends LastWrites {
  /** Takes the results of the writes, in their order. */
  written?(results: readonly pg.QueryArrayResult[]): void
}
