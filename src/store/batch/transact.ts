import type pg from 'pg'
import type { OnWritten, Written } from '../../door/server-store.ts'
import { type ServerStep, StoreUnavailable } from '../../kernel/store/store.ts'
import { runsGear } from '../../kinds/run/postgres/transact-runs.ts'
import { newWorkspaceGear } from '../../kinds/workspace/postgres.ts'
import type { EventWriter } from '../../postgres/statements/event-writer.ts'
import type { Gear } from '../../postgres/statements/gear.ts'
import { onConnection } from '../../postgres/statements/on-connection.ts'
import { send } from '../../postgres/statements/send.ts'
import * as sql from '../../postgres/statements/statements.ts'
import { batchGear } from './batch-gear.ts'
import { recountGear } from './recount-gear.ts'

/** Attempts of a transaction that others got ahead of. */
const TRIES = 5

type AnyGear = Gear<unknown, unknown, unknown>

/** Every step is one transaction: lock, read, the clock, decide, write with the events. What Postgres aborts is tried again. */
export class PostgresTransactor {
  readonly #pool: pg.Pool
  readonly #log: EventWriter
  readonly #written: OnWritten
  /** By what a step is on. A new kind of step is one more entry. */
  readonly #gears: Record<ServerStep<unknown>['on'], unknown> = {
    batch: batchGear(),
    runs: runsGear,
    counters: recountGear,
    newWorkspace: newWorkspaceGear,
  }

  constructor(pool: pg.Pool, log: EventWriter, written: OnWritten) {
    this.#pool = pool
    this.#log = log
    this.#written = written
  }

  async transact<T>(workspaceId: number, { on, reads, decide }: ServerStep<T>): Promise<T> {
    // A step and its gear are of the same kind, which the type of the map cannot say.
    const gear = this.#gears[on] as AnyGear
    let asked: unknown = reads
    for (let tries = 1; ; tries++) {
      try {
        const { answer, written } = await this.#once(gear, workspaceId, asked, decide as Decide<T>)
        if (written && (on === 'batch' || on === 'runs'))
          this.#written(workspaceId, { on, ...written } as Written)
        return answer
      } catch (error) {
        asked = gear.readsAfter(error, asked)
        if (asked === null) throw error
        if (tries === TRIES)
          throw new StoreUnavailable('Other transactions got there first on every attempt.', { cause: error })
      }
    }
  }

  /** Two round trips: begin, lock and read; then write and commit. Each is sent as a whole before its answers are read. */
  #once<T>(gear: AnyGear, workspaceId: number, reads: unknown, decide: Decide<T>) {
    return onConnection(this.#pool, async (client) => {
      const view = await gear.lockAndRead(client, workspaceId, reads)
      const { answer, changes } = decide(view)
      const last = gear.lastWrites(workspaceId, view, changes)
      if (last) {
        const results = await this.#log.commit(client, workspaceId, last)
        last.written?.(results)
      } else await send(client, [[sql.rollback, []]])
      return { answer, written: last && { view, changes } }
    })
  }
}

type Decide<T> = (view: unknown) => { answer: T; changes: unknown }
