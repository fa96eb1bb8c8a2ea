import { expect, test } from 'vitest'
import { rounds } from '../support/rounds.ts'
import { reportOfRuns, runSeedOfRuns } from './runs/run.ts'

/** The same simulation with agents that accept their work and answer later, while their nodes die between any two commits. */

const SEEDS = rounds(5, 200)

test(`${SEEDS} seeds of agents that answer later break no invariant, and their runs go on on other nodes`, async () => {
  const seen = new Map<string, number>()
  const saw = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await runSeedOfRuns(seed, { later: true })
    expect(outcome.broken, reportOfRuns(outcome)).toBeNull()
    const { memory, workspace, later } = outcome.world
    const { runs, messages } = memory.whole(workspace)
    for (const [runId, kind] of later.answered) {
      const run = runs.get(runId)!
      if (run.finishedAt === null) continue
      // An answer that was taken is the end of its run, whatever died in between, unless the run was stopped before it was read.
      const isStopped =
        run.errorCode === 'cancelled' || run.errorCode === 'claim_lost' || run.errorCode === 'timeout'
      if (!isStopped) expect([runId, run.status]).toEqual([runId, kind === 'result' ? 'succeeded' : 'failed'])
      if (later.resumed.has(runId)) saw(isStopped ? 'resumed and stopped' : 'resumed and answered')
      expect(messages.get(runId) ?? [], 'of a run that is over').toEqual([])
    }
    // No agent is asked twice for one run.
    expect(new Set(later.asked).size).toBe(later.asked.length)
  }
  expect(seen.get('resumed and answered') ?? 0).toBeGreaterThan(2)
}, 300_000)
