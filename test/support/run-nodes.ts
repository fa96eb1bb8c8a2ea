import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect } from 'vitest'
import { entryOf } from '../../src/adapters/child/identity.ts'
import { processesWithMarkers } from '../../src/adapters/child/tree.ts'
import { contradictions } from '../crash/checks.ts'
import { freshDatabase } from './database.ts'
import { type Json, openWorkspace, type Task } from './http-workspace.ts'
import {
  allGone,
  embeddedUrl,
  killProcess,
  type Launched,
  launch,
  ownerKeyIn,
  processesOn,
} from './launched.ts'
import { eventually, recordsOf, type Served } from './recovery.ts'
import { CLAIMS } from './relations.ts'
import { callsTo, type ServerUnderTest } from './server.ts'
import { dataFolder } from './servers/data-folder.ts'

/** Servers that run agents, as separate processes: they can be killed, and what their agents leave is checked. */

export type WorkerKind =
  | 'plain'
  | 'deaf'
  | 'tidy'
  | 'setsid'
  | 'pipes'
  | 'prints'
  | 'submits'
  | 'continues'
  | 'steps'

/** What a worker has used, before it waits and when it is done, as the API shows it. */
export const USED = {
  sofar: { tokens: { input: 30, cachedInput: 9, cacheWrite: null, output: 4 }, usageBasis: 'partial' },
  inAll: { tokens: { input: 50, cachedInput: 12, cacheWrite: null, output: 9 }, usageBasis: 'reported' },
}

export interface Life {
  run: string
  task: string | null
  generation: number
  /** The session it got to resume. */
  resumes: string | null
  pids: number[]
  /** Processes of earlier starts at the same task that were still alive when this one began. */
  predecessors: number[]
}

/** A run as the API shows it. */
export interface ShownRun {
  id: string
  agent: string
  status: string
  errorCode: string | null
  taskId: string | null
  generation: number | null
  tokens: (typeof USED)['inAll']['tokens'] | null
  usageBasis: string | null
  costUsd: string | null
  sessionIdBefore: string | null
  sessionIdAfter: string | null
  log: { bytes: number | null; sha256: string | null; status: string } | null
  nodeId: string
  pid: number | null
}

const WORKER = resolve(import.meta.dirname, 'processes/worker.mjs')
export const isThere = (pid: number) => entryOf(pid)?.isZombie === false

export function useRunNodes() {
  let folder: string
  let undo: (() => Promise<unknown>)[]
  const started: Launched[] = []

  beforeEach(async () => {
    undo = []
    folder = await mkdtemp(join(dataFolder(), 'baton-runs-'))
    await chmod(folder, 0o755)
  })
  afterEach(async () => {
    for (const { child } of started) child.kill('SIGKILL')
    await Promise.all(started.splice(0).map(({ ended }) => ended))
    for (const process_ of processesOn(folder)) killProcess(process_)
    await allGone(folder)
    for (const act of undo.reverse()) await act()
    await rm(folder, { recursive: true, force: true })
  })

  return {
    /** A data folder and a database for servers; `embedded` is the one a server starts itself. */
    async cluster(kind: 'embedded' | 'shared' = 'shared') {
      const home = await mkdtemp(join(folder, 'cluster-'))
      await chmod(home, 0o755)
      const database = kind === 'shared' ? await freshDatabase() : null
      if (database) undo.push(database.drop)
      return new Cluster(home, database?.url ?? null, (env) => {
        const launched = launch({ BATON_DATA: join(home, 'data'), ...env })
        started.push(launched)
        return launched
      })
    },
  }
}

export class Cluster {
  readonly home: string
  readonly #databaseUrl: string | null
  readonly #launch: (env: Record<string, string>) => Launched
  #serving: Served | null = null

  constructor(home: string, databaseUrl: string | null, launch_: (env: Record<string, string>) => Launched) {
    this.home = home
    this.#databaseUrl = databaseUrl
    this.#launch = launch_
  }

  get data(): string {
    return join(this.home, 'data')
  }

  /** As its superuser; the embedded one may have another port after a restart. */
  get databaseUrl(): string {
    return this.#databaseUrl ?? embeddedUrl(this.data)
  }

  /** A server, which gets all requests from now on. */
  async serve(env: Record<string, string> = {}): Promise<Served> {
    const launched = this.#launch({
      ...(this.#databaseUrl && { DATABASE_URL: this.#databaseUrl }),
      ...env,
    })
    const url = await launched.ready
    this.#serving = { ...launched, url }
    return this.#serving
  }

  /** The server that was started last. */
  get serving(): Served {
    return this.#serving!
  }

  async kill(node: Served): Promise<void> {
    node.child.kill('SIGKILL')
    expect(await node.ended).toEqual({ code: null, signal: 'SIGKILL' })
  }

  /** Every process that carries the id of a run of this cluster. */
  async processes(): Promise<number[]> {
    const runs = await this.rows<{ id: string }>('select run_id as id from runs')
    const found = processesWithMarkers()
    return runs.flatMap(({ id }) => found.get(id) ?? [])
  }

  async rows<T>(sql: string, values: unknown[] = []): Promise<T[]> {
    return this.asSuperuser(async (client) => (await client.query(sql, values)).rows as T[])
  }

  async asSuperuser<T>(act: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({
      connectionString: this.databaseUrl,
      options: '-c search_path=baton',
      application_name: 'test',
    })
    await client.connect()
    try {
      return await act(client)
    } finally {
      await client.end()
    }
  }

  /** A new workspace, its agents and their runs, as the server that was started last shows them. */
  async workspace(limits: Json = {}) {
    const call: ServerUnderTest['call'] = (...asked) =>
      callsTo(`${this.serving.url}/api/v1`, ownerKeyIn(this.data))(...asked)
    const w = await openWorkspace({ call }, { minLeaseSeconds: 1, ...limits })
    const [found] = await this.rows<{ id: number }>('select max(workspace_id)::int as id from workspaces')
    const runs = async (query = ''): Promise<ShownRun[]> => {
      const { status, body } = await w.call('GET', `/runs?limit=200${query}`)
      expect(status).toBe(200)
      return body.items
    }
    const hire = async (slug: string, body: Json) => {
      const answer = await w.call('PUT', `/agents/${slug}`, body)
      expect(answer.body).toMatchObject({ slug })
    }
    return {
      ...w,
      ...recordsOf(found!.id, (sql, values) => this.rows(sql, values)),
      runs,
      hire,
      /** An agent with this program, and its home folder. */
      hireWorker: async (
        slug: string,
        kind: WorkerKind,
        { graceSec = 1, runtimeConfig = {} }: { graceSec?: number; runtimeConfig?: Json } = {},
      ) => {
        const home = await this.room(slug)
        const args = [WORKER, kind, home]
        const adapterConfig = { command: process.execPath, args, graceSec }
        await hire(slug, {
          adapterType: 'process',
          adapterConfig,
          runtimeConfig,
          maxConcurrentTasks: 10,
          batchSize: 10,
        })
        return home
      },
      /** The runs of a task, the oldest first, once there are so many of this status. */
      runsOf: (task: Task, status: string, count = 1) =>
        eventually(async () => {
          const own = (await runs()).filter(({ taskId }) => taskId === task.id).reverse()
          return own.filter((run) => run.status === status).length >= count && own
        }),
      log: async (runId: string): Promise<string> => {
        const { body } = await w.call('GET', `/runs/${runId}/log?limitBytes=4000000`)
        return body.content
      },
      /** The run of a worker that has printed everything it prints before it waits, all of it in the log. */
      waits: async (task: Task): Promise<ShownRun> => {
        const run = await eventually(async () =>
          (await runs('&status=running')).find(({ taskId }) => taskId === task.id),
        )
        await eventually(async () => {
          const { body } = await w.call('GET', `/runs/${run.id}/log?limitBytes=4000000`)
          return body.content.includes('waiting')
        })
        return (await w.call('GET', `/runs/${run.id}`)).body
      },
    }
  }

  /**
   * Blocks every transaction that is about to write such a row. `reached` resolves when one is blocked; `lift` breaks the
   * connections of all that are, as if they had been cut off at that moment, and removes the block.
   */
  async faultPoint(table: string, event: string, when: string) {
    const guard = new pg.Client({ connectionString: this.databaseUrl, options: '-c search_path=baton' })
    await guard.connect()
    await guard.query(`select pg_advisory_lock(4711)`)
    await guard.query(`create function fault() returns trigger language plpgsql
      as $$ begin perform pg_advisory_xact_lock(4711); return new; end $$`)
    await guard.query(
      `create trigger fault before ${event} on ${table} for each row when (${when}) execute function fault()`,
    )
    const stopped = `from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`
    return {
      reached: () => eventually(async () => (await guard.query(`select ${stopped}`)).rowCount),
      lift: async () => {
        await guard.query(`select pg_terminate_backend(pid) ${stopped}`)
        await eventually(async () => (await guard.query(`select ${stopped}`)).rowCount === 0)
        await guard.query(`drop trigger fault on ${table}; drop function fault()`)
        await guard.end()
      },
    }
  }

  async room(name: string): Promise<string> {
    const room = join(this.home, name)
    await mkdir(room, { recursive: true })
    return room
  }

  /** Nothing here contradicts itself, and nothing is left of ended runs. */
  async expectInOrder(): Promise<void> {
    expect(await contradictions(this.databaseUrl, null)).toEqual([])
    expect(await this.asSuperuser(contradictingRuns)).toEqual([])
    const over = await this.rows<{ id: string }>(
      'select run_id as id from runs where finished_at is not null',
    )
    const found = processesWithMarkers()
    expect(over.filter(({ id }) => found.has(id))).toEqual([])
  }
}
export type RunsWorkspace = Awaited<ReturnType<Cluster['workspace']>>

/** From now on workers in this folder do not wait. */
export const release = (room: string) => writeFile(join(room, 'go'), '')

export function livesIn(room: string): Life[] {
  const file = join(room, 'lives.jsonl')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** The log is what its run says it is, to the byte. */
export async function expectWholeLog(w: RunsWorkspace, { id, log }: ShownRun): Promise<string> {
  const content = await w.log(id)
  expect(log).toMatchObject({
    status: 'available',
    bytes: Buffer.byteLength(content),
    sha256: createHash('sha256').update(content).digest('hex'),
  })
  return content
}

/** Invariants of runs at every moment, each with a query for its violations. */
const OF_RUNS: Record<string, string> = {
  'The usage of an agent is the sum of the usage of its runs (12).': `
    select s.agent, s.runs, s.total_input_tokens, r.* from agent_runtime_state s left join lateral (
        select count(*) as count, coalesce(sum(input_tokens), 0) as input, coalesce(sum(cached_input_tokens), 0) as cached,
               coalesce(sum(output_tokens), 0) as output, coalesce(sum(cost_usd), 0) as cost
          from runs r where r.workspace_id = s.workspace_id and r.agent = s.agent and r.finished_at is not null) r on true
     where (s.runs, s.total_input_tokens, s.total_cached_input_tokens, s.total_output_tokens, s.total_cost_usd)
        is distinct from (r.count, r.input, r.cached, r.output, r.cost)`,

  'An agent has no more runs at once than it may (14).': `
    select a.slug, count(*) from runs r join agents a on a.workspace_id = r.workspace_id and a.slug = r.agent
     where r.finished_at is null group by a.slug, a.max_concurrent_tasks having count(*) > a.max_concurrent_tasks`,

  'A wakeup is claimed exactly while its run is active.': `
    select w.wakeup_id, w.status, r.status as run from wakeups w full join runs r
        on r.workspace_id = w.workspace_id and r.wakeup_id = w.wakeup_id
     where (w.status = 'claimed') is distinct from (r.run_id is not null and r.finished_at is null)`,

  'Each run was queued and finished by one event, and started by one at most.': `
    select r.run_id, r.status from runs r left join events e
        on e.workspace_id = r.workspace_id and e.payload->>'runId' = r.run_id::text
     group by r.workspace_id, r.run_id
    having count(*) filter (where e.type = 'run_queued') <> 1
        or count(*) filter (where e.type = 'run_started') <> (case when r.started_at is null then 0 else 1 end)
        or count(*) filter (where e.type = 'run_finished') <> (case when r.finished_at is null then 0 else 1 end)`,

  'A run that is over has no token.': `select run_id from runs where finished_at is not null and token_hash is not null`,

  'A claim of an agent that Baton runs, once started, has its run.': `
    select t.uuid, c.agent from ${CLAIMS} c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id
      join agents a on a.workspace_id = c.workspace_id and a.slug = c.agent and a.adapter_type <> 'external'
     where c.state = 'active' and t.state = 'running' and not exists (select from runs r where r.workspace_id = c.workspace_id
       and r.finished_at is null and (r.status = 'queued' and r.agent = c.agent or r.task_id = c.task_id and r.generation = c.generation))`,
}

async function contradictingRuns(client: pg.Client): Promise<string[]> {
  const found: string[] = []
  for (const [says, sql] of Object.entries(OF_RUNS)) {
    const { rows } = await client.query(`${sql} limit 1`)
    if (rows[0]) found.push(`${says} But: ${JSON.stringify(rows[0])}`)
  }
  return found
}
