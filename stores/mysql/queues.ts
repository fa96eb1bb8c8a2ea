import { createHash } from 'node:crypto'
import type { QueueQuery } from '../../src/kernel/batch/requests.ts'
import type { ReadSet } from '../../src/kernel/store/portable.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { inLists, insert } from './bulk.ts'
import { NOW } from './clock.ts'
import { textOf, textOrNull } from './columns.ts'
import type { Pool, Row } from './connect.ts'
import { sql } from './sql.ts'

/** A ready queue: all tasks in it are for the same agents. */
export interface Queue {
  id: number
  projectId: number
  trackQueue: string
  capabilities: readonly string[]
  onlyAgent: string | null
}

type QueueKey = Pick<TaskRecord, 'projectId' | 'trackQueue' | 'capabilities' | 'onlyAgent'>
const placeName = ({ projectId, trackQueue, capabilities, onlyAgent }: QueueKey) =>
  JSON.stringify([projectId, trackQueue, onlyAgent, ...capabilities])

const MOST_CACHED = 100_000

/** The ids of queues. Queues are created separately, before tasks are inserted, and may be deleted while they are empty. */
export class Queues {
  readonly #pool: Pool
  readonly #numbers = new Map<string, number>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** For each of these tasks the queue it waits in. */
  async numbersOf(workspaceId: number, places: readonly QueueKey[]): Promise<number[]> {
    const wanted = places.map((place) => `${workspaceId} ${placeName(place)}`)
    const missing = new Map<string, QueueKey>()
    wanted.forEach((name, i) => {
      if (!this.#numbers.has(name)) missing.set(name, places[i]!)
    })
    // Copied before anything is awaited: the cache may be cleared meanwhile.
    const known = wanted.map((name) => this.#numbers.get(name))
    const made = missing.size > 0 ? await this.#make(workspaceId, missing) : new Map<string, number>()
    return wanted.map((name, i) => known[i] ?? made.get(name)!)
  }

  /** Another node deleted a queue: drop the cache. */
  reload(): void {
    this.#numbers.clear()
  }

  async #make(workspaceId: number, missing: ReadonlyMap<string, QueueKey>): Promise<Map<string, number>> {
    if (this.#numbers.size > MOST_CACHED) this.#numbers.clear()
    const names = new Map([...missing.keys()].map((name) => [signatureOf(name).toString('hex'), name]))
    const rows = [...missing].map(([name, { projectId, trackQueue, capabilities, onlyAgent }]) => [
      workspaceId,
      signatureOf(name),
      projectId,
      trackQueue,
      JSON.stringify(capabilities),
      onlyAgent,
      NOW,
    ])
    const columns = [
      'workspace_id',
      'signature',
      'project_id',
      'track_queue',
      'capabilities',
      'only_agent',
      'made_at',
    ]
    const isThere = ` on duplicate key update made_at = ${NOW.text}`
    for (const statement of insert('baton_queues', columns, rows, isThere)) await this.#pool.ask(statement)
    const made = new Map<string, number>()
    for (const list of inLists([...names.keys()])) {
      const signatures = list.map((hex) => Buffer.from(hex, 'hex'))
      const found = await this.#pool.rows(
        sql`select signature, queue_id from baton_queues where workspace_id = ${workspaceId} and signature in (${signatures})`,
      )
      for (const [signature, id] of found)
        made.set(names.get((signature as Buffer).toString('hex'))!, id as number)
    }
    for (const [name, id] of made) this.#numbers.set(name, id)
    return made
  }
}

const signatureOf = (name: string) => createHash('sha256').update(name).digest()

// The non-empty queues: those for all agents, and those reserved for these agents. Each is probed once, however many tasks
// wait; the limit keeps both servers from turning that into a scan of all waiting tasks.
export const nonEmptyQueues = (workspaceId: number, agents: readonly string[]) =>
  sql`select q.queue_id, q.project_id, q.track_queue, q.capabilities, q.only_agent from baton_queues q
       where q.workspace_id = ${workspaceId} and (q.only_agent is null or q.only_agent in (${agents}))
         and (select 1 from baton_waiting w
               where w.workspace_id = q.workspace_id and w.queue_id = q.queue_id limit 1) is not null`

export const readQueue = ([id, projectId, trackQueue, capabilities, onlyAgent]: Row): Queue => ({
  id: id as number,
  projectId: projectId as number,
  trackQueue: textOf(trackQueue),
  capabilities: JSON.parse(capabilities as string),
  onlyAgent: textOrNull(onlyAgent),
})

export const canServe = (capabilities: readonly string[], queue: Queue) =>
  queue.capabilities.every((one) => capabilities.includes(one))

export const matchesQuery = ({ capabilities, projectId, trackQueues }: QueueQuery, queue: Queue) =>
  queue.onlyAgent === null &&
  (projectId === null || queue.projectId === projectId) &&
  (trackQueues === null || trackQueues.includes(queue.trackQueue)) &&
  canServe(capabilities, queue)

/** However many queues match one query, at least this many tasks of each are read. */
const FEW = 4
/** How many tasks several queues together may return, if that is more than the query's limit. */
const PLENTY = 2_000

/** How many tasks to read of each queue. All tasks for a query could be in one queue, but not in each of hundreds. */
export function rowsWanted({ waiting, reserved }: ReadSet, queues: readonly Queue[]): Map<Queue, number> {
  const wanted = new Map<Queue, number>()
  const want = (fitting: readonly Queue[], limit: number) => {
    const share = Math.max(FEW, Math.ceil(Math.max(limit, PLENTY) / fitting.length))
    for (const queue of fitting) wanted.set(queue, Math.max(wanted.get(queue) ?? 0, Math.min(limit, share)))
  }
  for (const query of waiting)
    want(
      queues.filter((queue) => matchesQuery(query, queue)),
      query.limit,
    )
  for (const { agent, capabilities, limit } of reserved)
    want(
      queues.filter((queue) => queue.onlyAgent === agent && canServe(capabilities, queue)),
      limit,
    )
  return wanted
}
