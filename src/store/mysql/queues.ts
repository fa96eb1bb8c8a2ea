import { createHash } from 'node:crypto'
import type { Head } from '../../core/batch/requests.ts'
import type { TaskRecord } from '../../core/records.ts'
import { inLists, insert } from './bulk.ts'
import { CLOCK } from './clock.ts'
import { textOf, textOrNull } from './columns.ts'
import type { Pool, Row } from './connect.ts'
import { sql } from './sql.ts'

/** A place where tasks wait: all in it are for the same agents. */
export interface Queue {
  id: number
  projectId: number
  line: string
  capabilities: readonly string[]
  onlyAgent: string | null
}

type Place = Pick<TaskRecord, 'projectId' | 'line' | 'capabilities' | 'onlyAgent'>
const placeName = ({ projectId, line, capabilities, onlyAgent }: Place) =>
  JSON.stringify([projectId, line, onlyAgent, ...capabilities])

const REMEMBERED = 100_000

/** The numbers of queues. They are made on their own, before tasks are put in, and may be forgotten while nobody waits. */
export class Queues {
  readonly #pool: Pool
  readonly #numbers = new Map<string, number>()

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** For each of these tasks the queue it waits in. */
  async numbersOf(workspaceId: number, places: readonly Place[]): Promise<number[]> {
    const wanted = places.map((place) => `${workspaceId} ${placeName(place)}`)
    const missing = new Map<string, Place>()
    wanted.forEach((name, i) => {
      if (!this.#numbers.has(name)) missing.set(name, places[i]!)
    })
    if (missing.size > 0) await this.#make(workspaceId, missing)
    return wanted.map((name) => this.#numbers.get(name)!)
  }

  /** One of them was forgotten by another node. */
  lookAgain(): void {
    this.#numbers.clear()
  }

  async #make(workspaceId: number, missing: ReadonlyMap<string, Place>): Promise<void> {
    if (this.#numbers.size > REMEMBERED) this.#numbers.clear()
    const names = new Map([...missing.keys()].map((name) => [signatureOf(name).toString('hex'), name]))
    const rows = [...missing].map(([name, { projectId, line, capabilities, onlyAgent }]) => [
      workspaceId,
      signatureOf(name),
      projectId,
      line,
      JSON.stringify(capabilities),
      onlyAgent,
      CLOCK,
    ])
    const columns = [
      'workspace_id',
      'signature',
      'project_id',
      'line',
      'capabilities',
      'only_agent',
      'made_at',
    ]
    for (const statement of insert(
      'baton_queues',
      columns,
      rows,
      ` on duplicate key update made_at = ${CLOCK.text}`,
    ))
      await this.#pool.ask(statement)
    for (const list of inLists([...names.keys()])) {
      const signatures = list.map((hex) => Buffer.from(hex, 'hex'))
      const found = await this.#pool.rows(
        sql`select signature, queue_id from baton_queues where workspace_id = ${workspaceId} and signature in (${signatures})`,
      )
      for (const [signature, id] of found)
        this.#numbers.set(names.get((signature as Buffer).toString('hex'))!, id as number)
    }
  }
}

const signatureOf = (name: string) => createHash('sha256').update(name).digest()

// The queues in which somebody waits: those for anybody, and those that are kept for these agents. Each is looked into
// once, however many wait; the limit keeps both servers from turning that into a walk through all who wait.
export const queuesWithSomebody = (workspaceId: number, agents: readonly string[]) =>
  sql`select q.queue_id, q.project_id, q.line, q.capabilities, q.only_agent from baton_queues q
       where q.workspace_id = ${workspaceId} and (q.only_agent is null or q.only_agent in (${agents}))
         and (select 1 from baton_waiting w
               where w.workspace_id = q.workspace_id and w.queue_id = q.queue_id limit 1) is not null`

export const readQueue = ([id, projectId, line, capabilities, onlyAgent]: Row): Queue => ({
  id: id as number,
  projectId: projectId as number,
  line: textOf(line),
  capabilities: JSON.parse(capabilities as string),
  onlyAgent: textOrNull(onlyAgent),
})

export const canServe = (capabilities: readonly string[], queue: Queue) =>
  queue.capabilities.every((one) => capabilities.includes(one))

export const isOfHead = ({ capabilities, projectId, lines }: Head, queue: Queue) =>
  queue.onlyAgent === null &&
  (projectId === null || queue.projectId === projectId) &&
  (lines === null || lines.includes(queue.line)) &&
  canServe(capabilities, queue)
