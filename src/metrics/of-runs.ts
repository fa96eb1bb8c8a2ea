import type { Written } from '../door/server-store.ts'
import { isOver, isStarted } from '../kinds/run/states.ts'
import { sourceName } from '../kinds/usage/record.ts'
import type { Count } from './count.ts'

type WrittenRuns = Extract<Written, { on: 'runs' }>

/** Runs that began and ended, and what the ledger has booked. */
export function countOfRuns({ view, changes }: WrittenRuns, count: Count): void {
  for (const { id, set } of changes.runs) {
    const run = view.runs.get(id)
    if (!run || set.status === undefined || set.status === run.status) continue
    const { status } = set
    const adapter = run.adapterType
    if (isStarted(status)) {
      count(({ workspace }, all) => all.baton_runs_started_total.inc({ workspace, adapter }), 0)
      continue
    }
    if (!isOver(status)) continue
    const { startedAt } = run
    count(({ workspace }, all) => {
      all.baton_runs_ended_total.inc({ workspace, adapter, status })
      if (startedAt !== null)
        all.baton_run_duration_seconds.observe({ adapter }, Math.max(0, view.now - startedAt) / 1000)
    }, 0)
  }
  countUsage(changes.usage, count)
}

/** A correction downwards is left out: a counter that falls is taken for one that began again. */
function countUsage({ rows, sources }: WrittenRuns['changes']['usage'], count: Count): void {
  if (rows.length === 0) return
  const bySource = new Map(sources.map((source) => [sourceName(source), source]))
  for (const row of rows) {
    const source = bySource.get(sourceName(row))
    const basis = source?.isSimulated ? 'simulated' : row.basis
    const kinds = {
      input: row.inputTokens,
      cached_input: row.cachedInputTokens,
      output: row.outputTokens,
    }
    const usd = Number(row.costUsd ?? 0)
    count((labels, all) => {
      for (const [kind, tokens] of Object.entries(kinds))
        if (tokens > 0) all.baton_tokens_total.inc({ ...labels, kind, basis }, tokens)
      if (usd > 0) all.baton_cost_usd_total.inc({ ...labels, basis }, usd)
    }, source?.projectId ?? 0)
  }
}
