import type { Changes } from '../../src/kernel/store/portable.ts'
import { countsAsActive } from '../../src/kinds/session/rules.ts'
import { score, writeClaim, writeEvent } from './codec.ts'
import { Commands } from './commands.ts'
import { askForDetails, type Give } from './handed-out.ts'
import type { Keys } from './keys.ts'
import { writeResult } from './results.ts'
import type { Seen } from './seen.ts'
import { dependencyWrites, taskWrites } from './task-writes.ts'
import type { TasksAfter } from './tasks-after.ts'

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
    changes.removed,
    changes.recounted,
    changes.claims,
    changes.results,
    changes.details,
    changes.kinds.session.written,
    changes.newReplies,
    changes.events,
  ].every(({ length }) => length === 0)

/** Tasks whose results change and which have some already. */
export const resultsToRead = (changes: Changes, { marks }: Seen) => [
  ...new Set(changes.results.map(({ taskId }) => taskId).filter((id) => (marks.get(id)?.results ?? 0) > 0)),
]

/** All changes as commands, for a workspace that has not changed since it was read. */
export function writesOf(
  keys: Keys,
  seen: Seen,
  after: TasksAfter,
  changes: Changes,
  transaction: string,
): { commands: string[]; give: Give } {
  const commands = new Commands()
  planMeta(commands, keys, seen, changes, transaction)
  taskWrites(commands, keys, seen, after, changes)
  dependencyWrites(commands, keys, changes)
  planClaims(commands, keys, seen, after, changes)
  planResults(commands, keys, after)
  planDetails(commands, keys, after)
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
  const give = askForDetails(commands, keys, after, changes.grantedTasks)
  return { commands: commands.flat(), give }
}

/** The numbers of the workspace after these changes. */
export function metaAfter(seen: Seen, changes: Changes) {
  const { view } = seen
  const before = (name: string) => view.kinds.session.seen.get(name)?.record ?? null
  let activeSessions = view.kinds.session.counted
  for (const session of changes.kinds.session.written)
    activeSessions += Number(countsAsActive(session)) - Number(countsAsActive(before(session.name)))
  return {
    version: seen.version + 1,
    seq: seen.seq + changes.events.length,
    lastId: changes.created.reduce((last, { record }) => Math.max(last, record.id), seen.lastId),
    activeClaims: view.activeClaims + changes.activeClaimsDelta,
    activeSessions,
  }
}

/** Set, not incremented: the head proves that they still are what was read. */
function planMeta(commands: Commands, keys: Keys, seen: Seen, changes: Changes, transaction: string): void {
  commands.add('HSET', keys.meta, 'head', transaction)
  for (const [field, value] of Object.entries(metaAfter(seen, changes)))
    commands.add('HSET', keys.meta, field, String(value))
}

function planClaims(
  commands: Commands,
  keys: Keys,
  { view }: Seen,
  { past }: TasksAfter,
  { claims }: Changes,
): void {
  for (const { taskId, claim } of past) commands.add('RPUSH', keys.claims(taskId), writeClaim(claim))
  const losers = new Set<string>()
  for (const claim of claims) {
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

function planResults(commands: Commands, keys: Keys, { results }: TasksAfter): void {
  for (const [taskId, { before, after }] of results)
    after.forEach((result, place) => {
      if (result !== before[place]) commands.set(keys.result(taskId, place), writeResult(result))
    })
}

function planDetails(commands: Commands, keys: Keys, { details }: TasksAfter): void {
  for (const [taskId, set] of details)
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
