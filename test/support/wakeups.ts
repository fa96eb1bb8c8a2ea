import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { bootId, startTimeOf, thisMachine } from '../../src/adapters/child/identity.ts'
import type { AdapterInvokeInput, AdapterInvokeResult, AgentRunAdapter } from '../../src/adapters/protocol.ts'
import type { ServerKernel } from '../../src/door/server-kernel.ts'
import { composeAdapters, composeExecutor } from '../../src/executor/compose.ts'
import type { ExecutorContext } from '../../src/executor/context.ts'
import { Executor } from '../../src/executor/executor.ts'
import { recoverRuns } from '../../src/executor/recovery.ts'
import { systemCaller } from '../../src/kernel/caller.ts'
import { freshUuid } from '../../src/kernel/fresh-uuid.ts'
import { commandAgent } from '../../src/kinds/agent/acts/agents.ts'
import type { AgentProfile } from '../../src/kinds/agent/record.ts'
import { wakeForWork } from '../../src/kinds/run/acts/wakeups.ts'
import { dueWakeups } from '../../src/kinds/run/postgres/dispatch.ts'
import type { RunEnd, Wakeup } from '../../src/kinds/run/record.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { serverDirectory } from '../../src/store/directory.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { Node } from '../../src/upkeep/node.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { assign } from './assign.ts'
import { freshDatabase } from './database.ts'
import { askForWakeups, ENDED, finishRun, takeWakeup, type WakeupFields, wakeupRequest } from './run-steps.ts'
import { type Task, Work } from './tasks.ts'

/** Wakeups and executors, on a real database and without a server in front. */

const VERSION = '0.0.0'
const ANY_AGENT = { adapters: ['*'], commands: null, env: [] }
/** The name of the node that decides in tests without executors. */
export const HERE = 'here'

/** A database for a file of tests. */
export function useCluster() {
  let database: Awaited<ReturnType<typeof freshDatabase>>
  let store: PostgresStore
  let kernel: ServerKernel
  let records: pg.Pool
  let folder: string

  beforeAll(async () => {
    database = await freshDatabase()
    store = await PostgresStore.open(database.url)
    kernel = openKernel(store, serverDirectory(store))
    records = new pg.Pool({ connectionString: database.url, max: 3, options: '-c search_path=baton' })
    records.on('error', () => undefined)
    folder = mkdtempSync(join(tmpdir(), 'baton-wakeups-'))
  })
  afterAll(async () => {
    await records.end()
    await kernel.close()
    await store.close()
    await database.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  const rows = async <T>(sql: string, values: unknown[] = []) =>
    (await records.query(sql, values)).rows as T[]

  return {
    store: () => store,
    kernel: () => kernel,
    url: () => database.url,
    rows,
    workspace: async (limits: Partial<Limits> = {}) => {
      const { workspaceId } = await createWorkspace(store, 'test', 'test', {
        maxConcurrentClaims: 100_000,
        ...limits,
      })
      return new WakeupWorkspace(store, kernel, workspaceId, rows)
    },
    /** A process that runs agents, as far as the database can tell; until the test is over. */
    async node(name: string, mostRuns = 64): Promise<RunningNode> {
      const node = await RunningNode.start(database.url, name, folder, mostRuns)
      onTestFinished(() => node.stop())
      return node
    },
  }
}

export type Rows = <T>(sql: string, values?: unknown[]) => Promise<T[]>

/** A workspace, its agents and what wakes them. */
export class WakeupWorkspace {
  readonly store: PostgresStore
  readonly kernel: ServerKernel
  readonly id: number
  readonly work: Work
  readonly rows: Rows
  readonly #agents = new Set<string>()

  constructor(store: PostgresStore, kernel: ServerKernel, id: number, rows: Rows) {
    this.store = store
    this.kernel = kernel
    this.id = id
    this.work = new Work(store, id)
    this.rows = rows
  }

  async agent(slug: string, heartbeat: Record<string, unknown> = {}, more: Partial<AgentProfile> = {}) {
    const profile = { adapterType: 'scripted', runtimeConfig: { heartbeat }, ...more }
    const command = { kind: 'register', profile, ifVersion: null } as const
    const { record } = await commandAgent(this.kernel, systemCaller(this.id), slug, command)
    this.#agents.add(record.uuid)
    return record
  }

  /** The runs of this workspace that these nodes started. */
  invokedBy = (...nodes: readonly RunningNode[]) =>
    nodes.flatMap(({ invoked }) => invoked).filter(({ input }) => this.#agents.has(input.agentId))

  async wake(agent: string, ask: WakeupFields = {}, store = this.store): Promise<Wakeup> {
    return (await askForWakeups(store, this.id, [{ agent, asked: wakeupRequest(ask) }]))[0]!
  }

  /** As the coordinator does it: the task is claimed for the agent, which did not ask. */
  async assign(agent: string, task: Task, leaseMs?: number): Promise<void> {
    const reply = await assign(this.work, task, { agent, session: `agent:${agent}` }, leaseMs)
    if (!reply.ok) throw new Error(`${reply.code}: ${reply.detail}`)
  }

  wakeForWork = () => wakeForWork(this.kernel, this.id)

  wakeups = () =>
    this.rows<Wakeup & { priority: number; key: string | null }>(
      `select wakeup_id as id, agent, source, reason, payload, status, skip_reason as "skipReason", priority,
              coalesced_count as "coalescedCount", into_id as "intoId", requested_by as "requestedBy", task_uuid as "taskUuid",
              generation, run_id as "runId", ms(due_at)::float8 as "dueAt", ms(requested_at)::float8 as "requestedAt", error,
              idempotency_key as key
         from wakeups where workspace_id = $1 order by requested_at, wakeup_id`,
      [this.id],
    )
  waiting = async () => (await this.wakeups()).filter(({ status }) => status === 'queued')
  wakeup = async (id: string) => (await this.wakeups()).find((one) => one.id === id)!
  runs = () =>
    this.rows<{
      id: string
      agent: string
      status: string
      errorCode: string | null
      wakeupId: string
      taskUuid: string | null
    }>(
      `select run_id as id, agent, status, error_code as "errorCode", wakeup_id as "wakeupId", task_uuid as "taskUuid"
         from runs where workspace_id = $1 order by created_at`,
      [this.id],
    )

  /** What a node could run now, in the order it would. */
  due = async (limit = 100, node = HERE, readers = this.store.readers) =>
    (await dueWakeups(readers, node, limit)).filter(({ workspaceId }) => workspaceId === this.id)

  /** Starts a run of the agent's first wakeup. */
  async take({ agent }: { agent: string }, store = this.store) {
    const run = { runId: freshUuid(), nodeId: freshUuid(), tokenHash: randomBytes(32).toString('hex') }
    const taken = await takeWakeup(store, { workspaceId: this.id, agent }, run)
    return taken && { ...taken, runId: run.runId }
  }

  end = (runId: string, agent: string, more: Partial<RunEnd> = {}) =>
    finishRun(this.store, { ...ENDED, workspaceId: this.id, runId, agent, ...more })

  runtime = async (agent: string) =>
    (
      await this.rows<{ next: number | null; parked: number | null; started: number | null }>(
        `select ms(next_timer_at)::float8 as next, ms(parked_until)::float8 as parked, ms(last_started_at)::float8 as started
           from agent_runtime_state where workspace_id = $1 and agent = $2`,
        [this.id, agent],
      )
    )[0]

  events = async (...types: string[]) => (await this.work.events()).filter(({ type }) => types.includes(type))
}

interface Invocation {
  input: AdapterInvokeInput
  node: string
  end(answer?: Partial<AdapterInvokeResult>): void
}

/** A node with a store of its own, whose agents do what the test says; it can die without notice. */
export class RunningNode {
  readonly name: string
  readonly store: PostgresStore
  readonly context: ExecutorContext
  /** The runs its agents got, in order. */
  readonly invoked: Invocation[] = []
  /** How long they take; null: until they get the signal to end. */
  takesMs: (() => number) | null = () => 0
  readonly #node: Node
  #executor: Executor | null = null
  #isGone = false

  private constructor(name: string, store: PostgresStore, node: Node, context: ExecutorContext) {
    this.name = name
    this.store = store
    this.#node = node
    this.context = context
  }

  static async start(url: string, name: string, folder: string, mostRuns: number): Promise<RunningNode> {
    const store = await PostgresStore.open(url)
    const kernel = openKernel(store, serverDirectory(store))
    const identity = { host: thisMachine(), bootId: bootId(), pidStarted: startTimeOf(process.pid) }
    const node = await Node.start(store, { name, version: VERSION, ...identity })
    const { context } = await composeExecutor(
      {
        ...{ kernel, node, own: {}, dataFolder: join(folder, name), agentRoots: [], mostRuns },
        ...{ policy: ANY_AGENT, nodeSecrets: [], traces: null },
        ...{ baseUrl: () => 'http://127.0.0.1:1', log: pino({ level: 'silent' }) },
      },
      { logs: { store: 'postgres' }, kinds: await composeAdapters([], ANY_AGENT) },
    )
    const running = new RunningNode(name, store, node, context)
    context.registry.register(running.#adapter())
    return running
  }

  get id(): string {
    return this.#node.id
  }

  #adapter(): AgentRunAdapter {
    return {
      type: 'scripted',
      protocolVersion: 'agent-run/v1',
      capabilities: { resumableSession: false, statusUpdates: false, logStreaming: false, tokenUsage: false },
      usesFolder: false,
      validateConfig: () => ({ ok: true }),
      invoke: (input, _hooks, signal) =>
        new Promise((resolve) => {
          const end = (answer: Partial<AdapterInvokeResult> = {}) =>
            resolve({ outcome: 'succeeded', exitCode: 0, result: { by: this.name }, ...answer })
          this.invoked.push({ input, node: this.name, end })
          signal.addEventListener('abort', () => end({ outcome: 'cancelled' }), { once: true })
          if (signal.aborted) end({ outcome: 'cancelled' })
          if (this.takesMs) setTimeout(end, this.takesMs())
        }),
    }
  }

  run(): this {
    this.#executor = new Executor(this.context).start()
    return this
  }

  recover = () => recoverRuns(this.context, thisMachine())

  /** A clean stop: what runs is ended, and recorded. */
  async stop(): Promise<void> {
    if (this.#isGone) return
    this.#isGone = true
    await this.#executor?.stop()
    await this.#node.stop()
    await this.context.kernel.close()
    await this.store.close()
  }

  /** As `kill -9` does it: from here on nothing of it reaches the database, and its process is another one. */
  async kill(rows: Rows): Promise<void> {
    this.#isGone = true
    const dead = () => Promise.reject(new Error('this node is dead'))
    Object.assign(this.store, { change: dead, transact: dead })
    await rows(`update nodes set pid_started = 'another life' where node_id = $1`, [this.id])
    await this.#executor?.stop()
    await this.#node.stop()
    await rows(`update nodes set stopped_at = null where node_id = $1`, [this.id])
    await this.store.close()
  }
}
