import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect } from 'vitest'
import type { EventType } from '../../src/kinds/events.ts'
import { readPayload } from '../../src/postgres/statements/event-payloads.ts'
import { type AgentProcess, type AgentSettings, launchAgents } from './agent-process.ts'
import { freshDatabase } from './database.ts'
import { type Json, openWorkspace, type Workspace } from './http-workspace.ts'
import { type Launched, launch, ownerKeyIn } from './launched.ts'
import { type Ask, until } from './nodes.ts'
import { CLAIMS, RESULTS } from './relations.ts'
import { callsTo } from './server.ts'
import { dataFolder } from './servers/data-folder.ts'

/** Servers, agents and a database for a file of tests, all of them separate processes; none of it stays behind. */

export interface Served extends Launched {
  url: string
}

export interface Event {
  seq: number
  type: EventType
  task: string | null
  generation: number | null
  actor: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events as a client would
  payload: any
  /** Milliseconds since the epoch, by the database's clock. */
  at: number
}

export interface ClaimRow {
  task: string
  generation: number
  agent: string
  session: string
  state: string
  reason: string | null
  acquiredAt: number
  endedAt: number | null
}

/** Polls until the answer is yes, at a pace that leaves the machine to the processes under test. */
export const eventually = <T>(ask: Ask<T>): Promise<T> => until(ask, { firstMs: 25, lastMs: 400 })

export function useProcesses() {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let records: pg.Pool
  let folder: string
  const ended: (() => unknown)[] = []
  const waited: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    database = await freshDatabase()
    records = new pg.Pool({ connectionString: database.url, max: 2, options: '-c search_path=baton' })
    records.on('error', () => undefined)
    folder = await mkdtemp(join(dataFolder(), 'baton-recovery-'))
    await chmod(folder, 0o755)
  })
  afterAll(async () => {
    for (const end of ended) end()
    await Promise.all(waited.map((wait) => wait()))
    await records.end()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  })

  const rows = async <T>(sql: string, values: unknown[] = []) =>
    (await records.query(sql, values)).rows as T[]

  const processes = {
    databaseUrl: () => database.url,
    ownerKey: () => ownerKeyIn(folder),
    rows,

    /** A server on the database of this file, or through the given connection. */
    async serve(env: Record<string, string> = {}): Promise<Served> {
      const launched = launch({ BATON_DATA: folder, DATABASE_URL: database.url, ...env })
      ended.push(() => launched.child.kill('SIGKILL'))
      waited.push(() => launched.ended)
      return { ...launched, url: await launched.ready }
    },

    agents(settings: AgentSettings): AgentProcess {
      const agents = launchAgents(settings)
      ended.push(() => agents.child.kill('SIGKILL'))
      waited.push(() => agents.ended)
      return agents
    },

    /** A new workspace, as seen through this server. */
    async workspace(url: string, limits: Json = {}) {
      const call = callsTo(`${url}/api/v1`, ownerKeyIn(folder))
      const w = await openWorkspace({ call }, { maxConcurrentClaims: 100_000, ...limits })
      const [own] = (await w.call('GET', '/coordinator/status')).body.workspaces as string[]
      const [found] = await rows<{ id: number }>(
        'select workspace_id as id from workspaces where uuid = $1',
        [own],
      )
      const { id } = found!
      return {
        ...w,
        workspaceId: id,
        agents: (slugs: readonly string[], more: Partial<AgentSettings> = {}) =>
          processes.agents({ url, key: w.ownerKey, slugs, ...more }),
        makeMany: async (count: number, more: Json = {}) => {
          const tasks = Array.from({ length: count }, (_, i) => ({ title: `Task ${i + 1}`, ...more }))
          return (await w.post('/tasks/batch', { tasks })).body.items as { id: string }[]
        },
        ...recordsOf(id, rows),
      }
    },
  }
  return processes
}
export type Processes = ReturnType<typeof useProcesses>
export type RecoveringWorkspace = Awaited<ReturnType<Processes['workspace']>>

/** From now on these agents are lost when they are silent for a second. Before, a busy machine may make them silent, too. */
export async function missSoon(w: Pick<Workspace, 'call'>, ...slugs: string[]): Promise<void> {
  for (const slug of slugs)
    expect((await w.call('PUT', `/agents/${slug}`, { staleThresholdSeconds: 1 })).status).toBe(200)
}

export type Recorded = ReturnType<typeof recordsOf>
type Rows = <T>(sql: string, values?: unknown[]) => Promise<T[]>

/** What is stored of a workspace, read from the tables themselves. */
export function recordsOf(workspaceId: number, rows: Rows) {
  const recorded = async (...types: string[]) => {
    const stored = await rows<Event & { key: string | null }>(
      `select e.seq::int, e.type, t.uuid as task, t.key, e.generation, e.actor, e.payload, ms(e.at)::float8 as at
         from events e left join tasks t on t.workspace_id = e.workspace_id and t.id = e.task_id
        where e.workspace_id = $1 and e.type = any($2::text[]) order by e.seq`,
      [workspaceId, types],
    )
    return stored.map(
      ({ key, ...event }): Event => ({
        ...event,
        payload: readPayload(event, event.payload, key ?? event.task),
      }),
    )
  }
  return {
    recorded,
    /** Waits for so many events of a type. */
    isRecorded: (type: string, times = 1, which: (event: Event) => boolean = () => true) =>
      eventually(async () => {
        const found = (await recorded(type)).filter(which)
        return found.length >= times && found
      }),
    /** As if the waits before the next attempts were over; they are ten seconds and more. */
    retriesAreDue: () =>
      rows(
        `update tasks set due_at = clock_timestamp() where workspace_id = $1 and state = 'awaiting_retry'`,
        [workspaceId],
      ),
    claims: () =>
      rows<ClaimRow>(
        `select t.uuid as task, c.generation, c.agent, c.session, c.state, c.end_reason as reason,
                ms(c.acquired_at)::float8 as "acquiredAt", ms(c.ended_at)::float8 as "endedAt"
           from ${CLAIMS} c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id
          where c.workspace_id = $1 order by c.task_id, c.generation`,
        [workspaceId],
      ),
    results: () =>
      rows<{ task: string; generation: number; accepted: boolean; data: { by: string; from: number } }>(
        `select t.uuid as task, r.generation, r.accepted, r.data
           from ${RESULTS} r join tasks t on t.workspace_id = r.workspace_id and t.id = r.task_id
          where r.workspace_id = $1 order by r.task_id, r.generation`,
        [workspaceId],
      ),
    /** How many tasks are in each state. */
    states: async () => {
      const sql = 'select state, count(*)::int from tasks where workspace_id = $1 group by 1'
      const found = await rows<{ state: string; count: number }>(sql, [workspaceId])
      return Object.fromEntries(found.map(({ state, count }) => [state, count]))
    },
  }
}

/** Each of these tasks has one accepted result, and its holders came one after the other. */
export async function expectDoneOnce(w: Recorded, tasks: readonly { id: string }[]): Promise<void> {
  const accepted = (await w.results()).filter((result) => result.accepted)
  const ids = tasks.map(({ id }) => id).sort()
  expect(accepted.map(({ task }) => task).sort()).toEqual(ids)
  expect(await w.states()).toEqual({ completed: tasks.length })
  const claims = new Map<string, ClaimRow[]>()
  for (const claim of await w.claims()) claims.set(claim.task, [...(claims.get(claim.task) ?? []), claim])
  const wrong = accepted.filter(({ task, generation }) => {
    const own = claims.get(task)!
    const last = own.at(-1)!
    const isInOrder = own.every(
      (claim, i) => claim.generation === i + 1 && claim.acquiredAt >= (own[i - 1]?.endedAt ?? 0),
    )
    return !isInOrder || last.generation !== generation || last.state === 'active'
  })
  expect(wrong).toEqual([])
}
