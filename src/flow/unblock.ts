import { hash } from 'node:crypto'
import type { TaskCommand } from '../core/commands.ts'
import { Refused } from '../core/errors.ts'
import { idCarriedBy } from '../core/ids.ts'
import { parseTaskKey } from '../core/keys.ts'
import type { TaskRecord } from '../core/records.ts'
import type { RecordGranted } from '../core/replies.ts'
import { readinessOf } from '../core/rules/create.ts'
import { isTerminal } from '../core/states.ts'
import type { Caller, Kernel } from '../kernel/kernel.ts'
import { type BlockedTask, StoreUnavailable } from '../store/store.ts'

/** Baton itself as the caller; for the coordinator, with its term. */
export const system = (workspaceId: number, term?: number): Caller => ({
  workspaceId,
  actor: 'system',
  rights: new Set(),
  term,
})

/** Tasks have ended: their dependents become ready or are skipped, and so do the dependents of skipped tasks. */
export const unblockDownstream = (kernel: Kernel, workspaceId: number, ended: readonly number[]) =>
  kernel.ended.ask(workspaceId, ended)

/** The same for tasks that changed: most have not ended, or nobody waits for them. */
export async function unblockAfter(
  kernel: Kernel,
  workspaceId: number,
  changed: readonly TaskRecord[],
): Promise<void> {
  const ended = changed.filter(({ state, awaited }) => awaited && isTerminal(state))
  if (ended.length > 0)
    await unblockDownstream(
      kernel,
      workspaceId,
      ended.map(({ id }) => id),
    )
}

export async function followAll(
  kernel: Kernel,
  workspaceId: number,
  ended: readonly number[],
): Promise<void> {
  try {
    let wave = ended
    while (wave.length > 0) {
      const waiting = await kernel.store.downstreamOf(workspaceId, wave)
      wave = await unblockAll(kernel, waiting)
    }
  } catch (error) {
    // The store is unreachable, or the task changed on every try: upkeep finds the missed tasks. No caller waits for an
    // answer here, so any other error must be logged.
    if (!(error instanceof StoreUnavailable))
      kernel.fault(error, 'the dependents of finished tasks could not be unblocked')
  }
}

type FollowUp = Extract<TaskCommand, { kind: 'unblock' | 'merge' }>

/** Returns the tasks that ended in turn. */
export async function unblockAll(
  kernel: Kernel,
  waiting: readonly BlockedTask[],
  term?: number,
): Promise<number[]> {
  const ended = await Promise.all(
    waiting.map(async (task) => ((await endsWhenUnblocked(kernel, task, term)) ? task.taskId : null)),
  )
  return ended.filter((id) => id !== null)
}

/** A read task may have changed when the command runs. Only another caller's command changes it, so few tries are enough. */
const TRIES = 10

async function endsWhenUnblocked(
  kernel: Kernel,
  task: BlockedTask,
  term: number | undefined,
): Promise<boolean> {
  let seen: BlockedTask | null = task
  for (let tries = 1; seen; tries++) {
    const command = await nextCommand(kernel, seen)
    if (!command) return false
    const { workspaceId, taskId, uuid } = task
    const reply = await kernel.run(system(workspaceId, term), { on: 'task', taskId, uuid, command })
    if (!reply.ok) {
      if (reply.code === 'NOT_LEADER') throw Refused.because(reply)
      return false
    }
    const { record } = reply
    const isOutdated = 'version' in command && command.version !== undefined && !isSettledBy(reply, command)
    if (!isOutdated) return isTerminal(record.state)
    if (tries === TRIES) throw new StoreUnavailable('The task was changed by others on every try.')
    seen = await readAgain(kernel, task)
  }
  return false
}

/** Not settled: the task is still blocked, and no longer as it was read. */
const isSettledBy = ({ reason, record }: RecordGranted, { version }: { version?: number | undefined }) =>
  reason !== 'NOTHING_DUE' || !record.blocked || record.version === version

async function readAgain(kernel: Kernel, task: BlockedTask): Promise<BlockedTask | null> {
  const stored = await kernel.store.task(task.workspaceId, task.taskId)
  if (!stored?.record.blocked) return null
  const upstream = await kernel.store.dependencies(task.workspaceId, task.taskId)
  const { version, merge } = stored.record
  return { ...task, version, merge, upstream: upstream.map(({ state }) => state) }
}

async function nextCommand(kernel: Kernel, task: BlockedTask): Promise<FollowUp | null> {
  const { triggerRule, upstream, merge } = task
  // A task with parts needs all of them, whatever rule it had before it was divided.
  const readiness = readinessOf(merge === 'none' ? triggerRule : 'all_success', upstream)
  if (readiness === 'wait') return null
  if (readiness === 'ready' && merge !== 'none') return whenPartsAreDone(kernel, task)
  const culprit = upstream.find((state) => isTerminal(state) && state !== 'completed')
  if (readiness === 'never')
    return { kind: 'unblock', readiness, because: `a task it depends on is ${culprit}` }
  // With the version: if dependencies were added since, the task is not ready.
  return { kind: 'unblock', readiness, because: 'ready', version: task.version }
}

/** Reads the task again, with its version: a part added from here on invalidates the command. */
async function whenPartsAreDone(
  kernel: Kernel,
  { workspaceId, taskId }: BlockedTask,
): Promise<FollowUp | null> {
  const whole = await kernel.store.task(workspaceId, taskId)
  if (!whole) return null
  const ids = whole.details.dependsOn.map(idCarriedBy).filter((id) => id !== null)
  const upstream = (await kernel.store.tasksById(workspaceId, ids)).map(({ record }) => record)
  if (!upstream.every(({ state }) => state === 'completed')) return null
  const { version, merge } = whole.record
  if (merge !== 'object') return { kind: 'unblock', readiness: 'ready', because: 'ready', version }
  const parts = upstream.filter(({ parentId }) => parentId === taskId)
  parts.sort((a, b) => placeOf(a) - placeOf(b) || a.id - b.id)
  return mergeOf(kernel, workspaceId, version, parts)
}

/** The results of the parts, in order, by key. */
async function mergeOf(
  kernel: Kernel,
  workspaceId: number,
  version: number,
  parts: readonly TaskRecord[],
): Promise<FollowUp | null> {
  const merged: Record<string, unknown> = {}
  for (const part of parts) {
    const results = await kernel.store.results(workspaceId, part.id)
    const accepted = results.find(({ accepted, hash }) => accepted === true && hash === part.resultHash)
    // The part was just reset. Its next completion triggers the merge again.
    if (!accepted) return null
    merged[part.key ?? part.uuid] = accepted.data
  }
  const data = JSON.stringify(merged)
  return {
    kind: 'merge',
    version,
    parts: parts.map(({ id, generation, resultHash }) => ({ id, generation, hash: resultHash! })),
    submission: {
      data,
      bytes: Buffer.byteLength(data),
      hash: hash('sha256', data).slice(0, 32),
      summary: `The results of ${parts.length} parts.`,
    },
  }
}

const placeOf = ({ key }: TaskRecord) => (key === null ? 0 : (parseTaskKey(key)?.subtask ?? 0))
