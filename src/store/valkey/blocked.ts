import type { Redis } from 'ioredis'
import type { TaskRecord } from '../../core/records.ts'
import { isTerminal, type TaskState } from '../../core/states.ts'
import type { BlockedTask, Direction, Walked } from '../store.ts'
import { walk } from '../walk.ts'
import { needsIn, readTask } from './codec.ts'
import { ask, pipelined } from './connect.ts'
import type { Keys } from './keys.ts'
import { Script } from './script.ts'

/** Removes notes, unless they were written again since. KEYS: unsettled. ARGV: pairs of a note and its version. */
const CROSS_OFF = `
for i = 1, #ARGV, 2 do
  if redis.call('ZSCORE', KEYS[1], ARGV[i]) == ARGV[i + 1] then redis.call('ZREM', KEYS[1], ARGV[i]) end
end
`
const crossOff = new Script(CROSS_OFF)

interface WaitingTask extends BlockedTask {
  state: TaskState
}

/** Tasks that depend on others. */
export class Blocked {
  readonly #client: Redis
  readonly #keysOf: (workspaceId: number) => Keys

  constructor(client: Redis, keysOf: (workspaceId: number) => Keys) {
    this.#client = client
    this.#keysOf = keysOf
  }

  async downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]> {
    const waiting = await this.#waiting(workspaceId, (await this.#neededBy(workspaceId, taskIds)).flat())
    return [...waiting.values()].map(withoutState)
  }

  /**
   * When a task ends that others depend on, or when a task becomes blocked, its workspace writes a note in the same
   * transaction. Code that unblocks tasks need not remove the note; this does, when there is nothing left to do. So the
   * check every few seconds costs what happened lately, not what is waiting. A note is read before the tasks it is about:
   * what happens later is noted with a later version, and that note is not removed.
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
    // Paused and terminal tasks get a new note when they become blocked again.
    const forgotten = [...waiting.values()].filter(
      ({ state, upstream }) => state === 'pending' && isToBeJudged(upstream),
    )
    const ids = new Set(forgotten.map(({ taskId }) => taskId))
    const done = notes.filter((_, i) => !concerned[i]!.some((id) => ids.has(id)))
    if (done.length > 0) {
      const pairs = done.flatMap(({ note, version }) => [note, version])
      await ask(this.#client, (client) => crossOff.run(client, [unsettled], pairs))
    }
    return forgotten.map(withoutState).slice(0, limit)
  }

  /** `d5`: tasks that depend on task 5. `t5`: task 5 itself. */
  async #concernedBy(workspaceId: number, notes: readonly string[]): Promise<number[][]> {
    const idOf = (note: string) => Number(note.slice(1))
    const ended = notes.filter((note) => note.startsWith('d'))
    const below = await this.#neededBy(workspaceId, ended.map(idOf))
    const ids = new Map(ended.map((note, i) => [note, below[i]!]))
    return notes.map((note) => ids.get(note) ?? [idOf(note)])
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

  /** The blocked ones among these, by id. */
  async #waiting(workspaceId: number, taskIds: readonly number[]): Promise<Map<number, WaitingTask>> {
    const keys = this.#keysOf(workspaceId)
    const blocked = [...(await this.#records(keys, [...new Set(taskIds)])).values()].filter(
      (task) => task.blocked,
    )
    const texts = (await pipelined(
      this.#client,
      blocked.map(({ id }) => ['lrange', keys.needs(id), 0, -1]),
    )) as string[][]
    const needs = texts.map(needsIn)
    const upstream = await this.#records(keys, [...new Set(needs.flat().map(([id]) => id))])
    const waiting = blocked.map(({ id, uuid, version, merge, state }, i): [number, WaitingTask] => [
      id,
      {
        workspaceId,
        taskId: id,
        uuid,
        version,
        merge,
        state,
        triggerRule: needs[i]![0]![2],
        upstream: needs[i]!.map(([on]) => upstream.get(on)!.state),
      },
    ])
    return new Map(waiting)
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

/** All dependencies have ended, or one has failed. */
const isToBeJudged = (upstream: readonly TaskState[]) =>
  upstream.every(isTerminal) || upstream.some((state) => isTerminal(state) && state !== 'completed')

const withoutState = ({ state: _, ...task }: WaitingTask): BlockedTask => task
