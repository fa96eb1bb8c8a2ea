import type { Redis } from 'ioredis'
import type { DueTask, TaskWithHour } from '../store.ts'
import { readTask } from './codec.ts'
import { ask, inTurn } from './connect.ts'
import { idOf, type Keys } from './keys.ts'

/** What upkeep asks. Each workspace has its own lists, sorted by time, so asking costs what is due, not what waits. */
export class Due {
  readonly #client: Redis
  readonly #keysOf: (workspaceId: number) => Keys
  readonly #workspaces: string

  constructor(client: Redis, keysOf: (workspaceId: number) => Keys, workspaces: string) {
    this.#client = client
    this.#keysOf = keysOf
    this.#workspaces = workspaces
  }

  async workspaceIds(): Promise<number[]> {
    return (await ask(this.#client, (client) => client.hvals(this.#workspaces))).map(Number)
  }

  async tasks(limit: number): Promise<TaskWithHour[]> {
    const due = await this.#everywhere((keys) => keys.due, await this.#now(), limit)
    return this.#asTheyAre(due.map(({ workspaceId, name }) => ({ workspaceId, taskId: idOf(name) })))
  }

  async sessions(limit: number): Promise<{ workspaceId: number; name: string }[]> {
    return this.#everywhere((keys) => keys.sessionsDue, await this.#now(), limit)
  }

  async heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]> {
    const { held } = this.#keysOf(workspaceId)
    const members = await ask(this.#client, (client) =>
      client.zrangebyscore(held, '-inf', before, 'LIMIT', 0, limit),
    )
    const tasks = await this.#asTheyAre(members.map((name) => ({ workspaceId, taskId: idOf(name) })))
    return tasks.map(({ taskId, uuid }) => ({ workspaceId, taskId, uuid }))
  }

  /** The server's clock. */
  async #now(): Promise<number> {
    const [seconds, micros] = await ask(this.#client, (client) => client.time())
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  }

  async #everywhere(list: (keys: Keys) => string, now: number, limit: number) {
    const ids = await this.workspaceIds()
    const found = await inTurn(
      this.#client,
      ids.map((id) => ['zrangebyscore', list(this.#keysOf(id)), '-inf', now, 'LIMIT', 0, limit]),
    )
    return ids
      .flatMap((workspaceId, i) => (found[i] as string[]).map((name) => ({ workspaceId, name })))
      .slice(0, limit)
  }

  async #asTheyAre(tasks: { workspaceId: number; taskId: number }[]): Promise<TaskWithHour[]> {
    const texts = await inTurn(
      this.#client,
      tasks.map(({ workspaceId, taskId }) => ['get', this.#keysOf(workspaceId).task(taskId)]),
    )
    return tasks.map((task, i) => {
      const { uuid, version, blocked } = readTask(texts[i] as string)
      return { ...task, uuid, version, isBlocked: blocked }
    })
  }
}
