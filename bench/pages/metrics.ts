import { Metrics } from '../../src/metrics/metrics.ts'
import { makeMissionBed } from '../missions/bed.ts'
import { type Goal, worded } from '../report.ts'
import { type Taken, timedOn } from './timed.ts'

/** What a scrape takes beside many tasks: with the figures of all nodes read from the database each time, and without. */
export interface MetricsFigures {
  tasks: number
  projects: number
  /** Bytes of one answer. */
  bytes: number
  leader: Taken
  other: Taken
}

const PROJECTS = 100

export async function metricsFigures(tasks: number, say: (what: string) => void): Promise<MetricsFigures> {
  const bed = await makeMissionBed()
  try {
    say(`m a scrape beside ${tasks} tasks in ${PROJECTS} projects`)
    const { kernel, admin, workspaceId } = bed
    const ids: number[] = []
    for (let n = 0; n < PROJECTS; n++) ids.push(await kernel.store.project(workspaceId, `project-${n}`))
    const lot = await bed.fill(tasks)
    await admin.query(
      `update tasks set project_id = ($2::int[])[1 + id % ${PROJECTS}], lane = ($2::int[])[1 + id % ${PROJECTS}] || '//[]'
        where workspace_id = $1 and id >= $3`,
      [workspaceId, ids, lot.firstId],
    )
    await admin.query(
      `insert into project_counters (workspace_id, project_id, pending)
       select workspace_id, project_id, count(*) from tasks where workspace_id = $1 and project_id <> 0 group by 1, 2`,
      [workspaceId],
    )
    await admin.query('update workspace_counters set queued = $2 where workspace_id = $1', [
      workspaceId,
      tasks,
    ])
    await bed.calm()
    const metricsUnder = (term: number | null) => {
      const coordinator = { state: () => ({ ...IDLE, term }) }
      const about = { kernel, coordinator, version: 'bench', node: 'bench', mostLabels: 100 }
      return new Metrics({ ...about, runsActive: () => 0, knownForMs: 0 })
    }
    const [ofLeader, ofOther] = [metricsUnder(1), metricsUnder(null)]
    const bytes = (await ofLeader.text()).length
    const leader = await timedOn(bed.pid, () => ofLeader.text())
    const other = await timedOn(bed.pid, () => ofOther.text())
    return { tasks, projects: PROJECTS, bytes, leader, other }
  } finally {
    await bed.close()
  }
}

const IDLE = { nodeId: '', passes: 0, lastPassAt: null, lastPassMs: null, awaySince: null }

export function metricsVerdicts({ tasks, projects, bytes, leader, other }: MetricsFigures): string {
  const goal = (what: string, { ms, cpuMs }: Taken): Goal => [
    `beside ${tasks} tasks in ${projects} projects, ${what} < 50 ms (${cpuMs.toFixed(1)} ms of CPU of Postgres)`,
    ms.median,
    ms.median < 50,
  ]
  return worded([
    goal(`a scrape of the leader, ${Math.round(bytes / 1024)} KB,`, leader),
    goal('a scrape of another node', other),
  ])
}
