import type { Changes, ReadSet, View } from '../../kernel/batch/requests.ts'
import { mayLetCallersProceed } from '../../kernel/batch/waiting-callers.ts'
import { unboundAgents } from '../../kinds/agent/postgres/write.ts'
import { projectCountWrites } from '../../kinds/task/postgres/counters.ts'
import { statementsForGranted } from '../../kinds/task/postgres/details.ts'
import { countChanges, projectChanges } from '../../kinds/task/rules/counts.ts'
import { isTransient } from '../../postgres/connection/unavailable.ts'
import type { Gear } from '../../postgres/statements/gear.ts'
import { ChangedMeanwhile } from '../../postgres/statements/stored-kind.ts'
import { FIRST_COME, kindChecks } from '../stored-kinds.ts'
import { LastNeeded, lockAndRead } from './lock-and-read.ts'
import { writesOf } from './writes.ts'

/** Batches of requests on tasks and the kinds beside them. */
export function batchGear(): Gear<ReadSet, View, Changes> {
  const last = new LastNeeded()
  return {
    lockAndRead: (client, workspaceId, reads) => lockAndRead(client, workspaceId, reads, last),
    lastWrites(workspaceId, view, changes) {
      const details = statementsForGranted(workspaceId, changes.grantedTasks)
      const writes = writesOf(workspaceId, view, changes, details.statements)
      const { events, activeClaimsDelta } = changes
      const created = changes.created.map(({ record }) => record)
      const before = (id: number) => view.records.get(id)!
      const counted = projectChanges(changes.tasks, created, before)
      const checks = [...kindChecks(workspaceId, view, changes), ...projectCountWrites(workspaceId, counted)]
      if (writes.length + events.length + checks.length === 0) return null
      return {
        ...{ writes, events, checks },
        claims: { delta: activeClaimsDelta, most: view.limits.maxConcurrentClaims },
        counts: countChanges(changes.tasks, created, before),
        unbound: unboundAgents(view, changes),
        tasksWaiting: mayLetCallersProceed(changes),
        written(results) {
          const asked = writes.indexOf(details.statements[0]!)
          details.give(results.slice(asked, asked + details.statements.length).map(({ rows }) => rows))
        },
      }
    },
    readsAfter(error, reads) {
      const toSettle = missionsToSettle(error)
      if (toSettle) return { ...reads, missions: [...reads.missions, ...toSettle] }
      return isTransient(error) || lostARace(error) || error instanceof ChangedMeanwhile ? reads : null
    },
  }
}

/** Missions that end, or open again, with this batch: it is decided once more, with their locks. */
function missionsToSettle(error: unknown): number[] | null {
  const { code, detail } = error as { code?: string; detail?: string }
  return code === 'BT002' ? detail!.split(',').map(Number) : null
}

const UNIQUE = new Set(['idempotency_keys_pkey', 'tasks_key', ...FIRST_COME])

/** Unique violations that mean: another transaction was first, so read again. */
function lostARace(error: unknown): boolean {
  const { code, constraint } = error as { code?: string; constraint?: string }
  return code === 'BT001' || (code === '23505' && UNIQUE.has(constraint ?? ''))
}
