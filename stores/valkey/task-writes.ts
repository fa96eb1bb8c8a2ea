import { isOnTrack, keyName } from '../../src/kernel/batch/requests.ts'
import { type DetailsSet, foldRecounted } from '../../src/kernel/store/fold-changes.ts'
import type { Changes } from '../../src/kernel/store/portable.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { DEPENDENCY_KINDS, outcomeOf, readinessOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import { isTerminal } from '../../src/pure/states.ts'
import { type MarkedTask, score, writeCounted, writeTask } from './codec.ts'
import type { Commands } from './commands.ts'
import { holding, type Keys, member } from './keys.ts'
import type { Seen } from './seen.ts'
import type { TasksAfter } from './tasks-after.ts'

/** Changed tasks, and every index they enter or leave: the difference between before and after. */
export function taskWrites(
  commands: Commands,
  keys: Keys,
  seen: Seen,
  { tasks, details }: TasksAfter,
  changes: Changes,
): void {
  for (const { record, task, parentUuid } of changes.created) {
    const { dependsOn: _, ...made } = task.details
    commands.set(keys.details(record.id), JSON.stringify({ ...made, parent: parentUuid }))
    if (record.key !== null)
      commands.add('HSET', keys.taskKeys, keyName(record.projectId, record.key), String(record.id))
    if (made.userId !== null) {
      const id = member(record.id)
      commands.add('ZADD', keys.user(made.userId), id, id)
    }
  }
  const ended: string[] = []
  const note = String(seen.version + 1)
  for (const marked of tasks.values()) {
    const { record } = marked
    const before = seen.view.records.get(record.id) ?? null
    commands.set(keys.task(record.id), writeTask(marked))
    planQueue(commands, keys, before, record)
    planHolder(commands, keys, before, record)
    planTimes(commands, keys, before, record)
    planEnd(commands, keys, before, marked)
    planDeadLetter(commands, keys, before, record, details.get(record.id)?.exhausted)
    if (before && outcomeOf(record.state) !== outcomeOf(before.state)) ended.push(String(record.id))
    if (isToBeCounted(record) && !(before && isToBeCounted(before)))
      commands.add('ZADD', keys.unsettled, note, `t${record.id}`)
  }
  for (let i = 0; i < ended.length; i += 1_000)
    commands.after('ended', keys.unsettled, note, `${keys.tag}needed-by:`, ...ended.slice(i, i + 1_000))
}

/** It waits, and is not counted yet, or its parts are counted and their results are to be merged. */
export const isToBeCounted = ({ blocked, state, upstream, merge }: TaskRecord) =>
  blocked &&
  !isTerminal(state) &&
  (upstream === null || (merge === 'object' && state === 'pending' && readinessOf(upstream) === 'ready'))

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
  const was = isHeld(before) ? before : null
  const is = isHeld(after) ? after : null
  if (is) commands.add('ZADD', keys.held, score(is.updatedAt), member(is.id))
  else if (was) commands.add('ZREM', keys.held, member(was.id))
  if (was && was.session !== is?.session) commands.add('ZREM', keys.holds, holding(was.session!, was.id))
  if (is && was?.session !== is.session) commands.add('ZADD', keys.holds, '0', holding(is.session!, is.id))
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

/** The past claims of a finished task get a TTL: the retention of the workspace. Its last one is part of the task. */
function planEnd(commands: Commands, keys: Keys, before: TaskRecord | null, after: MarkedTask): void {
  const { id, state, generation } = after.record
  const was = before !== null && isTerminal(before.state)
  const is = isTerminal(state)
  if (was === is || generation < 2) return
  if (is) commands.after('PEXPIREAT', keys.claims(id), String(after.marks.claimsKeptUntil))
  else commands.after('PERSIST', keys.claims(id))
}

/** Failed because attempts or generations ran out. The change that fails a task also says whether it is a dead letter. */
function planDeadLetter(
  commands: Commands,
  keys: Keys,
  before: TaskRecord | null,
  { id, state }: TaskRecord,
  exhausted: DetailsSet['exhausted'],
): void {
  const isDead = state === 'failed' && exhausted
  if (isDead) commands.add('ZADD', keys.deadLetters, member(id), member(id))
  else if (before?.state === 'failed' && (state !== 'failed' || exhausted !== undefined))
    commands.add('ZREM', keys.deadLetters, member(id))
}

export function dependencyWrites(commands: Commands, keys: Keys, changes: Changes): void {
  for (const { taskId, dependsOn, dependsOnUuid, rule } of changes.removed) {
    for (const kind of DEPENDENCY_KINDS)
      commands.after('LREM', keys.needs(taskId), '0', JSON.stringify([dependsOn, dependsOnUuid, rule, kind]))
    commands.add('SREM', keys.neededBy(dependsOn), String(taskId))
    commands.add('HDEL', keys.counted(taskId), String(dependsOn))
  }
  for (const added of changes.dependencies) {
    const { taskId, dependsOn, dependsOnUuid, rule, kind } = added
    commands.add('RPUSH', keys.needs(taskId), JSON.stringify([dependsOn, dependsOnUuid, rule, kind]))
    commands.add('SADD', keys.neededBy(dependsOn), String(taskId))
    commands.add('HSET', keys.counted(taskId), String(dependsOn), writeCounted(added))
  }
  for (const counted of foldRecounted(changes))
    commands.add('HSET', keys.counted(counted.taskId), String(counted.dependsOn), writeCounted(counted))
}
