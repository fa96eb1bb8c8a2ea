import type { Redis } from 'ioredis'
import { roundRobin } from '../../src/kernel/store/round-robin.ts'
import type { DueTask, DueVersion } from '../../src/kernel/store/store.ts'
import { readTask } from './codec.ts'
import { ask, pipelined } from './connect.ts'
import { idOf, type Keys } from './keys.ts'

/** What upkeep reads. Each workspace has its own sorted sets by time, so a read costs what is due, not what is waiting. */
export class Due {
  readonly #client: Redis
  readonly #keysOf: (workspaceId: number) => Keys
  readonly #workspaces: string

  constructor(client: Redis, keysOf: (workspaceId: number) => Keys, workspaces: string) {
    this.#client = client
    this.#keysOf = keysOf
    this.#workspaces = workspaces
  }

  async #workspaceIds(only: number | undefined): Promise<number[]> {
    if (only !== undefined) return [only]
    return (await ask(this.#client, (client) => client.hvals(this.#workspaces))).map(Number)
  }

  async tasks(limit: number, only?: number): Promise<DueVersion[]> {
    const due = await this.#dueIn(await this.#workspaceIds(only), (keys) => keys.due, limit)
    return this.#readTasks(due.map(({ workspaceId, name }) => ({ workspaceId, taskId: idOf(name) })))
  }

  async sessions(limit: number, only?: number): Promise<{ workspaceId: number; name: string }[]> {
    return this.#dueIn(await this.#workspaceIds(only), (keys) => keys.sessionsDue, limit)
  }

  /** Each with its share of the limit: only workspaces that have notes of tasks to unblock. */
  async sharesOfNotes(limit: number, only?: number): Promise<{ workspaceId: number; share: number }[]> {
    const ids = await this.#workspaceIds(only)
    const counts = await pipelined(
      this.#client,
      ids.map((id) => ['zcard', this.#keysOf(id).unsettled]),
    )
    const waiting = ids.filter((_, i) => counts[i] !== 0)
    return waiting.map((workspaceId) => ({ workspaceId, share: Math.ceil(limit / waiting.length) }))
  }

  async heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]> {
    const { held } = this.#keysOf(workspaceId)
    const members = await ask(this.#client, (client) =>
      client.zrangebyscore(held, '-inf', before, 'LIMIT', 0, limit),
    )
    const tasks = await this.#readTasks(members.map((name) => ({ workspaceId, taskId: idOf(name) })))
    return tasks.map(({ taskId, uuid }) => ({ workspaceId, taskId, uuid }))
  }

  async #now(): Promise<number> {
    const [seconds, micros] = await ask(this.#client, (client) => client.time())
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  async #dueIn(ids: readonly number[], list: (keys: Keys) => string, limit: number) {
    const now = await this.#now()
    const found = await pipelined(
      this.#client,
      ids.map((id) => ['zrangebyscore', list(this.#keysOf(id)), '-inf', now, 'LIMIT', 0, limit]),
    )
    const due = ids.flatMap((workspaceId, i) => (found[i] as string[]).map((name) => ({ workspaceId, name })))
    return roundRobin(due, limit)
  }

  async #readTasks(tasks: { workspaceId: number; taskId: number }[]): Promise<DueVersion[]> {
    const texts = await pipelined(
      this.#client,
      tasks.map(({ workspaceId, taskId }) => ['get', this.#keysOf(workspaceId).task(taskId)]),
    )
    return tasks.map((task, i) => {
      const { uuid, version, blocked } = readTask(texts[i] as string)
      return { ...task, uuid, version, isBlocked: blocked }
    })
  }
}
