import { isOnTrack, keyName } from '../../core/batch/requests.ts'
import type { TaskRecord } from '../../core/records.ts'
import { isTerminal } from '../../core/states.ts'
import { foldDetails } from '../fold-changes.ts'
import type { Changes } from '../portable.ts'
import { score, writeTask } from './codec.ts'
import type { Commands } from './commands.ts'
import { type Keys, member } from './keys.ts'
import type { Seen } from './seen.ts'

const DAY_MS = 86_400_000

/** Changed tasks, and every index they enter or leave: the difference between before and after. */
export function taskWrites(commands: Commands, keys: Keys, seen: Seen, changes: Changes): void {
  const after = new Map<number, TaskRecord>()
  for (const { record, task, parentUuid } of changes.created) {
    after.set(record.id, record)
    const { dependsOn: _, ...details } = task.details
    commands.set(keys.details(record.id), JSON.stringify({ ...details, parent: parentUuid }))
    if (record.key !== null)
      commands.add('HSET', keys.taskKeys, keyName(record.projectId, record.key), String(record.id))
    if (details.userId !== null) {
      const id = member(record.id)
      commands.add('ZADD', keys.user(details.userId), id, id)
    }
  }
  for (const record of changes.tasks) after.set(record.id, record)
  const ended: string[] = []
  const note = String(seen.version + 1)
  for (const record of after.values()) {
    const before = seen.view.records.get(record.id) ?? null
    commands.set(keys.task(record.id), writeTask(record))
    planQueue(commands, keys, before, record)
    planHolder(commands, keys, before, record)
    planTimes(commands, keys, before, record)
    planEnd(commands, keys, seen, before, record)
    if (isTerminal(record.state) && before && !isTerminal(before.state)) ended.push(String(record.id))
    if (before && isBlocked(record) && !isBlocked(before))
      commands.add('ZADD', keys.unsettled, note, `t${record.id}`)
  }
  for (let i = 0; i < ended.length; i += 1_000)
    commands.after('ended', keys.unsettled, note, `${keys.tag}needed-by:`, ...ended.slice(i, i + 1_000))
  planDeadLetters(commands, keys, seen, after, changes)
}

const isBlocked = ({ blocked, state }: TaskRecord) => blocked && state === 'pending'

function planQueue(commands: Commands, keys: Keys, before: TaskRecord | null, after: TaskRecord): void {
  const was = before && before.rank !== null ? keys.queue(before) : null
  const is = after.rank !== null ? keys.queue(after) : null
  if (was && was.key !== is?.key) {
    commands.add('ZREM', was.key, member(after.id))
    commands.index(was)
  }
  if (is && (was?.key !== is.key || before!.rank !== after.rank)) {
    commands.add('ZADD', is.key, score(after.rank!), member(after.id))
    if (was?.key !== is.key) commands.index(is)
  }
}

const isHeld = (task: TaskRecord | null): task is TaskRecord => task?.claimState === 'active'

/** Indexes of the holder: by session, by track, and by when it was touched. */
function planHolder(commands: Commands, keys: Keys, before: TaskRecord | null, after: TaskRecord): void {
  const id = String(after.id)
  const was = isHeld(before) ? before : null
  const is = isHeld(after) ? after : null
  if (is) commands.add('ZADD', keys.held, score(is.updatedAt), member(is.id))
  else if (was) commands.add('ZREM', keys.held, member(was.id))
  if (was && was.session !== is?.session) commands.add('SREM', keys.holds(was.session!), id)
  if (is && was?.session !== is.session) commands.add('SADD', keys.holds(is.session!), id)
  if (!isOnTrack(after) || was?.agent === is?.agent) return
  const track = keys.onTrack(after.projectId, after.trackQueue)
  if (was) commands.count(track, was.agent!, -1)
  if (is) commands.count(track, is.agent!, 1)
}

/** When it next needs attention: its lease expires, or its due time comes. */
function dueAt(task: TaskRecord | null): number | null {
  if (!task) return null
  const times = [isHeld(task) ? task.leaseExpiresAt : null, task.dueAt].filter((time) => time !== null)
  return times.length > 0 ? Math.min(...times) : null
}

function planTimes(commands: Commands, keys: Keys, before: TaskRecord | null, after: TaskRecord): void {
  const [was, is] = [dueAt(before), dueAt(after)]
  if (was === is) return
  if (is === null) commands.add('ZREM', keys.due, member(after.id))
  else commands.add('ZADD', keys.due, score(is), member(after.id))
}

/** Claims of a finished task get a TTL: the retention of the workspace. */
function planEnd(
  commands: Commands,
  keys: Keys,
  { view }: Seen,
  before: TaskRecord | null,
  after: TaskRecord,
): void {
  const was = before !== null && isTerminal(before.state)
  const is = isTerminal(after.state)
  if (was === is || after.generation === 0) return
  if (is) {
    const until = view.now + view.limits.claimHistoryRetentionDays * DAY_MS
    commands.after('PEXPIREAT', keys.claims(after.id), String(until))
  } else commands.after('PERSIST', keys.claims(after.id))
}

/** Failed because attempts or generations ran out. The change that fails a task also says whether it is a dead letter. */
function planDeadLetters(
  commands: Commands,
  keys: Keys,
  { view }: Seen,
  after: ReadonlyMap<number, TaskRecord>,
  changes: Changes,
): void {
  const details = foldDetails(changes)
  for (const { id, state } of after.values()) {
    const exhausted = details.get(id)?.exhausted
    const isDead = state === 'failed' && exhausted
    const wasFailed = view.records.get(id)?.state === 'failed'
    if (isDead) commands.add('ZADD', keys.deadLetters, member(id), member(id))
    else if (wasFailed && (state !== 'failed' || exhausted !== undefined))
      commands.add('ZREM', keys.deadLetters, member(id))
  }
}

export function dependencyWrites(
  commands: Commands,
  keys: Keys,
  { view, version }: Seen,
  changes: Changes,
): void {
  const after = new Map(
    [...changes.created.map(({ record }) => record), ...changes.tasks].map((task) => [task.id, task]),
  )
  const now = (id: number) => after.get(id) ?? view.records.get(id)
  for (const { taskId, dependsOn, dependsOnUuid, rule } of changes.dependencies) {
    commands.add('RPUSH', keys.needs(taskId), JSON.stringify([dependsOn, dependsOnUuid, rule]))
    commands.add('SADD', keys.neededBy(dependsOn), String(taskId))
    const [waiting, upstream] = [now(taskId), now(dependsOn)]
    // A task that has already ended will not end again, so nothing would note it. One that was not read may have ended.
    if (waiting && isBlocked(waiting) && (!upstream || isTerminal(upstream.state)))
      commands.add('ZADD', keys.unsettled, String(version + 1), `t${taskId}`)
  }
}
