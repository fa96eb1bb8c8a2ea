import type { Ask, Changes, View } from '../core/batch.ts'
import type { TaskDetails } from '../core/commands.ts'
import type { StoredEvent } from '../core/events.ts'
import type { TaskRecord } from '../core/records.ts'
import type { ClaimEnd, ClaimState } from '../core/states.ts'

/**
 * The one door for change. A store locks what the ask names, reads its own clock after the locks, lets `decide`
 * judge, and writes all changes with their events in one transaction. It resolves after commit, never before.
 */
export interface Transactor {
  transact<T>(
    workspaceId: number,
    ask: Ask,
    decide: (view: View) => { answer: T; changes: Changes },
  ): Promise<T>
}

export interface StoredTask {
  record: TaskRecord
  details: TaskDetails
}

export interface StoredClaim {
  generation: number
  session: string
  agent: string
  state: ClaimState
  acquiredAt: number
  endedAt: number | null
  endReason: ClaimEnd | null
}

export interface StoredResult {
  generation: number
  epoch: number
  session: string
  agent: string | null
  accepted: boolean | null
  rejection: string | null
  ref: string
  hash: string
  data: unknown
  summary: string | null
  submittedAt: number
}

/** What can be read of a workspace without changing it. */
export interface Reader {
  task(workspaceId: number, taskId: number): Promise<StoredTask | null>
  /** The lineage of a task: every generation, oldest first. */
  claims(workspaceId: number, taskId: number): Promise<StoredClaim[]>
  /** Accepted and rejected, oldest first. */
  results(workspaceId: number, taskId: number): Promise<StoredResult[]>
  /** In the order of their seq, which is the order they were committed in. */
  events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]>
}

export type Store = Transactor & Reader

/** The store could not be asked, or it is unknown whether it wrote. Safe to ask again where the request is idempotent. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable'
}
