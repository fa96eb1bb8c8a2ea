import type pg from 'pg'
import type { RunsAsk, RunsChanges, RunsView } from '../../../core/runs/step.ts'
import { isTransient } from '../connection/connect.ts'
import type { EventWriter } from '../kernel/event-writer.ts'
import { onConnection } from '../kernel/on-connection.ts'
import { lockAndReadRuns } from './lock-and-read.ts'
import { writesOf } from './writes.ts'

/** Attempts of a change that Postgres aborts because of a conflict with another. */
const TRIES = 5

type Decide<T> = (view: RunsView) => { answer: T; changes: RunsChanges }

/** Runs and wakeups are changed here and nowhere else; what runs append on their way is in appends.ts. */
export async function transactRuns<T>(
  pool: pg.Pool,
  log: EventWriter,
  workspaceId: number,
  ask: RunsAsk,
  decide: Decide<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      // Two round trips: begin, lock and read; then write and commit.
      return await onConnection(pool, async (client) => {
        const { answer, changes } = decide(await lockAndReadRuns(client, workspaceId, ask))
        const { events } = changes
        await log.commit(client, workspaceId, { writes: writesOf(workspaceId, changes), events })
        return answer
      })
    } catch (error) {
      if (!isTransient(error) || tries === TRIES) throw error
    }
  }
}
