import { randomUUID } from 'node:crypto'
import { freshUuid } from '../../src/kernel/fresh-uuid.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { updateLeaderLease } from '../../src/postgres/cluster/leader-lease.ts'
import { registerNode } from '../../src/postgres/cluster/nodes.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from './database.ts'
import { commandMission, createMission, missionIn } from './missions.ts'
import { superuser } from './nodes.ts'
import { partsOf } from './parts.ts'
import { commandRoutine, createRoutine, missionFor, routineIn } from './routines.ts'
import { granted, holder, Work } from './tasks.ts'

/** A workspace with rows in every table: tasks of each kind, and all that goes with them. */
export interface Seeded {
  workspace: number
  queued: number
  held: number
  waiting: number
  completed: number
  /** Queued again after its holder released it, with a rejected result of that holder. */
  released: number
  /** A project, and a task of it that is held on its track A. */
  project: number
  onTrack: number
  /** A task that was divided, and a part of it. */
  whole: number
  part: number
  /** A run that works on the held task, one that is over, and what woke the agent for them. */
  running: string
  over: string
  claimed: string
  coalesced: string
}

export interface SeededDatabase {
  url: string
  store: PostgresStore
  a: Seeded
  b: Seeded
  close: () => Promise<void>
}

export async function seededDatabase(): Promise<SeededDatabase> {
  const { url, drop } = await freshDatabase()
  const store = await PostgresStore.open(url)
  const [a, b] = [await seed(store, url), await seed(store, url)]
  const nodeId = randomUUID()
  await registerNode(store.control, { nodeId, name: 'node', pid: 1, version: 'test' })
  await updateLeaderLease(store.control, { kind: 'take', nodeId, leaseMs: 60_000 })
  const close = async () => {
    await store.close()
    await drop()
  }
  return { url, store, a, b, close }
}

async function seed(store: PostgresStore, url: string): Promise<Seeded> {
  const { workspaceId: workspace } = await createWorkspace(store, 'test', {
    actor: 'test',
    address: '127.0.0.1',
  })
  const work = new Work(store, workspace)
  const alpha = holder('alpha')
  const queued = await work.under('first-request').create({ key: 'A-001-queued', tags: ['blue'] })
  const held = await work.create()
  await work.claim(held, alpha)
  const waiting = await work.create({}, [held])
  const completed = await work.create()
  await work.submit(completed, granted(await work.claim(completed, alpha)))
  // An attempt without a result, and a result that came too late.
  const released = await work.create()
  const over = granted(await work.claim(released, alpha))
  await work.release(released, over)
  await work.submit(released, over)
  const project = await store.project(workspace, 'shop')
  await store.setTrack(workspace, project, 'A', 1)
  const onTrack = await work.create({ key: 'A-001-on-track', projectId: project })
  await work.claim(onTrack, alpha)
  const whole = await work.create({ key: 'A-002-whole' })
  const [part] = await work.createAll(partsOf(whole, 1))
  await work.register('a-worker', 1)
  // With a plan that waits for approval.
  const mission = missionIn(await createMission(work, () => [], { autonomy: 'approve' }))
  const routine = routineIn(await createRoutine(work, { cron: '0 2 * * *' }))
  const run = { kind: 'run', version: 1, mission: missionFor(routine, () => []) } as const
  await commandRoutine(work, routine.uuid, run)
  const comment = { uuid: freshUuid(), text: 'Keep the old endpoint.', replyTo: null }
  await work.command(queued, { kind: 'comment', comment })
  await commandMission(work, mission.uuid, { kind: 'comment', comment: { ...comment, uuid: freshUuid() } })
  const told = { type: 'summary', source: 'rule', markdown: '# So far', author: 'system' } as const
  const report = (version: number) => ({ ...told, uuid: freshUuid(), task: null, version, endedSeq: version })
  await commandMission(work, mission.uuid, { kind: 'report', seen: 0, reports: [report(1), report(2)] })
  await superuser(url, async (client) => {
    await client.query('set search_path = baton')
    await client.query(
      `insert into api_keys (workspace_id, key_id, name, key_hash, prefix, role)
       values ($1, $2::uuid, 'ci', sha256($2::uuid::text::bytea), 'bt_', 'member')`,
      [workspace, randomUUID()],
    )
    const session = randomUUID()
    await client.query(
      `insert into browser_sessions (workspace_id, session_id, key_id, cookie_hash, page_hash, expires_at)
       select $1, $2::uuid, key_id, sha256($2::uuid::text::bytea), sha256('page'), now() + interval '1 day' from api_keys where workspace_id = $1`,
      [workspace, session],
    )
    await client.query(
      `insert into sign_in_links (workspace_id, link_hash, key_id, expires_at)
       select $1, sha256($2::uuid::text::bytea), key_id, now() + interval '1 day' from api_keys where workspace_id = $1`,
      [workspace, session],
    )
    await client.query(
      `insert into socket_tickets (workspace_id, ticket_hash, session_id, expires_at)
       values ($1, sha256($2::uuid::text::bytea), $2::uuid, now() + interval '1 day')`,
      [workspace, session],
    )
    const agent = 'insert into agents (workspace_id, agent_id, slug, name) values ($1, $2, $3, $3)'
    await client.query(agent, [workspace, randomUUID(), alpha.agent])
    // Of a name that no other workspace has.
    const watched = `agent-of-${workspace}`
    await client.query(agent, [workspace, randomUUID(), watched])
    await client.query(
      `insert into agent_health (workspace_id, slug, last_seen_at, has_heartbeat, status) values ($1, $2, now(), true, 'healthy')`,
      [workspace, watched],
    )
  })
  const runs = await seedRuns(url, workspace, `agent-of-${workspace}`, held)
  const ids = {
    queued: queued.id,
    held: held.id,
    waiting: waiting.id,
    completed: completed.id,
    released: released.id,
  }
  await seedLedger(url, workspace, completed.id)
  await fillOthers(url, workspace)
  return { workspace, ...ids, project, onTrack: onTrack.id, whole: whole.id, part: part!.id, ...runs }
}

/** What a claim has used, and the budget in which it counts and has something reserved. */
async function seedLedger(url: string, workspace: number, task: number) {
  const source = randomUUID()
  await superuser(url, async (client) => {
    await client.query('set search_path = baton')
    await client.query(
      `insert into usage_sources (workspace_id, source_id, generation, agent, task_id, operation, started_at, updated_at)
       values ($1, $2, 1, 'alpha', $3, 'work', now(), now())`,
      [workspace, source, task],
    )
    const used = `(workspace_id, source_id, generation, model, basis, input_tokens, cached_input_tokens, output_tokens`
    await client.query(
      `insert into usage ${used}, number, at, cache_write_5m_tokens, cache_write_1h_tokens)
       values ($1, $2, 1, 'opus', 'unknown', 1, 0, 1, 1, now(), 0, 0)`,
      [workspace, source],
    )
    await client.query(
      `insert into usage_quarters ${used}, quarter) values ($1, $2, 1, 'opus', 'unknown', 1, 0, 1, now())`,
      [workspace, source],
    )
    await client.query(
      `insert into model_tiers (workspace_id, adapter_type, small, changed_at) values ($1, 'claude_local', 'haiku', now())`,
      [workspace],
    )
    await client.query(
      `insert into budgets (workspace_id, budget_id, scope, scope_key, period, period_start, created_by, created_at, updated_at)
       values ($1, $2, 'workspace', 'workspace', 'none', now(), 'test', now(), now())`,
      [workspace, freshUuid()],
    )
    const [unused, hook] = [freshUuid(), freshUuid()].sort()
    await client.query(
      `insert into hooks (workspace_id, hook_id, name, scheme, secret, does, events, conditions, per_minute, enabled, created_by,
         created_at, updated_at, version)
       select $1, id, name, 'github', 'a secret', '{}', '{}', '[]', 1, true, 'test', now(), now(), 1
         from unnest($2::uuid[], array['unused', 'issues']) h(id, name)`,
      [workspace, [unused, hook]],
    )
    await client.query(
      `insert into hook_deliveries (workspace_id, key, delivery_id, hook_id, bytes, verdict, reason, repeats, received_at)
       values ($1, $2::uuid || ' id:one', $3, $2, 1, 'ignored', 'paused', 0, now())`,
      [workspace, hook, freshUuid()],
    )
    const webhook = freshUuid()
    await client.query(
      `insert into webhooks (workspace_id, webhook_id, name, shown_url, events, format, state, secrets, created_by, created_at, updated_at)
       values ($1, $2, 'ci', 'https://ci.example/', '{task_*}', 'baton', 'active', '{}', 'test', now(), now())`,
      [workspace, webhook],
    )
    await client.query(
      `insert into webhook_progress (workspace_id, webhook_id, seq, told_seq, turn) values ($1, $2, 1, 1, $2)`,
      [workspace, webhook],
    )
    await client.query(
      `insert into webhook_deliveries (workspace_id, webhook_id, seq, type, entity, lane, state, attempts, first_at, last_at, http_status)
       values ($1, $2, 1, 'task_created', 'task:1', 'task:1', 'delivered', 1, now(), now(), 200)`,
      [workspace, webhook],
    )
    await client.query(
      `insert into budget_reservations (workspace_id, holder_id, generation, budget_ids, tokens, usd, step_tokens, step_usd, reserved_at)
       values ($1, $2, 1, '[]', 1, 0, 1, 0, now())`,
      [workspace, source],
    )
  })
}

/** What agents that are run leave behind: a wakeup that another merged, runs, and all their stored state. */
async function seedRuns(
  url: string,
  workspace: number,
  agent: string,
  task: Pick<TaskRecord, 'id' | 'uuid'>,
) {
  const [running, over, claimed, coalesced] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await superuser(url, async (client) => {
    await client.query('set search_path = baton')
    await client.query(
      `insert into agent_runtime_state (workspace_id, agent, adapter_type) values ($1, $2, 'process')`,
      [workspace, agent],
    )
    await client.query(
      `insert into parked_credentials (workspace_id, credential, until) values ($1, 'an account', now())`,
      [workspace],
    )
    await client.query(
      `insert into agent_task_sessions (workspace_id, agent, adapter_type, task_key) values ($1, $2, 'process', '')`,
      [workspace, agent],
    )
    await client.query(
      `insert into wakeups (workspace_id, wakeup_id, agent, source, status, into_id, requested_by, task_id, task_uuid, generation,
         priority, requested_at, due_at, claimed_at, finished_at, run_id)
       values ($1, $2, $5, 'assignment', 'claimed', null, 'system', $6, $7, 1, 2, now(), now(), now(), null, $4),
              ($1, $3, $5, 'on_demand', 'coalesced', $2, 'system', $6, $7, null, 3, now(), now(), null, now(), null)`,
      [workspace, claimed, coalesced, running, agent, task.id, task.uuid],
    )
    await client.query(
      `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, wakeup_id, source, status, task_id, task_uuid, generation,
         attempt, session, node_id, token_hash, created_at, started_at)
       values ($1, $2, $3, gen_random_uuid(), 'process', $4, 'assignment', 'running', $5, $6, 1, 1, 'agent:' || $3::text,
         gen_random_uuid(), sha256($2::uuid::text::bytea), now(), now())`,
      [workspace, running, agent, claimed, task.id, task.uuid],
    )
    await client.query(
      `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, node_id, input_tokens, output_tokens,
         usage_basis, log_store, log_ref, log_bytes, created_at, started_at, finished_at, task_id, task_uuid, generation, attempt, session)
       values ($1, $2, $3, gen_random_uuid(), 'process', 'timer', 'succeeded', gen_random_uuid(), 1, 1, 'reported',
         'local_file', 'a place', 3, now(), now(), now(), $4, $5, 1, 1, 'agent:' || $3::text)`,
      [workspace, over, agent, task.id, task.uuid],
    )
    await client.query(
      `insert into run_events (workspace_id, run_id, seq, event_type) values ($1, $2, 1, 'lifecycle')`,
      [workspace, over],
    )
    await client.query(
      `insert into run_log_chunks (workspace_id, run_id, chunk_offset, bytes, stream, at, content)
       values ($1, $2, 0, 3, 'stdout', now(), 'yes')`,
      [workspace, over],
    )
    await client.query('insert into alert_checks (workspace_id, due_at) values ($1, now())', [workspace])
    await client.query(
      `insert into alerts (workspace_id, alert_id, cause, subject, number, scope, severity, count, first_at, last_at, resolved_at)
       values ($1, $2, 'agent_error', 'dev-1', 1, 'workspace', 'critical', 1, now(), now(), now())`,
      [workspace, freshUuid()],
    )
    await client.query(`insert into run_invocations (workspace_id, run_id, told) values ($1, $2, '{}')`, [
      workspace,
      running,
    ])
    await client.query(
      `insert into run_messages (workspace_id, run_id, number, message) values ($1, $2, 1, '{"kind":"heartbeat"}')`,
      [workspace, running],
    )
    await client.query(`insert into run_log_tail (workspace_id, run_id, body) values ($1, $2, '{}')`, [
      workspace,
      running,
    ])
  })
  return { running, over, claimed, coalesced }
}

/** What belongs to no workspace but to the cluster. */
export const CLUSTER_TABLES = ['instance', 'leader_leases', 'nodes']

/** Every table of the schema that belongs to workspaces, present and future. */
export async function workspaceTables(url: string): Promise<string[]> {
  const { rows } = await superuser(url, (client) =>
    client.query<{ name: string }>(
      `select relname as name from pg_class
        where relnamespace = 'baton'::regnamespace and relkind in ('r', 'p') and relname <> 'schema_migrations'
        order by relname`,
    ),
  )
  return rows.map(({ name }) => name).filter((name) => !CLUSTER_TABLES.includes(name))
}

/** A row of each table that has none yet: one of a new kind needs no line here. */
async function fillOthers(url: string, workspaceId: number): Promise<void> {
  const tables = await workspaceTables(url)
  await superuser(url, async (client) => {
    for (const table of tables) {
      const of = `from baton.${table} where workspace_id = $1`
      if ((await client.query(`select ${of} limit 1`, [workspaceId])).rowCount) continue
      const { rows } = await client.query<{ name: string; type: string }>(
        `select column_name as name, udt_name as type from information_schema.columns
          where table_schema = 'baton' and table_name = $1 and is_nullable = 'NO' and column_default is null`,
        [table],
      )
      const values = rows.map(({ name, type }) => (name === 'workspace_id' ? '$1' : SAMPLES[type]))
      const columns = rows.map(({ name }) => name)
      await client.query(`insert into baton.${table} (${columns}) values (${values})`, [workspaceId])
    }
  })
}

const SAMPLES: Readonly<Record<string, string>> = {
  ...{
    uuid: `'01890000-0000-7000-8000-000000000001'`,
    text: `'sample'`,
    bool: 'false',
    json: `'{}'`,
    jsonb: `'{}'`,
    bytea: `'\\x00'`,
  },
  ...{ int2: '1', int4: '1', int8: '1', float8: '1', numeric: '1', timestamptz: 'now()' },
}

/** Tables that contain this text, in any column. */
export const tablesWith = (url: string, needle: string) =>
  superuser(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = 'baton'`,
    )
    const found: string[] = []
    for (const { name } of rows) {
      const where = `select from baton.${name} t where position($1 in t::text) > 0`
      if ((await client.query(where, [needle])).rowCount) found.push(name)
    }
    return found
  })
