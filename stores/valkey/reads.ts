import type { Redis } from 'ioredis'
import { keyName, type NewKey } from '../../src/kernel/batch/requests.ts'
import type {
  Reader,
  StoredClaim,
  StoredDependency,
  StoredResult,
  StoredTask,
  TaskFilter,
} from '../../src/kernel/store/store.ts'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type { TaskDetails } from '../../src/kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/kinds/workspace/limits.ts'
import { lastClaimOf, needsIn, readClaim, readCounted, readEvent, readMarkedTask, readTask } from './codec.ts'
import { ask, together } from './connect.ts'
import { EVENTS_PER_LIST, idOf, type Keys } from './keys.ts'
import { readResult } from './results.ts'
import { Script } from './script.ts'
import { metaOf } from './workspaces.ts'

/** Tasks read in one step of a search. */
const SEARCH_STEP = 500

const WHOLE_TASKS = 1_000

/** Tasks with their details. KEYS: meta, which exists for every task. ARGV: the tag of all keys, ids. */
const WHOLE = `
local tag, found = ARGV[1], {}
for i = 2, #ARGV do
  local id = ARGV[i]
  found[i - 1] = {
    redis.call('GET', tag .. 'task:' .. id), redis.call('GET', tag .. 'details:' .. id),
    redis.call('HGETALL', tag .. 'changed:' .. id), redis.call('LRANGE', tag .. 'needs:' .. id, 0, -1)
  }
end
return found
`
const wholeTasks = new Script(WHOLE)
type Details = [made: string, changed: string[], needs: string[]]
type WholeTask = [record: string | null, ...Details]

/** Reads are consistent: what belongs together is read in one transaction. */
export class ValkeyReader implements Reader {
  protected readonly reader: Redis
  protected readonly keysOf: (workspaceId: number) => Keys

  constructor(reader: Redis, keysOf: (workspaceId: number) => Keys) {
    this.reader = reader
    this.keysOf = keysOf
  }

  async task(workspaceId: number, taskId: number): Promise<StoredTask | null> {
    return (await this.tasksById(workspaceId, [taskId]))[0] ?? null
  }

  async tasksById(workspaceId: number, taskIds: readonly number[]): Promise<StoredTask[]> {
    const found = await this.#wholeTasks(workspaceId, taskIds)
    return found.flatMap(([record, ...details]) =>
      record === null ? [] : [{ record: readTask(record), details: readDetails(details) }],
    )
  }

  async recordsById(workspaceId: number, taskIds: readonly number[]): Promise<TaskRecord[]> {
    return (await this.tasksById(workspaceId, taskIds)).map(({ record }) => record)
  }

  async records(workspaceId: number, filter: TaskFilter, limit: number): Promise<TaskRecord[]> {
    return (await this.tasks(workspaceId, filter, limit)).map(({ record }) => record)
  }

  async detailsOf(workspaceId: number, records: readonly TaskRecord[]): Promise<TaskDetails[]> {
    const found = await this.#wholeTasks(
      workspaceId,
      records.map(({ id }) => id),
    )
    return found.map(([, ...details]) => readDetails(details))
  }

  /** In pieces, since the server does nothing else during a read. */
  async #wholeTasks(workspaceId: number, taskIds: readonly number[]): Promise<WholeTask[]> {
    const { meta, tag } = this.keysOf(workspaceId)
    const found: WholeTask[] = []
    for (let i = 0; i < taskIds.length; i += WHOLE_TASKS) {
      const ids = taskIds.slice(i, i + WHOLE_TASKS).map(String)
      found.push(
        ...(await ask(this.reader, (client) => wholeTasks.run<WholeTask[]>(client, [meta], [tag, ...ids]))),
      )
    }
    return found
  }

  async tasksByKey(workspaceId: number, wanted: readonly NewKey[]): Promise<TaskRecord[]> {
    if (wanted.length === 0) return []
    const names = [...new Set(wanted.map(({ projectId, key }) => keyName(projectId, key)))]
    const ids = await ask(this.reader, (client) => client.hmget(this.keysOf(workspaceId).taskKeys, ...names))
    return this.#recordsOf(workspaceId, ids.filter((id) => id !== null).map(Number))
  }

  /** Tasks of a user and dead letters have their own lists; for states, a list is walked from the newest task on. */
  async tasks(workspaceId: number, filter: TaskFilter, limit: number): Promise<StoredTask[]> {
    const { states, userId, deadLetters, before = Number.POSITIVE_INFINITY } = filter
    const isListed = ({ state, archivedAt }: TaskRecord) =>
      archivedAt === null && (!states || states.includes(state))
    const isWanted = ({ record, details }: StoredTask) =>
      isListed(record) &&
      (userId === undefined || details.userId === userId) &&
      (!deadLetters || (record.state === 'failed' && Boolean(details.exhausted)))
    const found: StoredTask[] = []
    let last = before
    while (found.length < limit) {
      const ids = await this.#newestBelow(workspaceId, filter, last, states ? SEARCH_STEP : limit)
      if (ids.length === 0) break
      last = ids.at(-1)!
      const candidates = states ? await this.#recordsOf(workspaceId, ids) : null
      const fitting = candidates ? candidates.filter(isListed).map(({ id }) => id) : ids
      // A task that changed since it was found is checked again, so that the answer matches the filter.
      for (let i = 0; i < fitting.length && found.length < limit; i += limit)
        found.push(...(await this.tasksById(workspaceId, fitting.slice(i, i + limit))).filter(isWanted))
    }
    return found.slice(0, limit)
  }

  async dependencies(workspaceId: number, taskId: number): Promise<StoredDependency[]> {
    const { needs, counted } = this.keysOf(workspaceId)
    const list = needsIn(await ask(this.reader, (client) => client.lrange(needs(taskId), 0, -1)))
    const upstream = await this.#recordsOf(
      workspaceId,
      list.map(([id]) => id),
    )
    const counts = await ask(this.reader, (client) => client.hgetall(counted(taskId)))
    return list.map(([id, uuid, triggerRule, kind], i) => {
      const { state, version } = upstream[i]!
      const { countedVersion, outcome } = readCounted(counts[id]!)
      return { uuid, state, version, triggerRule, kind, countedVersion, outcome }
    })
  }

  async claims(workspaceId: number, taskId: number): Promise<StoredClaim[]> {
    const keys = this.keysOf(workspaceId)
    const [past, text, [seconds, micros]] = (await together(this.reader, [
      ['lrange', keys.claims(taskId), 0, -1],
      ['get', keys.task(taskId)],
      ['time'],
    ])) as [string[], string | null, [seconds: string, micros: string]]
    if (text === null) return []
    const task = readMarkedTask(text)
    // The last claim is part of the task, so it does not expire as the earlier ones do.
    const { claimsKeptUntil } = task.marks
    const isKept =
      claimsKeptUntil === null || claimsKeptUntil > Number(seconds) * 1000 + Number(micros) / 1000
    const last = isKept ? lastClaimOf(task) : null
    return [...past.map(readClaim), ...(last ? [last] : [])]
  }

  async results(workspaceId: number, taskId: number): Promise<StoredResult[]> {
    const keys = this.keysOf(workspaceId)
    const text = await ask(this.reader, (client) => client.get(keys.task(taskId)))
    const count = text === null ? 0 : readMarkedTask(text).marks.results
    if (count === 0) return []
    const names = Array.from({ length: count }, (_, place) => keys.result(taskId, place))
    const texts = await ask(this.reader, (client) => client.mget(names))
    return texts
      .map((one) => readResult(one!))
      .map(({ data, ...head }) => ({ ...head, data: JSON.parse(data) }))
  }

  async events(workspaceId: number, after: number, limit: number): Promise<StoredEvent[]> {
    const keys = this.keysOf(workspaceId)
    const commands: (string | number)[][] = []
    const last = after + limit
    for (let seq = after + 1; seq <= last; ) {
      const place = (seq - 1) % EVENTS_PER_LIST
      const count = Math.min(EVENTS_PER_LIST - place, last - seq + 1)
      commands.push(['lrange', keys.events(seq), place, place + count - 1])
      seq += count
    }
    const texts = (await together(this.reader, commands)).flat() as string[]
    return texts.map((text, i) => readEvent(text, after + 1 + i))
  }

  async lastSeq(workspaceId: number): Promise<number> {
    return Number((await this.#meta(workspaceId, ['seq'])).seq)
  }

  async session(workspaceId: number, name: string): Promise<SessionRecord | null> {
    const text = await ask(this.reader, (client) => client.get(this.keysOf(workspaceId).session(name)))
    return text === null ? null : JSON.parse(text)
  }

  async sessions(workspaceId: number, { workersOnly, limit }: { workersOnly: boolean; limit: number }) {
    const keys = this.keysOf(workspaceId)
    const list = workersOnly ? keys.workers : keys.sessions
    const names = await ask(this.reader, (client) => client.zrange(list, 0, limit - 1))
    if (names.length === 0) return []
    const texts = await ask(this.reader, (client) => client.mget(names.map(keys.session)))
    return texts.map((text) => JSON.parse(text!) as SessionRecord)
  }

  async limits(workspaceId: number): Promise<Limits> {
    return { ...DEFAULT_LIMITS, ...JSON.parse((await this.#meta(workspaceId, ['limits'])).limits) }
  }

  async counts(workspaceId: number) {
    const counts = await this.#meta(workspaceId, ['activeClaims', 'activeSessions'])
    return { activeClaims: Number(counts.activeClaims), activeSessions: Number(counts.activeSessions) }
  }

  #meta<F extends string>(workspaceId: number, fields: readonly F[]) {
    return metaOf(this.reader, this.keysOf(workspaceId), workspaceId, fields)
  }

  async #recordsOf(workspaceId: number, ids: readonly number[]): Promise<TaskRecord[]> {
    if (ids.length === 0) return []
    const texts = await ask(this.reader, (client) => client.mget(ids.map(this.keysOf(workspaceId).task)))
    return texts.filter((text) => text !== null).map(readTask)
  }

  /** Ids below this one, highest first: of a user, of dead letters, or of all, which are numbered without gaps. */
  async #newestBelow(
    workspaceId: number,
    { userId, deadLetters }: TaskFilter,
    before: number,
    count: number,
  ): Promise<number[]> {
    const keys = this.keysOf(workspaceId)
    const list = deadLetters ? keys.deadLetters : userId === undefined ? null : keys.user(userId)
    if (list) {
      const below = before === Number.POSITIVE_INFINITY ? '+inf' : `(${before}`
      const found = await ask(this.reader, (client) =>
        client.zrevrangebyscore(list, below, '-inf', 'LIMIT', 0, count),
      )
      return found.map(idOf)
    }
    const lastId = Number((await this.#meta(workspaceId, ['lastId'])).lastId)
    const highest = Math.min(lastId, Math.ceil(before) - 1)
    return Array.from({ length: Math.max(0, Math.min(count, highest)) }, (_, i) => highest - i)
  }
}

export function readDetails([made, changed, needs]: Details): TaskDetails {
  const details = JSON.parse(made)
  details.dependsOn = needs.map((text) => JSON.parse(text)[1])
  for (let i = 0; i < changed.length; i += 2) details[changed[i]!] = JSON.parse(changed[i + 1]!)
  return details
}
