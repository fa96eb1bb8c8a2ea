import type pg from 'pg'
import type { RunsAsk, RunsChanges, RunsView } from '../../../core/runs/step.ts'
import { connectionFrom, isTransient } from '../connection/connect.ts'
import type { EventWriter } from '../kernel/event-writer.ts'
import { rollback } from '../kernel/statements.ts'
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
      return await once(pool, log, workspaceId, ask, decide)
    } catch (error) {
      if (!isTransient(error) || tries === TRIES) throw error
    }
  }
}

/** Two round trips: begin, lock and read; then write and commit. */
async function once<T>(
  pool: pg.Pool,
  log: EventWriter,
  workspaceId: number,
  ask: RunsAsk,
  decide: Decide<T>,
): Promise<T> {
  const client = await connectionFrom(pool)
  let broken = true
  try {
    const { answer, changes } = decide(await lockAndReadRuns(client, workspaceId, ask))
    await log.commit(client, workspaceId, { writes: writesOf(workspaceId, changes), events: changes.events })
    broken = false
    return answer
  } finally {
    // A connection with a transaction in an unknown state is not reused.
    if (broken)
      await client.query(rollback).then(
        () => (broken = false),
        () => undefined,
      )
    client.release(broken)
  }
}
