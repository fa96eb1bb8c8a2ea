import { closedLoop, type Measured } from './drive.ts'
import type { Bed, Lot } from './setup.ts'

/**
 * The bare limit: the same rows the kernel writes for a claim and for a result, one statement for each batch, with no rules,
 * no locks taken first and no caller to answer. No kernel on these tables can be faster.
 */
export const CLAIMS = `
  with counter as (
    update workspace_counters set last_seq = last_seq + $3::int, active_claims = active_claims + $3::int
     where workspace_id = $1 returning last_seq - $3::int as base),
  task as (
    update tasks t set state = 'assigned', rank = null, generation = t.generation + 1, version = version + 1,
           attempt = attempt + 1, claim_state = 'active', session = 's-1', agent = 'alpha', lease_ms = 60000,
           acquired_at = clock_timestamp(), check_at = clock_timestamp() + interval '60 s',
           lease_expires_at = clock_timestamp() + interval '60 s', updated_at = clock_timestamp()
      from unnest($2::bigint[]) as u(id) where t.workspace_id = $1 and t.id = u.id and t.state = 'queued'
    returning t.id, t.generation)
  insert into events (workspace_id, seq, type, task_id, generation, from_state, to_state, actor, payload, at)
  select $1, counter.base + row_number() over (), 'task_assigned', task.id, task.generation, 'queued', 'assigned', 'agent:alpha',
         '{"agent":"alpha","session":"s-1","leaseMs":60000,"attempt":1,"previousState":null}', clock_timestamp()
    from task, counter`

const RESULTS = `
  with counter as (
    update workspace_counters set last_seq = last_seq + $3::int, active_claims = active_claims - $3::int
     where workspace_id = $1 returning last_seq - $3::int as base),
  task as (
    update tasks t set state = 'completed', version = version + 1, claim_state = 'released', result_hash = 'abcdef',
           started_at = clock_timestamp(), completed_at = clock_timestamp(), updated_at = clock_timestamp()
      from unnest($2::bigint[]) as u(id) where t.workspace_id = $1 and t.id = u.id and t.claim_state = 'active'
    returning t.id, t.generation, t.uuid, t.acquired_at),
  attempt as (
    insert into attempts (workspace_id, task_id, generation, session, agent, state, acquired_at, ended_at, end_reason,
        epoch, accepted, hash, data, submitted_at)
    select $1, id, generation, 's-1', 'alpha', 'released', acquired_at, clock_timestamp(), 'COMPLETED',
           1, true, 'abcdef', '{"ok":true}', clock_timestamp() from task)
  insert into events (workspace_id, seq, type, task_id, generation, from_state, to_state, actor, payload, at)
  select $1, counter.base + row_number() over (), 'task_completed', task.id, task.generation, 'assigned', 'completed', 'agent:alpha',
         ('{"agent":"alpha","session":"s-1","workProductRef":"wp-' || uuid || '-gen1-abcdef","late":false}')::json, clock_timestamp()
    from task, counter`

const BATCH = 500

/** Two connections, as the kernel has two transactions under way for a workspace. */
async function run(bed: Bed, lot: Lot, name: string, text: string): Promise<Measured> {
  const batches = Math.floor(lot.count / BATCH)
  const clients = await Promise.all([bed.admin.connect(), bed.admin.connect()])
  for (const client of clients) await client.query('set plan_cache_mode = force_generic_plan')
  try {
    const free = [...clients]
    const result = await closedLoop(2, batches, async (batch) => {
      const client = free.pop()!
      const first = lot.firstId + batch * BATCH
      const ids = `{${Array.from({ length: BATCH }, (_, i) => first + i).join(',')}}`
      await client.query({ name, text, values: [bed.workspaceId, ids, BATCH] })
      free.push(client)
    })
    return {
      ...result,
      count: result.count * BATCH,
      perSecond: result.perSecond * BATCH,
      nodeMicros: result.nodeMicros / BATCH,
    }
  } finally {
    for (const client of clients) client.release(true)
  }
}

export const bareClaims = (bed: Bed, lot: Lot) => run(bed, lot, 'bare_claims', CLAIMS)
export const bareResults = (bed: Bed, lot: Lot) => run(bed, lot, 'bare_results', RESULTS)
