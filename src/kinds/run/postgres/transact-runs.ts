import { isTransient } from '../../../postgres/connection/unavailable.ts'
import type { Gear } from '../../../postgres/statements/gear.ts'
import type { RunsAsk, RunsChanges, RunsView } from '../rules/step.ts'
import { lockAndReadRuns } from './lock-and-read.ts'
import { writesOf } from './writes.ts'

/** Runs, wakeups and what agents keep between runs. Always committed: the read adds the runtime states of new agents. */
export const runsGear: Gear<RunsAsk, RunsView, RunsChanges> = {
  lockAndRead: lockAndReadRuns,
  lastWrites: (workspaceId, _, changes) => ({
    writes: writesOf(workspaceId, changes),
    events: changes.events,
  }),
  readsAfter: (error, reads) => (isTransient(error) || isKeyTaken(error) ? reads : null),
}

/** Another was first with this idempotency key: the next attempt finds its answer. */
const isKeyTaken = (error: unknown) =>
  (error as { constraint?: string }).constraint === 'idempotency_keys_pkey'
