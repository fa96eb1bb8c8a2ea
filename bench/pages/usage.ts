import type { Caller } from '../../src/kernel/kernel.ts'
import { addUp, listRows, project } from '../../src/kinds/usage/acts/reads.ts'
import { UsageQuery } from '../../src/kinds/usage/shapes.ts'
import { type MissionBed, makeMissionBed } from '../missions/bed.ts'
import { type Goal, worded } from '../report.ts'
import { type Taken, timedOn } from './timed.ts'

/** What questions about money take beside a ledger of many rows. */
export interface UsageFigures {
  rows: number
  /** By what was asked. */
  askedMs: Record<string, Taken>
}

/** Twenty rows a run, 30 seconds apart, by one model; the runs are spread over 90 days. */
const ROWS_OF_RUN = 20
const DAYS = 90
const AGENTS = 20

export async function usageFigures(rows: number, say: (what: string) => void): Promise<UsageFigures> {
  const bed = await makeMissionBed()
  try {
    say(`u a ledger of ${rows} rows`)
    await fillLedger(bed, rows)
    const caller: Caller = { workspaceId: bed.workspaceId, actor: 'bench', rights: new Set() }
    const from = new Date(Date.now() - (DAYS + 1) * 86_400_000).toISOString()
    const all = { from, to: new Date().toISOString() }
    const sums = (query: object) => () => addUp(bed.kernel, caller, UsageQuery.parse(query))
    const asked = {
      [`usage by day, ${DAYS} days`]: sums(all),
      'usage by day, 30 days': sums({}),
      [`usage by agent, ${DAYS} days`]: sums({ ...all, groupBy: 'agent' }),
      'usage by agent, 30 days': sums({ groupBy: 'agent' }),
      'usage by model, 30 days': sums({ groupBy: 'model' }),
      'usage of one agent by day, 30 days': sums({ agent: 'agent-3' }),
      'the projection': () => project(bed.kernel, caller, undefined),
      'the newest 50 rows': () => listRows(bed.kernel, caller, {}, null, 51),
    }
    const askedMs: Record<string, Taken> = {}
    for (const [what, act] of Object.entries(asked)) askedMs[what] = await timedOn(bed.pid, act)
    return { rows, askedMs }
  } finally {
    await bed.close()
  }
}

async function fillLedger({ admin, workspaceId, fill, calm }: MissionBed, rows: number): Promise<void> {
  const runs = rows / ROWS_OF_RUN
  const { firstId } = await fill(runs)
  await admin.query(
    `insert into usage_sources (workspace_id, source_id, generation, agent, task_id, task_type, operation, rows,
        input_tokens, output_tokens, cost_usd, started_at, updated_at)
     select $1, md5(n::text)::uuid, 0, 'agent-' || n % ${AGENTS}, $3::bigint + n, 'coding', 'work', ${ROWS_OF_RUN}, 1000, 100, 0.05,
            began.at, began.at + interval '10 minutes'
       from generate_series(0, $2::int - 1) n
       cross join lateral (select now() - n * (interval '${DAYS} days' / $2::int) - interval '10 minutes' as at) began`,
    [workspaceId, runs, firstId],
  )
  await admin.query(
    `insert into usage (workspace_id, source_id, generation, model, number, basis, at, input_tokens, cached_input_tokens,
        cache_write_5m_tokens, cache_write_1h_tokens, output_tokens, cost_usd)
     select $1, s.source_id, 0, 'claude-sonnet-4-5', n, 'priced', s.started_at + n * interval '30 seconds', 50, 500, 0, 0, 5, 0.0025
       from usage_sources s cross join generate_series(1, ${ROWS_OF_RUN}) n where s.workspace_id = $1`,
    [workspaceId],
  )
  await admin.query(
    `insert into usage_quarters (workspace_id, quarter, source_id, generation, model, basis, input_tokens, cached_input_tokens,
        output_tokens, cost_usd)
     select $1, date_bin('15 minutes', u.at, timestamptz '2000-01-01 00:00:00+00'), u.source_id, 0, u.model, u.basis,
            sum(u.input_tokens), sum(u.cached_input_tokens), sum(u.output_tokens), sum(u.cost_usd)
       from usage u where u.workspace_id = $1 group by 2, 3, 5, 6`,
    [workspaceId],
  )
  await calm()
  await admin.query('vacuum (analyze) usage_sources, usage, usage_quarters')
}

export function usageVerdicts({ rows, askedMs }: UsageFigures): string {
  return worded(
    Object.entries(askedMs).map(
      ([what, { ms, cpuMs }]): Goal => [
        `beside ${rows} rows of usage, ${what} < 100 ms (${cpuMs.toFixed(1)} ms of CPU)`,
        ms.median,
        ms.median < 100,
      ],
    ),
  )
}
