import type { Redis } from 'ioredis'
import type { BlockedTask, Direction, Walked } from '../../src/kernel/store/store.ts'
import { walk } from '../../src/kernel/store/walk.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { outcomeOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import { isTerminal } from '../../src/pure/states.ts'
import { needsIn, readCounted, readTask } from './codec.ts'
import { ask, pipelined } from './connect.ts'
import type { Keys } from './keys.ts'
import { Script } from './script.ts'
import { isToBeCounted } from './task-writes.ts'

/** Removes notes, unless they were written again since. KEYS: unsettled. ARGV: pairs of a note and its version. */
const CROSS_OFF = `
for i = 1, #ARGV, 2 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('ZREM', KEYS[1], ARGV[i]) end
end
`
const crossOff = new Script(CROSS_OFF)

/** A task, and one that it depends on. */
type Pair = [taskId: number, on: number | null]

interface WaitingTask extends BlockedTask {
  isToBeCounted: boolean
}

const withoutMark = ({ isToBeCounted: _, ...task }: WaitingTask): BlockedTask => task

/** Tasks that depend on others. */
export class Blocked {
  readonly #client: Redis
  readonly #keysOf: (workspaceId: number) => Keys

  constructor(client: Redis, keysOf: (workspaceId: number) => Keys) {
    this.#client = client
    this.#keysOf = keysOf
  }

  async downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]> {
    const ids = [...new Set(taskIds)]
    const below = await this.#neededBy(workspaceId, ids)
    const pairs = ids.flatMap((on, i) => below[i]!.map((id): Pair => [id, on]))
    const waiting = await this.#waiting(workspaceId, pairs)
    const found = waiting.filter(({ upstream, edges }) => upstream === null || edges.length > 0)
    return found.map(withoutMark)
  }

  /**
   * When a task ends that others depend on, or is opened again, or when a task begins to wait uncounted, its workspace writes
   * a note in the same transaction. Code that unblocks tasks need not remove the note; this does, when there is nothing left
   * to do. So the check every few seconds costs what happened lately, not what is waiting. A note is read before the tasks it
   * is about: what happens later is noted with a later version, and that note is not removed.
   */
  async forgottenIn(workspaceId: number, limit: number): Promise<BlockedTask[]> {
    const { unsettled } = this.#keysOf(workspaceId)
    // Random ones: if they were always the same, notes that stay could hide the others.
    const found = await ask(this.#client, (client) => client.zrandmember(unsettled, limit, 'WITHSCORES'))
    const notes = (found as string[]).flatMap((note, i, all) =>
      i % 2 === 0 ? [{ note, version: all[i + 1]! }] : [],
    )
    if (notes.length === 0) return []
    const concerned = await this.#concernedBy(
      workspaceId,
      notes.map(({ note }) => note),
    )
    const waiting = await this.#waiting(workspaceId, concerned.flat())
    const forgotten = waiting.filter(({ isToBeCounted, edges }) => isToBeCounted || edges.length > 0)
    const ids = new Set(forgotten.map(({ taskId }) => taskId))
    const done = notes.filter((_, i) => !concerned[i]!.some(([id]) => ids.has(id)))
    if (done.length > 0) {
      const pairs = done.flatMap(({ note, version }) => [note, version])
      await ask(this.#client, (client) => crossOff.run(client, [unsettled], pairs))
    }
    return forgotten.map(withoutMark).slice(0, limit)
  }

  /** `d5`: tasks that depend on task 5. `t5`: task 5 itself. */
  async #concernedBy(workspaceId: number, notes: readonly string[]): Promise<Pair[][]> {
    const idOf = (note: string) => Number(note.slice(1))
    const ended = notes.filter((note) => note.startsWith('d'))
    const below = await this.#neededBy(workspaceId, ended.map(idOf))
    const pairs = new Map(ended.map((note, i) => [note, below[i]!.map((id): Pair => [id, idOf(note)])]))
    return notes.map((note) => pairs.get(note) ?? [[idOf(note), null]])
  }

  async #neededBy(workspaceId: number, taskIds: readonly number[]): Promise<number[][]> {
    const keys = this.#keysOf(workspaceId)
    const found = await pipelined(
      this.#client,
      taskIds.map((id) => ['smembers', keys.neededBy(id)]),
    )
    return found.map((ids) => (ids as string[]).map(Number))
  }

  blockedFrom(
    workspaceId: number,
    taskIds: readonly number[],
    way: Direction,
    limit: number,
  ): Promise<Walked> {
    const keys = this.#keysOf(workspaceId)
    const waitingFor = async (ids: readonly number[]) => (await this.#neededBy(workspaceId, ids)).flat()
    const blockedAmong = async (ids: readonly number[]) => {
      const records = [...(await this.#records(keys, ids)).values()]
      const blocked = records.filter((task) => task.blocked && !isTerminal(task.state))
      const needs = await pipelined(
        this.#client,
        blocked.map(({ id }) => ['lrange', keys.needs(id), 0, -1]),
      )
      return blocked.map(({ id, uuid, version, state }, i) => {
        const waitsFor = needsIn(needs[i] as string[]).map(([on]) => on)
        return { id, uuid, version, isPaused: state === 'paused', waitsFor }
      })
    }
    return walk(taskIds, way, limit, { blockedAmong, waitingFor })
  }

  /** Those of these tasks that wait, with the upstream tasks, of those named with them, that were counted otherwise. */
  async #waiting(workspaceId: number, pairs: readonly Pair[]): Promise<WaitingTask[]> {
    const keys = this.#keysOf(workspaceId)
    const records = await this.#records(keys, [...new Set(pairs.flat().filter((id) => id !== null))])
    const found = new Map<number, WaitingTask & { on: TaskRecord[] }>()
    for (const [id, on] of pairs) {
      const record = records.get(id)
      if (!record?.blocked || isTerminal(record.state)) continue
      const { uuid, version, merge, upstream } = record
      const own = { workspaceId, taskId: id, uuid, version, merge, upstream, edges: [] }
      const task = found.get(id) ?? { ...own, isToBeCounted: isToBeCounted(record), on: [] }
      found.set(id, task)
      if (on !== null) task.on.push(records.get(on)!)
    }
    const tasks = [...found.values()]
    const named = tasks.filter(({ on }) => on.length > 0)
    const counted = (await pipelined(
      this.#client,
      named.map(({ taskId, on }) => ['hmget', keys.counted(taskId), ...on.map(({ id }) => id)]),
    )) as string[][]
    for (const [i, { on, edges }] of named.entries())
      for (const [j, { id: dependsOn, uuid, version, state }] of on.entries()) {
        const outcome = outcomeOf(state)
        if (readCounted(counted[i]![j]!).outcome !== outcome)
          edges.push({ dependsOn, uuid, version, outcome })
      }
    return tasks.map(({ on: _, ...task }) => task)
  }

  async #records(keys: Keys, ids: readonly number[]): Promise<Map<number, TaskRecord>> {
    const records = new Map<number, TaskRecord>()
    if (ids.length === 0) return records
    for (const text of await ask(this.#client, (client) => client.mget(ids.map(keys.task)))) {
      if (text === null) continue
      const record = readTask(text)
      records.set(record.id, record)
    }
    return records
  }
}
