import { Page } from '../../src/door/paging.ts'
import { eventPage, onwardsFrom } from '../../src/views/events/postgres.ts'
import {
  bottlenecks,
  causes,
  durations,
  failures,
  retries,
  search,
  slowest,
  telemetry,
} from '../../src/views/insight/acts.ts'
import { listDurations, listFailures, listRetries } from '../../src/views/insight/api.ts'
import { showOverview } from '../../src/views/overview/acts.ts'
import type { OverviewWindow } from '../../src/views/overview/periods.ts'
import { type MissionBed, makeMissionBed } from '../missions/bed.ts'
import { type Goal, worded } from '../report.ts'
import { type Taken, timedOn } from './timed.ts'

/** What searches and questions about a period take beside many tasks and a million events. */
export interface InsightFigures {
  tasks: number
  events: number
  /** By what was asked. */
  searchMs: Record<string, Taken>
  questionMs: Record<string, Taken>
  /** By window. */
  overviewMs: Record<OverviewWindow, Taken>
  /** The claims and the events of a task that was claimed a thousand times. */
  historyMs: Taken
}

const EVENTS = 1_000_000
const OPEN = 20_000
const GENERATIONS = 1_000

export async function insightFigures(tasks: number, say: (what: string) => void): Promise<InsightFigures> {
  const bed = await makeMissionBed()
  try {
    say(`t searches and questions beside ${tasks} tasks and ${EVENTS} events`)
    const { firstId } = await fillPast(bed, tasks)
    const { kernel, caller, workspaceId } = bed
    const took = (act: () => Promise<unknown>) => timedOn(bed.pid, act)
    const asked = { from: null, to: null }
    const newest = new Page<number>(listFailures.paging, {})
    const first = new Page<[number, number]>(listRetries.paging, {})
    const groups = new Page<[string]>(listDurations.paging, {})
    const found = (text: string) => took(() => search(kernel, caller, text, 20))
    const history = async () => {
      await kernel.store.claims(workspaceId, firstId)
      const filter = { task: { id: firstId } } as Parameters<typeof eventPage>[2]
      await eventPage(kernel.store.readers, workspaceId, filter, onwardsFrom(0), 200)
    }
    return {
      tasks,
      events: EVENTS,
      searchMs: {
        'one letter': await found('t'),
        'a text that nothing has': await found('nothing has this'),
        'the beginning of an id': await found('0198c0de'),
      },
      questionMs: {
        failures: await took(() => failures(kernel, caller, asked, newest)),
        'failures of one agent': await took(() =>
          failures(kernel, caller, { ...asked, agent: 'none' }, newest),
        ),
        causes: await took(() => causes(kernel, caller, asked)),
        slowest: await took(() => slowest(kernel, caller, asked, first)),
        durations: await took(() => durations(kernel, caller, asked, 'taskType', groups)),
        retries: await took(() => retries(kernel, caller, asked, first)),
        bottlenecks: await took(() => bottlenecks(kernel, caller, asked, first)),
        telemetry: await took(() => telemetry(kernel, caller, asked)),
      },
      overviewMs: {
        '1h': await took(() => showOverview(kernel, caller, '1h')),
        '24h': await took(() => showOverview(kernel, caller, '24h')),
        '7d': await took(() => showOverview(kernel, caller, '7d')),
        '30d': await took(() => showOverview(kernel, caller, '30d')),
      },
      historyMs: await took(history),
    }
  } finally {
    await bed.close()
  }
}

/** Finished tasks, open ones, and the log of the last day: a twentieth of it failures, as much verdicts. */
async function fillPast({ admin, workspaceId, fill, calm }: MissionBed, tasks: number) {
  const lot = await fill(tasks)
  const range = [workspaceId, lot.firstId, lot.firstId + tasks]
  await admin.query(
    `update tasks set state = 'completed', result_hash = 'x', claim_state = 'released', session = 's', agent = 'a',
        rank = null, generation = 1 + id % 2, attempt = 1 + id % 2, awaited = id % 3 = 0,
        acquired_at = now() - interval '1 minute', completed_at = now() - (($3 - id) % 80000) * interval '1 second'
      where workspace_id = $1 and id >= $2 and id < $3`,
    range,
  )
  await admin.query(
    `insert into attempts (workspace_id, task_id, generation, acquired_at, ended_at, session, agent, state, end_reason)
     select $1, id, 1, now(), now(), 's', 'a', 'error', 'ERROR' from generate_series($2::bigint, $3::bigint - 1) id`,
    range,
  )
  await admin.query(
    `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
     select $1, id + 1, id, 'all_success' from generate_series($2::bigint, $3::bigint - 2) id where id % 3 = 0`,
    range,
  )
  await admin.query(
    `insert into events (workspace_id, generation, seq, task_id, at, type, from_state, to_state, actor, payload)
     select $1, 1, k.last_seq + n, $2::bigint + n % $3::int, now() - ($4::int - n) * interval '80 milliseconds',
            case n % 40 when 0 then 'task_retrying' when 1 then 'task_failed' when 2 then 'task_verification_passed'
              when 3 then 'task_human_approved' else 'task_started' end, 'assigned', 'running', 'x',
            '{"failureClass":"infrastructure","attempt":1,"verifier":"v"}'
       from generate_series(1, $4::int) n, workspace_counters k where k.workspace_id = $1`,
    [workspaceId, lot.firstId, tasks, EVENTS],
  )
  await admin.query(
    `insert into attempts (workspace_id, task_id, generation, acquired_at, ended_at, session, agent, state, end_reason)
     select $1, $2, n, now(), now(), 's', 'a', 'error', 'ERROR' from generate_series(2, $3::int) n`,
    [workspaceId, lot.firstId, GENERATIONS],
  )
  await admin.query('update workspace_counters set last_seq = last_seq + $2 where workspace_id = $1', [
    workspaceId,
    EVENTS,
  ])
  await fill(OPEN)
  await calm()
  await admin.query('vacuum (analyze) task_details, task_dependencies')
  return lot
}

export function insightVerdicts({
  searchMs,
  questionMs,
  overviewMs,
  historyMs,
  tasks,
}: InsightFigures): string {
  const goal = (what: string, { ms, cpuMs }: Taken, most: number): Goal => [
    `${what} < ${most} ms (${cpuMs.toFixed(1)} ms of CPU)`,
    ms.median,
    ms.median < most,
  ]
  return worded([
    ...Object.entries(searchMs).map(([what, taken]) =>
      goal(`search beside ${tasks} tasks for ${what}`, taken, 50),
    ),
    ...Object.entries(questionMs).map(([what, taken]) =>
      goal(`beside ${EVENTS} events, ${what}`, taken, 200),
    ),
    ...Object.entries(overviewMs).map(([window, taken]) =>
      goal(`beside ${EVENTS} events, the overview of ${window}`, taken, 100),
    ),
    goal(`the history of ${GENERATIONS} claims`, historyMs, 200),
  ])
}
