import { countsAsActive } from '../../core/kinds/session/decide.ts'
import { foldDetails } from '../fold-changes.ts'
import type { Changes } from '../portable.ts'
import { score, writeClaim, writeEvent } from './codec.ts'
import { Commands } from './commands.ts'
import type { Keys } from './keys.ts'
import { afterChanges, type ResultHead } from './results.ts'
import type { Seen } from './seen.ts'
import { dependencyWrites, taskWrites } from './task-writes.ts'

const DAY_MS = 86_400_000
const REMEMBERED_MS = DAY_MS
/** A session that comes back sees what it lost. After this time, or after this many, older ones are dropped. */
const LOST_KEPT_MS = 30 * DAY_MS
const LOST_KEPT = 1_000

export const isNothing = (changes: Changes) =>
  changes.activeClaimsDelta === 0 &&
  [
    changes.tasks,
    changes.created,
    changes.dependencies,
    changes.claims,
    changes.results,
    changes.details,
    changes.kinds.session.written,
    changes.newReplies,
    changes.events,
  ].every(({ length }) => length === 0)

/** Tasks whose results change and were not read yet. */
export const resultsToRead = (changes: Changes, { results }: Seen) => [
  ...new Set(changes.results.map(({ taskId }) => taskId).filter((id) => !results.has(id))),
]

/** All changes as commands, for a workspace that has not changed since it was read. */
export function writesOf(
  keys: Keys,
  seen: Seen,
  results: ReadonlyMap<number, ResultHead[]>,
  changes: Changes,
): string[] {
  const commands = new Commands()
  planMeta(commands, keys, seen, changes)
  taskWrites(commands, keys, seen, changes)
  dependencyWrites(commands, keys, seen, changes)
  planClaims(commands, keys, seen, changes)
  planResults(commands, keys, results, changes)
  planDetails(commands, keys, changes)
  planSessions(commands, keys, seen, changes)
  for (const { key, bodyHash, reply } of changes.newReplies)
    commands.after(
      'SET',
      keys.storedReplies(key),
      JSON.stringify({ bodyHash, reply }),
      'PX',
      String(REMEMBERED_MS),
    )
  changes.events.forEach((event, i) => {
    commands.add('RPUSH', keys.events(seen.seq + 1 + i), writeEvent(event))
  })
  return commands.flat()
}

/** Set, not incremented: the version proves that they still are what was read. */
function planMeta(commands: Commands, keys: Keys, seen: Seen, changes: Changes): void {
  const { view } = seen
  const before = (name: string) => view.kinds.session.seen.get(name)?.record ?? null
  let activeSessions = view.kinds.session.counted
  for (const session of changes.kinds.session.written)
    activeSessions += Number(countsAsActive(session)) - Number(countsAsActive(before(session.name)))
  const fields = {
    version: seen.version + 1,
    seq: seen.seq + changes.events.length,
    lastId: changes.created.reduce((last, { record }) => Math.max(last, record.id), seen.lastId),
    activeClaims: view.activeClaims + changes.activeClaimsDelta,
    activeSessions,
  }
  for (const [field, value] of Object.entries(fields)) commands.add('HSET', keys.meta, field, String(value))
}

function planClaims(commands: Commands, keys: Keys, { view }: Seen, { claims }: Changes): void {
  const losers = new Set<string>()
  for (const claim of claims) {
    commands.add('RPUSH', keys.claims(claim.taskId), writeClaim(claim))
    if (claim.kind === 'opened' || (claim.state !== 'expired' && claim.state !== 'superseded')) continue
    const { uuid } = view.records.get(claim.taskId)!
    const lost = JSON.stringify([uuid, claim.generation, claim.reason])
    commands.add('ZADD', keys.lost(claim.session), score(claim.at), lost)
    losers.add(claim.session)
  }
  for (const session of losers) {
    commands.after('ZREMRANGEBYRANK', keys.lost(session), '0', String(-LOST_KEPT - 1))
    commands.after('PEXPIRE', keys.lost(session), String(LOST_KEPT_MS))
  }
}

function planResults(
  commands: Commands,
  keys: Keys,
  results: ReadonlyMap<number, ResultHead[]>,
  changes: Changes,
): void {
  const byTask = new Map<number, Changes['results']>()
  for (const change of changes.results)
    byTask.set(change.taskId, [...(byTask.get(change.taskId) ?? []), change])
  for (const [taskId, own] of byTask) {
    const { heads, data } = afterChanges(results.get(taskId) ?? [], own)
    commands.add('HSET', keys.results(taskId), 'list', JSON.stringify(heads))
    for (const [place, text] of data) commands.add('HSET', keys.results(taskId), `data:${place}`, text)
  }
}

function planDetails(commands: Commands, keys: Keys, changes: Changes): void {
  for (const [taskId, set] of foldDetails(changes))
    for (const [field, value] of Object.entries(set))
      commands.add('HSET', keys.changed(taskId), field, JSON.stringify(value))
}

function planSessions(commands: Commands, keys: Keys, { view }: Seen, { kinds }: Changes): void {
  const { written: sessions } = kinds.session
  for (const session of sessions) {
    const { name, startedAt, capacity, dueAt: due, lastSeenAt } = session
    const seen = view.kinds.session.seen.get(name)
    const before = seen?.record ?? null
    commands.set(keys.session(name), JSON.stringify(session))
    if (!before) commands.add('ZADD', keys.sessions, score(-startedAt), name)
    const wasWorker = before !== null && before.capacity !== null
    if (capacity !== null && !wasWorker) commands.add('ZADD', keys.workers, score(-startedAt), name)
    if (capacity === null && wasWorker) commands.add('ZREM', keys.workers, name)
    if (due !== null) commands.add('ZADD', keys.sessionsDue, score(due), name)
    else if (before && before.dueAt !== null) commands.add('ZREM', keys.sessionsDue, name)
    // The session sees what it lost up to now.
    if (seen && seen.lost.length > 0)
      commands.after('ZREMRANGEBYSCORE', keys.lost(name), '-inf', score(lastSeenAt))
  }
}
