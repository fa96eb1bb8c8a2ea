import type pg from 'pg'
import { type Changes, mayLetCallersProceed, type ReadSet, type View } from '../../../core/batch/requests.ts'
import type { KindName } from '../../../core/kinds/kinds.ts'
import { countChanges } from '../../../core/task-counts.ts'
import { StoreUnavailable, type Transactor } from '../../store.ts'
import { isTransient } from '../connection/connect.ts'
import { questionsForHanded } from './details.ts'
import type { EventWriter } from './event-writer.ts'
import { unboundAgents } from './kinds/agent.ts'
import { ChangedMeanwhile } from './kinds/stored-kind.ts'
import { kindChecks } from './kinds/stored-kinds.ts'
import { LastNeeded, lockAndRead } from './lock-and-read.ts'
import { onConnection } from './on-connection.ts'
import { send } from './send.ts'
import * as sql from './statements.ts'
import { writesOf } from './writes.ts'

const TRIES = 5

export class PostgresTransactor implements Transactor<KindName> {
  readonly #pool: pg.Pool
  readonly #log: EventWriter
  readonly #last = new LastNeeded()

  constructor(pool: pg.Pool, log: EventWriter) {
    this.#pool = pool
    this.#log = log
  }

  async transact<T>(
    workspaceId: number,
    readSet: ReadSet,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T> {
    let asked = readSet
    for (let tries = 1; ; tries++) {
      try {
        return await this.#once(workspaceId, asked, decide)
      } catch (error) {
        const toSettle = missionsToSettle(error)
        if (toSettle) asked = { ...asked, missions: [...asked.missions, ...toSettle] }
        if (toSettle && tries < TRIES) continue
        if (!(isTransient(error) || lostARace(error) || error instanceof ChangedMeanwhile)) throw error
        if (tries === TRIES)
          throw new StoreUnavailable('Other transactions got there first on every attempt.', { cause: error })
      }
    }
  }

  /** Two round trips: begin, lock and read; then write and commit. Each is sent as a whole before its answers are read. */
  async #once<T>(
    workspaceId: number,
    readSet: ReadSet,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T> {
    return onConnection(this.#pool, async (client) => {
      const view = await lockAndRead(client, workspaceId, readSet, this.#last)
      const { answer, changes } = decide(view)
      const details = questionsForHanded(workspaceId, changes.handedOut)
      const writes = writesOf(workspaceId, view, changes, details.statements)
      const checks = kindChecks(workspaceId, view, changes)
      const { events, activeClaimsDelta } = changes
      const created = changes.created.map(({ record }) => record)
      if (writes.length + events.length + checks.length === 0) await send(client, [[sql.rollback, []]])
      else {
        const results = await this.#log.commit(client, workspaceId, {
          ...{ writes, events, checks },
          claims: { delta: activeClaimsDelta, most: view.limits.maxConcurrentClaims },
          counts: countChanges(changes.tasks, created, (id) => view.records.get(id)!),
          unbound: unboundAgents(view, changes),
          tasksWaiting: mayLetCallersProceed(changes),
        })
        const asked = writes.indexOf(details.statements[0]!)
        details.give(results.slice(asked, asked + details.statements.length).map(({ rows }) => rows))
      }
      return answer
    })
  }
}

/** Missions that end, or open again, with this batch: it is decided once more, with their locks. */
function missionsToSettle(error: unknown): number[] | null {
  const { code, detail } = error as { code?: string; detail?: string }
  return code === 'BT002' ? detail!.split(',').map(Number) : null
}

const FIRST_COME = new Set([
  'idempotency_keys_pkey',
  'tasks_key',
  'sessions_pkey',
  'agents_workspace_id_slug_key',
])

/** Unique violations that mean: another transaction was first, so read again. */
function lostARace(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === 'BT001' || (code === '23505' && FIRST_COME.has(constraint ?? ''))
}
