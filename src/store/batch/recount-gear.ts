import { missionCounterRows } from '../../kinds/mission/postgres/counters.ts'
import {
  type CounterRows,
  claimCounter,
  projectCounters,
  taskCounters,
} from '../../kinds/task/postgres/counters.ts'
import type { Counters, RecountAsk, RecountChanges, RecountView } from '../../kinds/task/rules/recount.ts'
import { usedBySource, usedForMission } from '../../kinds/usage/postgres/compare.ts'
import { isTransient } from '../../postgres/connection/unavailable.ts'
import type { Gear } from '../../postgres/statements/gear.ts'
import { arrayLiteral } from '../../postgres/statements/rows.ts'
import { send } from '../../postgres/statements/send.ts'
import { type Bound, begin, clock, keepTerms, nameWorkspace } from '../../postgres/statements/statements.ts'

/** Counters and what they count. It is counted after their lock, in a statement of its own: so nothing is missed. */
export const recountGear: Gear<RecountAsk, RecountView & { of: RecountAsk['of'] }, RecountChanges> = {
  async lockAndRead(client, workspaceId, { of, terms }) {
    const { names, lock, count } = rowsOf(of)
    const key = [workspaceId, ...keyOf(of)]
    const statements: Bound[] = [
      [begin, []],
      [nameWorkspace, [String(workspaceId)]],
      [keepTerms, [arrayLiteral(terms)]],
      [lock, key],
      [count, key],
      [clock, []],
    ]
    const [, , kept, stored, counted, time] = (await send(client, statements)).map(({ rows }) => rows)
    const now = time![0]![0] as number
    const named = (row: readonly unknown[]): Counters =>
      Object.fromEntries(names.map((name, i) => [name, row[i] as number | string]))
    return {
      of,
      now,
      stored: stored![0] ? named(stored![0]) : null,
      counted: named(counted![0]!),
      terms: new Set(kept!.flatMap(([term, until]) => ((until as number) > now ? [term as number] : []))),
    }
  },
  lastWrites(workspaceId, { of }, { set, events }) {
    if (set === null) return null
    const { names, set: update } = rowsOf(of)
    const values = names.map((name) => set[name])
    return { writes: [[update, [workspaceId, ...keyOf(of), ...values]]], events }
  },
  readsAfter: (error, reads) => (isTransient(error) ? reads : null),
}

function rowsOf(of: RecountAsk['of']): CounterRows {
  if (of === 'claims') return claimCounter
  if (of === 'tasks') return taskCounters
  if ('projectId' in of) return projectCounters
  if ('missionId' in of) return missionCounterRows
  return 'usedFor' in of ? usedForMission : usedBySource
}

function keyOf(of: RecountAsk['of']): unknown[] {
  if (typeof of === 'string') return []
  if ('projectId' in of) return [of.projectId]
  if ('missionId' in of) return [of.missionId]
  return 'usedFor' in of ? [of.usedFor] : [of.usedBy.sourceId, of.usedBy.generation]
}
