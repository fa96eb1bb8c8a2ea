import { expect, test } from 'vitest'
import type { RunRecord } from '../../src/kinds/run/record.ts'
import { DEFAULT_LIMITS } from '../../src/kinds/workspace/limits.ts'
import { emptyWorkspace } from '../../src/memory/workspace.ts'
import { describePlantedBugs } from './planted-bugs.ts'
import { RUN_BUGS } from './runs/bugs.ts'
import { ALWAYS, Memory } from './runs/invariants.ts'
import { reportOfRuns, runSeedOfRuns } from './runs/run.ts'

/** The real executor, recovery and upkeep in memory, under a virtual clock, on nodes that die between any two commits. */

const SEEDS = 15
/** A bug that is not noticed within this many seeds counts as unnoticed. */
const ENOUGH = 60

test(`${SEEDS} seeds break no invariant, and they reach what they are to show`, async () => {
  const seen = new Map<string, number>()
  const saw = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
  for (let seed = 1; seed <= SEEDS; seed++) {
    const outcome = await runSeedOfRuns(seed)
    expect(outcome.broken, reportOfRuns(outcome)).toBeNull()
    const { world } = outcome
    const { runs, wakeups } = world.memory.whole(world.workspace)
    for (const { status, errorCode } of runs.values()) saw(errorCode ?? status)
    for (const { status } of wakeups.values()) saw(`wakeup ${status}`)
    for (const [fault, count] of world.coverage.faults) for (let i = 0; i < count; i++) saw(fault)
  }
  const reached = ['succeeded', 'cancelled', 'control_plane_restart', 'nonzero_exit', 'rate_limited']
  const ended = [
    'wakeup coalesced',
    'wakeup skipped',
    'wakeup completed',
    'wakeup failed',
    'wakeup cancelled',
  ]
  for (const what of [...reached, ...ended, 'node died', 'node died before commit, still written'])
    expect(seen.get(what) ?? 0, what).toBeGreaterThan(0)
}, 300_000)

test('the same seed gives the same run', async () => {
  for (const seed of [3, 4]) {
    const [first, again] = [await runSeedOfRuns(seed), await runSeedOfRuns(seed)]
    expect(again.hash).toBe(first.hash)
  }
})

test('two live runs of one claim, which stores refuse to write, would be noticed', () => {
  const run = (id: string, generation: number, status: string) => [
    id,
    { id, status, taskId: 1, generation } as unknown as RunRecord,
  ]
  const broken = (...runs: unknown[][]) => {
    const workspace = emptyWorkspace(1, DEFAULT_LIMITS)
    for (const [id, record] of runs as [string, RunRecord][]) workspace.runs.set(id, record)
    return ALWAYS.oneRunPerClaim!.broken(workspace, new Memory().see(workspace))
  }
  expect(broken(run('a', 1, 'running'), run('b', 1, 'queued'))).toBe('task 1, generation 1')
  expect(broken(run('a', 1, 'running'), run('b', 1, 'failed'), run('c', 2, 'running'))).toBeUndefined()
})

describePlantedBugs(RUN_BUGS, runSeedOfRuns, ENOUGH, {
  lostClaimsAreForgotten: 11,
  runsEndTwice: 6,
})
