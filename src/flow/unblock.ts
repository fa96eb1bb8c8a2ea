import { hash } from 'node:crypto'
import type { TaskCommand } from '../core/commands.ts'
import { type Refusal, Refused } from '../core/errors.ts'
import { idCarriedBy } from '../core/ids.ts'
import { parseTaskKey } from '../core/keys.ts'
import type { TaskRecord } from '../core/records.ts'
import type { Granted, RecordGranted } from '../core/replies.ts'
import { isHeld, isTerminal } from '../core/states.ts'
import { outcomeOf, readinessOf } from '../core/upstream.ts'
import type { Caller, Kernel } from '../kernel/kernel.ts'
import { type BlockedTask, StoreUnavailable } from '../store/store.ts'

/** Baton itself as the caller; for the coordinator, with its term. */
export const system = (workspaceId: number, term?: number): Caller => ({
  workspaceId,
  actor: 'system',
  rights: new Set(),
  term,
})

/** A coordinator that lost its leadership stops at once. */
export function throwIfNotLeader<G extends Granted>(reply: G | Refusal): G | Refusal {
  if (!reply.ok && reply.code === 'NOT_LEADER') throw Refused.because(reply)
  return reply
}

/** Why an act of Baton's own was refused; null when it was done. */
export async function refusalOf(act: () => Promise<{ ok: true } | Refusal>): Promise<Refusal | null> {
  try {
    const reply = await act()
    return reply.ok ? null : reply
  } catch (error) {
    if (error instanceof Refused && error.code !== 'NOT_LEADER') return error.refusal
    throw error
  }
}

/** Tasks have ended, or were opened again: their dependents count it, and so do those of dependents that end in turn. */
export const unblockDownstream = (kernel: Kernel, workspaceId: number, ended: readonly number[]) =>
  kernel.ended.ask(workspaceId, ended)

/** After a command of these kinds a task may be open again that was counted as ended. */
const REOPENS: ReadonlySet<TaskCommand['kind']> = new Set(['retry', 'reset'])

/** The same for tasks that a command changed. Most concern no other task, and then this costs nothing. */
export const unblockAfter = (
  kernel: Kernel,
  workspaceId: number,
  changed: readonly TaskRecord[],
  by?: TaskCommand['kind'],
): Promise<void> => (changed.some(mayConcernOthers) ? unblock(kernel, workspaceId, changed, by) : DONE)

const DONE = Promise.resolve()
const mayConcernOthers = ({ awaited, blocked, review }: TaskRecord) =>
  awaited || blocked || review === 'baton'

async function unblock(
  kernel: Kernel,
  workspaceId: number,
  changed: readonly TaskRecord[],
  by?: TaskCommand['kind'],
): Promise<void> {
  const mayReopen = by !== undefined && REOPENS.has(by)
  const ended = changed.filter(({ state, awaited }) => awaited && (mayReopen || isTerminal(state)))
  const again = changed.filter((record) => record.blocked && record.upstream === null)
  const toJudge = changed.filter(concernsAVerdict)
  if (toJudge.length > 0) await kernel.judge(workspaceId, toJudge)
  if (again.length > 0) await countAgain(kernel, workspaceId, again)
  if (ended.length > 0)
    await unblockDownstream(
      kernel,
      workspaceId,
      ended.map(({ id }) => id),
    )
}

/** Most tasks need no verdict of Baton's: it gets one on the results of these, or they are no longer to be judged. */
const concernsAVerdict = ({ review, state }: TaskRecord) =>
  review === 'baton' && (state === 'verifying' || !isHeld(state))

/** They wait again, and while they did not, nobody counted. */
const countAgain = (kernel: Kernel, workspaceId: number, records: readonly TaskRecord[]) =>
  unlessUnavailable(kernel, async () => {
    const waiting = records.map(({ id: taskId, uuid, version, merge, upstream }) => ({
      ...{ workspaceId, taskId, uuid, version, merge, upstream },
      edges: [],
    }))
    const ended = await unblockAll(kernel, waiting)
    if (ended.length > 0) await unblockDownstream(kernel, workspaceId, ended)
  })

export const followAll = (kernel: Kernel, workspaceId: number, ended: readonly number[]): Promise<void> =>
  unlessUnavailable(kernel, async () => {
    let wave = ended
    while (wave.length > 0) {
      const waiting = await kernel.store.downstreamOf(workspaceId, wave)
      wave = await unblockAll(kernel, waiting)
    }
  })

async function unlessUnavailable(kernel: Kernel, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    // The store is unreachable, or the task changed on every try: upkeep finds the missed tasks. No caller waits for an
    // answer here, so any other error must be logged.
    if (!(error instanceof StoreUnavailable))
      kernel.fault(error, 'the dependents of finished tasks could not be unblocked')
  }
}

type FollowUp = Extract<TaskCommand, { kind: 'countUpstream' | 'merge' }>

/** Returns the tasks that ended in turn. */
export async function unblockAll(
  kernel: Kernel,
  waiting: readonly BlockedTask[],
  term?: number,
): Promise<number[]> {
  const ended = await Promise.all(
    waiting.map(async (task) => ((await endsWhenCounted(kernel, task, term)) ? task.taskId : null)),
  )
  return ended.filter((id) => id !== null)
}

/** A read task may have changed when the command runs. Only another caller's command changes it, so few tries are enough. */
const TRIES = 10

async function endsWhenCounted(
  kernel: Kernel,
  task: BlockedTask,
  term: number | undefined,
): Promise<boolean> {
  const { workspaceId, taskId, uuid, edges } = task
  let command: FollowUp | null = { kind: 'countUpstream', edges }
  if (task.upstream === null) command = await countOfAll(kernel, task)
  for (let tries = 1; command; tries++) {
    const reply: RecordGranted | Refusal = throwIfNotLeader(
      await kernel.run(system(workspaceId, term), { on: 'task', taskId, uuid, command }),
    )
    if (!reply.ok) return false
    const { record } = reply
    if (!record.blocked || isTerminal(record.state)) {
      // What was merged may need a verdict. Not awaited: the dependents that follow from it wait for these here.
      if (concernsAVerdict(record) && record.state === 'verifying') void kernel.judge(workspaceId, [record])
      return isTerminal(record.state)
    }
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
