import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { workOfMission } from '../../src/kinds/mission/postgres/work.ts'
import { dueWakeups, waitingClaims } from '../../src/kinds/run/postgres/dispatch.ts'
import { claimsLeft } from '../../src/kinds/run/postgres/lost-claims.ts'
import * as reads from '../../src/kinds/run/postgres/run-reads.ts'
import * as wakeups from '../../src/kinds/run/postgres/wakeups.ts'
import * as work from '../../src/kinds/run/postgres/work-reads.ts'
import type { WakeupCause } from '../../src/kinds/run/rules/wakeups.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser } from '../support/nodes.ts'
import { askForWakeups, takeWakeup } from '../support/run-steps.ts'
import { granted, Work } from '../support/tasks.ts'

/** In a fleet with a long history, current rows are found by indexes: the history is not read. */

const MANY = 20_000
let url: string
let drop: () => Promise<void>
let workspace: number
let task: number
let uuid: string
const node = randomUUID()
const alive = randomUUID()

beforeAll(async () => {
  const database = await freshDatabase()
  ;({ url } = database)
  drop = database.drop
  const store = await PostgresStore.open(url)
  workspace = (await createWorkspace(store, 'test', 'test')).workspaceId
  ;({ id: task, uuid } = await new Work(store, workspace).create())
  await store.close()
  await superuser(url, async (client) => {
    await client.query('set search_path = baton')
    await client.query(
      `insert into agents (workspace_id, agent_id, slug, name, adapter_type, runtime_config)
       select $1, gen_random_uuid(), 'agent-' || i, 'x', 'process',
              case when i <= 3 then '{"heartbeat":{"intervalSec":60}}' else '{"heartbeat":{"intervalSec":"soon"}}' end::json
         from generate_series(0, 499) i`,
      [workspace],
    )
    // A week ago and more, but for the first hundred.
    const ended = `now() - case when i <= 100 then interval '30 days' else interval '1 day' end`
    await client.query(
      `insert into wakeups (workspace_id, wakeup_id, agent, source, status, requested_by, idempotency_key, task_id, task_uuid, priority,
         requested_at, due_at, claimed_at, finished_at, run_id)
       select $1, gen_random_uuid(), 'agent-' || i % 500, 'assignment', 'completed', 'system', 'key-' || i, i % 2 * $3::bigint,
              case when i % 2 = 1 then $4::uuid end, 2, ${ended}, ${ended}, ${ended}, ${ended}, gen_random_uuid()
         from generate_series(1, $2) i`,
      [workspace, MANY, task, uuid],
    )
    // Half of them merged others.
    await client.query(
      `insert into wakeups (workspace_id, wakeup_id, agent, source, status, into_id, requested_by, priority, requested_at, due_at, finished_at)
       select workspace_id, gen_random_uuid(), agent, 'timer', 'coalesced', wakeup_id, 'system', 1, requested_at, due_at, finished_at
         from wakeups where task_id = 0`,
    )
    await client.query(
      `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, node_id, log_store, log_ref, created_at,
         started_at, finished_at, task_id, task_uuid, generation, attempt, session, folder)
       select $1, gen_random_uuid(), 'agent-' || i % 500, gen_random_uuid(), 'process', 'timer', 'succeeded', gen_random_uuid(),
              'local_file', 'x', ${ended}, ${ended}, ${ended}, t.id, t.uuid, g, g, s,
              case when t.id is not null then json_build_object('worktree', json_build_object('repository', 'shop-' || i % 300)) end
         from generate_series(1, $2) i
         left join (values ($3::bigint, $4::uuid, 1, 's')) t(id, uuid, g, s) on i % 100 = 0`,
      [workspace, MANY, task, uuid],
    )
    await client.query(
      `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, node_id, token_hash, created_at, started_at)
       values ($1, $2, 'agent-7', gen_random_uuid(), 'process', 'timer', 'running', $3, sha256('a token'), now(), now())`,
      [workspace, alive, node],
    )
    await client.query('analyze')
  })
})
afterAll(() => drop())

const asked = (about: Partial<WakeupCause> = {}): WakeupCause => ({
  ...{ id: randomUUID(), source: 'on_demand', actor: 'system', triggerDetail: null, reason: null },
  ...{ payload: undefined, task: null, idempotencyKey: null, depth: 0, isContinuation: false, delayMs: 0 },
  ...about,
})

/** Each by its own connections, so that their reads are counted when they are closed. */
const QUERIES: Record<string, (store: PostgresStore) => Promise<unknown>> = {
  'a run by its token': async ({ readers }) => {
    const hash = createHash('sha256').update('a token').digest()
    expect(await reads.findRunByToken(readers, hash)).toMatchObject({ runId: alive })
  },
  'the newest runs': async ({ readers }) => {
    expect((await reads.listRuns(readers, workspace, {}, { limit: 50, withResult: true })).rows).toHaveLength(
      50,
    )
  },
  'the runs of an agent': async ({ readers }) => {
    expect(
      (await reads.listRuns(readers, workspace, { agent: 'agent-3' }, { limit: 10, withResult: true })).rows,
    ).toHaveLength(10)
  },
  'the runs of a task': async ({ readers }) => {
    expect(
      (await reads.listRuns(readers, workspace, { task }, { limit: 10, withResult: true })).rows,
    ).toHaveLength(10)
    expect((await reads.usageOfTask(readers, workspace, task)).runs).toBe(MANY / 100)
  },
  'the active runs': async ({ readers }) => {
    const statuses = ['queued', 'running'] as const
    expect(
      (await reads.listRuns(readers, workspace, { statuses }, { limit: 10, withResult: true })).rows,
    ).toHaveLength(1)
  },
  'the runs of a node, and which of them must stop': async ({ readers }) => {
    expect(await reads.runsOfNodes(readers, [node])).toHaveLength(1)
    expect(await reads.runsToCheck(readers, node)).toEqual([])
  },
  'the repositories in which agents worked, and the tasks of one': async ({ readers }) => {
    const known = await work.repositoriesOfWork(readers)
    expect(known.map(({ repository }) => repository)).toEqual(['shop-0', 'shop-100', 'shop-200'])
    expect(await work.oldWorkIn(readers, known[0]!, [task])).toEqual([])
    expect(await work.hasLiveRun(readers, workspace, task)).toBe(false)
    expect(await workOfMission(readers, workspace, 1, 10)).toEqual({ taskCount: 0, works: [] })
  },
  'logs that are old': async ({ readers }) => {
    expect(await reads.oldLogs(readers, 7 * 86_400_000, 200)).toHaveLength(100)
  },
  'the claims of an agent without a run': async ({ readers }) => {
    expect(await reads.claimsWithoutRun(readers, workspace, 'agent-1')).toEqual([])
  },
  'the claims of all agents that no run works on': async (store) => {
    const work = new Work(store, workspace)
    const left = await work.create()
    granted(await work.claim(left, { agent: 'agent-8', session: 'agent:agent-8' }))
    expect(await claimsLeft(store.readers)).toMatchObject([{ agent: 'agent-8', uuid: left.uuid }])
  },
  'the wakeups of an agent': async ({ readers }) => {
    const page = { agent: 'agent-3', before: null, limit: 10, withPayload: true }
    expect((await wakeups.listWakeups(readers, workspace, page)).rows).toHaveLength(10)
  },
  'work without a wakeup': async ({ readers }) => {
    expect(await wakeups.workWithoutWakeup(readers, null)).toEqual([])
  },
  'a request, what is due, and a run of it': async (store) => {
    const request = {
      agent: 'agent-1',
      asked: asked({ idempotencyKey: 'new', task: { id: task, uuid, generation: null } }),
    }
    expect(await askForWakeups(store, workspace, [request])).toMatchObject([{ status: 'queued' }])
    const [due] = await dueWakeups(store.readers, 'a node', 10)
    expect(due).toMatchObject({ agent: 'agent-1' })
    const run = {
      runId: randomUUID(),
      nodeId: node,
      tokenHash: createHash('sha256').update('x').digest('hex'),
    }
    expect(await takeWakeup(store, due!, run)).toMatchObject({ decision: { kind: 'run' } })
  },
  'a request of a program, about no task': async (store) => {
    const request = { agent: 'agent-2', asked: asked({ source: 'automation' }) }
    expect(await askForWakeups(store, workspace, [request])).toMatchObject([{ status: 'queued' }])
  },
  'claims that wait for capacity': async ({ readers }) => {
    expect(await waitingClaims(readers, 'a node')).toEqual([])
  },
  'how often a task timed out': async ({ readers }) => {
    expect(await reads.timeoutsBefore(readers, workspace, { taskId: task, generation: 2 })).toBe(0)
  },
  'what is deleted after a week, with all that it merged': async (store) => {
    await wakeups.deleteOldWakeups(store)
  },
}

test.each(Object.entries(QUERIES))('%s', async (_what, query) => {
  const before = await rowsRead()
  const store = await PostgresStore.open(url)
  await query(store).finally(() => store.close())
  const after = await rowsRead()
  for (const table of ['runs', 'wakeups'] as const)
    expect(
      after[table].byReading - before[table].byReading,
      `rows of ${table} that were read one after the other`,
    ).toBe(0)
  // A few hundred are the rows that are searched for.
  expect(after.runs.byIndex - before.runs.byIndex).toBeLessThan(MANY / 10)
  expect(after.wakeups.byIndex - before.wakeups.byIndex).toBeLessThan(MANY / 10)
})

test('agents whose timer is due, among those with settings from before validation existed', async () => {
  const store = await PostgresStore.open(url)
  const due = await wakeups.dueTimers(store.readers, 100).finally(() => store.close())
  expect(due.map(({ agent }) => agent).sort()).toEqual(['agent-0', 'agent-1', 'agent-2', 'agent-3'])
})

// After all the others. Indexes that enforce a rule need not be used for anything else.
test('no index is unused', async () => {
  const { rows } = await superuser(url, (client) =>
    client.query(
      `select s.indexrelname as name from pg_stat_user_indexes s join pg_index i using (indexrelid)
        where s.schemaname = 'baton' and (s.relname in ('runs', 'wakeups') or s.indexrelname = 'agents_timed')
          and s.idx_scan = 0 and not i.indisunique`,
    ),
  )
  expect(rows.map(({ name }) => name)).toEqual([])
})

/**
 * What was read of these tables so far, row by row or by an index, as the database counts it once a connection is closed.
 */
async function rowsRead(): Promise<Record<'runs' | 'wakeups', { byReading: number; byIndex: number }>> {
  const { rows } = await superuser(url, (client) =>
    client.query(
      `select relname as name, seq_tup_read::int as "byReading", idx_tup_fetch::int as "byIndex" from pg_stat_user_tables
        where schemaname = 'baton' and relname in ('runs', 'wakeups')`,
    ),
  )
  return Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest])) as Awaited<
    ReturnType<typeof rowsRead>
  >
}
