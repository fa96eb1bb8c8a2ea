import type { Redis } from 'ioredis'
import type { TriggerRule } from '../../core/commands.ts'
import type { TaskRecord } from '../../core/records.ts'
import { isTerminal, type TaskState } from '../../core/states.ts'
import type { BlockedTask } from '../store.ts'
import { readTask } from './codec.ts'
import { ask, inTurn, together } from './connect.ts'
import type { Keys } from './keys.ts'
import { Script } from './script.ts'

/** Crosses off what was looked at, unless something was written since. KEYS: meta, unsettled. ARGV: version, entries. */
const CROSS_OFF = `
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return end
for i = 2, #ARGV do redis.call('SREM', KEYS[2], ARGV[i]) end
`
const crossOff = new Script(CROSS_OFF)

interface Waiting extends BlockedTask {
  state: TaskState
}

/** Tasks that wait for others. */
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
   * Whenever a task ends that others wait for, or begins to wait itself, its workspace takes a note of it in the same
   * transaction. Whoever lets tasks go on need not cross it off; this does, when there is nothing left to do. So what is
   * asked for every few seconds costs what happened lately, not what waits.
   */
  async forgottenIn(workspaceId: number, limit: number): Promise<BlockedTask[]> {
    const keys = this.#keysOf(workspaceId)
    const [version, entries] = (await together(this.#client, [
      ['hget', keys.meta, 'version'],
      // Any of them: were it always the same, some that stay could hide the others.
      ['srandmember', keys.unsettled, limit],
    ])) as [string, string[]]
    if (entries.length === 0) return []
    const ended = entries.filter((entry) => entry.startsWith('d'))
    const below = await this.#neededBy(workspaceId, ended.map(idOfEntry))
    const concerned = new Map(ended.map((entry, i) => [entry, below[i]!]))
    for (const entry of entries) if (!concerned.has(entry)) concerned.set(entry, [idOfEntry(entry)])
    const waiting = await this.#waiting(workspaceId, [...concerned.values()].flat())
    // Of those that are paused or have ended, a new note is taken when they wait again.
    const forgotten = [...waiting.values()].filter(
      ({ state, upstream }) => state === 'pending' && isToBeJudged(upstream),
    )
    const ids = new Set(forgotten.map(({ taskId }) => taskId))
    const done = entries.filter((entry) => !concerned.get(entry)!.some((id) => ids.has(id)))
    if (done.length > 0)
      await ask(this.#client, (client) =>
        crossOff.run(client, [keys.meta, keys.unsettled], [version, ...done]),
      )
    return forgotten.map(withoutState).slice(0, limit)
  }

  async #neededBy(workspaceId: number, taskIds: readonly number[]): Promise<number[][]> {
    const keys = this.#keysOf(workspaceId)
    const found = await inTurn(
      this.#client,
      taskIds.map((id) => ['smembers', keys.neededBy(id)]),
    )
    return found.map((ids) => (ids as string[]).map(Number))
  }

  /** Those of these that are blocked, by id. */
  async #waiting(workspaceId: number, taskIds: readonly number[]): Promise<Map<number, Waiting>> {
    const keys = this.#keysOf(workspaceId)
    const blocked = [...(await this.#records(keys, [...new Set(taskIds)])).values()].filter(
      (task) => task.blocked,
    )
    const texts = (await inTurn(
      this.#client,
      blocked.map(({ id }) => ['lrange', keys.needs(id), 0, -1]),
    )) as string[][]
    const needs = texts.map((list) => list.map((text) => JSON.parse(text) as [number, string, TriggerRule]))
    const upstream = await this.#records(keys, [...new Set(needs.flat().map(([id]) => id))])
    const waiting = blocked.map(({ id, uuid, merge, state }, i): [number, Waiting] => [
      id,
      {
        workspaceId,
        taskId: id,
        uuid,
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

const idOfEntry = (entry: string) => Number(entry.slice(1))

/** All of it has ended, or something ended badly. */
const isToBeJudged = (upstream: readonly TaskState[]) =>
  upstream.every(isTerminal) || upstream.some((state) => isTerminal(state) && state !== 'completed')

const withoutState = ({ state: _, ...task }: Waiting): BlockedTask => task
