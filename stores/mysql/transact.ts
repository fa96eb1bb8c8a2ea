import { setTimeout as sleep } from 'node:timers/promises'
import { mayLetCallersProceed } from '../../src/kernel/batch/waiting-callers.ts'
import type { Changes, ReadSet, View } from '../../src/kernel/store/portable.ts'
import { type BatchStep, StoreUnavailable, type Transactor } from '../../src/kernel/store/store.ts'
import type { PortableKind } from '../../src/kinds/kind.ts'
import {
  asUnavailable,
  type Connection,
  isDuplicate,
  isLockTimeout,
  isRetryable,
  type Pool,
} from './connect.ts'
import type { TaskIds } from './ids.ts'
import { LockAndRead } from './lock-and-read.ts'
import type { Notices } from './notices.ts'
import type { Queues } from './queues.ts'
import { COMMIT, ROLLBACK } from './statements.ts'
import { writesOf } from './writes.ts'

/** Attempts before the caller gets an error. */
const TRIES = 8
const TRIES_WITH_LONG_WAITS = 2
const PAUSE_MS = 5

export interface Server {
  isMariadb: boolean
}

type Decide<T> = (view: View) => { answer: T; changes: Changes }

export class MysqlTransactor implements Transactor {
  readonly #pool: Pool
  readonly #server: Server
  readonly #ids: TaskIds
  readonly #queues: Queues
  readonly #notices: Notices

  constructor(pool: Pool, server: Server, ids: TaskIds, queues: Queues, notices: Notices) {
    this.#pool = pool
    this.#server = server
    this.#ids = ids
    this.#queues = queues
    this.#notices = notices
  }

  async transact<T>(workspaceId: number, { reads: readSet, decide }: BatchStep<T, PortableKind>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(workspaceId, readSet, decide)
      } catch (error) {
        if (!isRetryable(error)) throw asUnavailable(error)
        // The same duplicate key on every attempt is a bug of ours, not a race.
        if (tries >= TRIES && isDuplicate(error)) throw error
        if (tries >= (isLockTimeout(error) ? TRIES_WITH_LONG_WAITS : TRIES))
          throw new StoreUnavailable('Other transactions got there first on every attempt.', { cause: error })
        this.#queues.reload()
        await sleep(Math.random() * PAUSE_MS * tries)
      }
    }
  }

  async #once<T>(workspaceId: number, readSet: ReadSet, decide: Decide<T>): Promise<T> {
    const fresh = await this.#ids.fresh(readSet.newTasks)
    const outcome = await this.#pool.use(async (connection) => {
      try {
        const view = await new LockAndRead(connection, this.#server.isMariadb, workspaceId, readSet).view(
          fresh,
        )
        const { answer, changes } = decide(view)
        const lastSeq = await this.#commit(connection, workspaceId, view, changes)
        return { answer, changes, lastSeq }
      } catch (error) {
        // The connection was lost, perhaps during a commit: it is closed, and the outcome is unknown.
        if (error instanceof StoreUnavailable) throw error
        await connection.send([ROLLBACK])
        return { error }
      }
    })
    if ('error' in outcome) throw outcome.error
    const { events } = outcome.changes
    const what = { events: events.length, tasksWaiting: mayLetCallersProceed(outcome.changes) }
    if (what.events > 0) this.#notices.committed(workspaceId, what, outcome.lastSeq)
    return outcome.answer
  }

  /** Writes everything and resolves after commit, with the seq of the last event. */
  async #commit(connection: Connection, workspaceId: number, view: View, changes: Changes): Promise<number> {
    const { isMariadb } = this.#server
    const writes = await writesOf({ isMariadb, workspaceId, view, changes }, this.#queues)
    const results = await connection.send([...writes, COMMIT])
    return results.find(({ made }) => made > 0)?.made ?? 0
  }
}
