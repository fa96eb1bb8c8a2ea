import { Refused } from '../pure/errors.ts'
import type { Kernel } from './kernel.ts'
import { type Store, StoreUnavailable } from './store/store.ts'

/** The batch size of an upkeep step. After a full batch, more is due. */
export const BATCH = 500

/** What an upkeep step is called with: by a coordinator under its term, or by a library queue with its own upkeep. */
export interface UpkeepContext<S extends Store = Store> {
  kernel: Kernel<S>
  term?: number | undefined
  /** Since when heartbeats could be received. */
  listeningSince?: number | undefined
  /** Limits the step to this workspace, on request. */
  only?: number | undefined
  /** Says that something is due now, of which no commit tells. */
  again?: (() => void) | undefined
}

/** The leadership or the database is lost, so every further step would fail as well. */
export const isEndOfPass = (error: unknown) =>
  error instanceof StoreUnavailable || (error instanceof Refused && error.code === 'NOT_LEADER')
