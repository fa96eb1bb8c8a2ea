import { hash } from 'node:crypto'
import { systemCaller, throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Caller, Kernel } from '../../../kernel/kernel.ts'
import { type BlockedTask, StoreUnavailable } from '../../../kernel/store/store.ts'
import type { Refusal } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { isTerminal } from '../../../pure/states.ts'
import type { RecordGranted } from '../../replies.ts'
import type { TaskCommand } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import { parseTaskKey } from '../rules/task-keys.ts'
import { outcomeOf, readinessOf } from '../rules/upstream-counts.ts'

/** Tasks have ended, or were opened again: their dependents count it, and so do those of dependents that end in turn. */
export async function unblockDownstream(
  kernel: Kernel,
  workspaceId: number,
  ended: readonly Pick<TaskRecord, 'id'>[],
): Promise<void> {
  let wave = ended.map(({ id }) => id)
  while (wave.length > 0) {
    const waiting = await kernel.store.downstreamOf(workspaceId, wave)
    wave = await unblockAll(kernel, waiting, { within: unblockDownstream })
  }
}

/** Counts all dependencies of tasks that wait again. */
export async function countAgain(
  kernel: Kernel,
  workspaceId: number,
  tasks: readonly TaskRecord[],
): Promise<void> {
  const waiting = tasks.map(({ id: taskId, uuid, version, merge, upstream }) => ({
    ...{ workspaceId, taskId, uuid, version, merge, upstream },
    edges: [],
  }))
  await unblockAll(kernel, waiting)
}

type FollowUp = Extract<TaskCommand, { kind: 'countUpstream' | 'merge' }>

/** Returns the tasks that ended in turn. */
export async function unblockAll(
  kernel: Kernel,
  waiting: readonly BlockedTask[],
  as: Pick<Caller, 'term' | 'within'> = {},
): Promise<number[]> {
  const ended = await Promise.all(
    waiting.map(async (task) => {
      const caller = { ...systemCaller(task.workspaceId), ...as }
      return (await endsWhenCounted(kernel, caller, task)) ? task.taskId : null
    }),
  )
  return ended.filter((id) => id !== null)
}

/** A read task may have changed when the command runs. Only another caller's command changes it, so few tries are enough. */
const TRIES = 10

async function endsWhenCounted(kernel: Kernel, caller: Caller, task: BlockedTask): Promise<boolean> {
  const { taskId, uuid, edges } = task
  let command: FollowUp | null = { kind: 'countUpstream', edges }
  if (task.upstream === null) command = await countOfAll(kernel, task)
  for (let tries = 1; command; tries++) {
    const reply: RecordGranted | Refusal = throwIfNotLeader(
      await kernel.run(caller, { on: 'task', taskId, uuid, command }),
    )
    if (!reply.ok) return false
    const { record } = reply
    if (!record.blocked || isTerminal(record.state)) return isTerminal(record.state)
    const isOfVersion = command.version !== undefined
    const isOutdated = isOfVersion && command.version !== record.version
    if (isOutdated && tries === TRIES)
      throw new StoreUnavailable('The task was changed by others on every try.')
    // The parts of a merge are not what was read: the next completion triggers it again.
    if (isOfVersion && !isOutdated && (command.kind === 'merge' || record.upstream === null)) return false
    command =
      record.upstream === null ? await countOfAll(kernel, task) : await mergeIfReady(kernel, task, record)
  }
  return false
}

/** All its dependencies, as they stand. Read after the task: a dependency added from here on changes its version. */
async function countOfAll(kernel: Kernel, { workspaceId, taskId }: BlockedTask): Promise<FollowUp | null> {
  const [record] = await kernel.store.recordsById(workspaceId, [taskId])
  if (!record?.blocked) return null
  const upstream = await kernel.store.dependencies(workspaceId, taskId)
  const edges = upstream.map(({ uuid, version, state }) => ({
    dependsOn: idCarriedBy(uuid)!,
    uuid,
    version,
    outcome: outcomeOf(state),
  }))
  return { kind: 'countUpstream', edges, version: record.version }
}

const mergeIfReady = (kernel: Kernel, task: BlockedTask, { merge, state, upstream }: TaskRecord) =>
  merge === 'object' && state === 'pending' && readinessOf(upstream!) === 'ready'
    ? mergeOfParts(kernel, task)
    : null

/** Reads the task again, with its version: a part added from here on invalidates the command. */
async function mergeOfParts(kernel: Kernel, { workspaceId, taskId }: BlockedTask): Promise<FollowUp | null> {
  const whole = await kernel.store.task(workspaceId, taskId)
  if (!whole) return null
  const ids = whole.details.dependsOn.map(idCarriedBy).filter((id) => id !== null)
  const upstream = await kernel.store.recordsById(workspaceId, ids)
  if (!upstream.every(({ state }) => state === 'completed')) return null
  const parts = upstream.filter(({ parentId }) => parentId === taskId)
  parts.sort((a, b) => placeOf(a) - placeOf(b) || a.id - b.id)
  return mergeOf(kernel, workspaceId, whole.record.version, parts)
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
