import { EVENTS } from '../../../src/core/events.ts'
import { addDollars } from '../../../src/core/runs/dollars.ts'
import type { RunRecord, WakeupRecord } from '../../../src/core/runs/records.ts'
import {
  isLive,
  isOver,
  isPending,
  NEW,
  RUN_TRANSITIONS,
  WAKEUP_TRANSITIONS,
} from '../../../src/core/runs/states.ts'
import type { Workspace } from '../../../src/store/memory/workspace.ts'
import type { RunWorld } from './world.ts'

type Broken = string | false | null | undefined

/** What was there before the last step. */
export class Memory {
  readonly runs = new Map<string, RunRecord>()
  readonly wakeups = new Map<string, WakeupRecord>()
  events = 0
}

const groups = <T>(rows: Iterable<T>, nameOf: (row: T) => string | null): [string, T[]][] => {
  const found = new Map<string, T[]>()
  for (const row of rows) {
    const name = nameOf(row)
    if (name !== null) found.set(name, [...(found.get(name) ?? []), row])
  }
  return [...found]
}

type Transitions = Record<string, { from: readonly string[]; to: readonly string[] }>
const mayMove = (table: Transitions, from: string, to: string) =>
  Object.values(table).some((one) => one.from.includes(from) && one.to.includes(to))

function moves<T extends { id: string; status: string }>(
  table: Transitions,
  rows: ReadonlyMap<string, T>,
  before: ReadonlyMap<string, T>,
): Broken {
  for (const row of rows.values()) {
    const from = before.get(row.id)?.status ?? NEW
    if (from !== row.status && !mayMove(table, from, row.status)) return `${row.id}: ${from} to ${row.status}`
  }
  return null
}

/** After every commit. */
export const ALWAYS: Record<string, { says: string; broken: (now: Workspace, before: Memory) => Broken }> = {
  slotsAreKept: {
    says: 'An agent has no more live runs than it may hold tasks.',
    broken: ({ runs, agents }) =>
      groups(runs.values(), ({ agent, status }) => (isLive(status) ? agent : null))
        .filter(([slug, live]) => live.length > (agents.get(slug)?.maxConcurrentTasks ?? live.length))
        .map(([slug, live]) => `${slug} has ${live.length}`)[0],
  },
  oneRunPerClaim: {
    says: 'A task has at most one live run in each generation.',
    broken: ({ runs }) =>
      groups(runs.values(), ({ status, innerTaskId, generation }) =>
        isLive(status) && innerTaskId !== null ? `task ${innerTaskId}, generation ${generation}` : null,
      )
        .filter(([, live]) => live.length > 1)
        .map(([name]) => name)[0],
  },
  oneRunPerWakeup: {
    says: 'A wakeup becomes at most one run.',
    broken: ({ runs }) =>
      groups(runs.values(), ({ wakeupId }) => wakeupId).find(([, of]) => of.length > 1)?.[0],
  },
  runsMoveByTheTable: {
    says: 'A run changes its state as the table says; one that is over is never changed.',
    broken: ({ runs }, before) =>
      moves(RUN_TRANSITIONS, runs, before.runs) ??
      [...before.runs.values()]
        .filter((run) => isOver(run.status) && run.logGoneAt === null)
        // The store replaces what it changes.
        .find((run) => runs.get(run.id) !== run)?.id,
  },
  wakeupsEndOnce: {
    says: 'A wakeup ends once, and with its run.',
    broken: ({ wakeups, runs }, before) => {
      const again = [...before.wakeups.values()].find(
        (one) => !isPending(one.status) && wakeups.get(one.id)?.finishedAt !== one.finishedAt,
      )
      if (again) return `${again.id} ended again`
      const moved = moves(WAKEUP_TRANSITIONS, wakeups, before.wakeups)
      if (moved) return moved
      const left = [...wakeups.values()].find(
        ({ runId, status }) => runId !== null && isLive(runs.get(runId)!.status) !== isPending(status),
      )
      return left && `${left.id} is ${left.status}, its run is ${runs.get(left.runId!)!.status}`
    },
  },
  totalsAreSums: {
    says: 'The totals of an agent are the sums over its finished runs.',
    broken: ({ runs, runtime }) => {
      for (const { agent, ...kept } of runtime.values()) {
        const over = [...runs.values()].filter((run) => run.agent === agent && isOver(run.status))
        const sum = (of: (run: RunRecord) => number | null) =>
          over.reduce((all, run) => all + (of(run) ?? 0), 0)
        const expected = [
          [kept.runs, over.length],
          [kept.totalInputTokens, sum((run) => run.inputTokens)],
          [kept.totalOutputTokens, sum((run) => run.outputTokens)],
          [kept.totalCachedInputTokens, sum((run) => run.cachedInputTokens)],
          [kept.totalCostUsd, over.reduce((all, run) => addDollars(all, run.costUsd), '0')],
        ]
        const wrong = expected.find(([is, should]) => is !== should)
        if (wrong) return `${agent}: ${wrong[0]} instead of ${wrong[1]}`
      }
      return null
    },
  },
  eventsFit: {
    says: 'The payload of every event fits the catalogue.',
    broken: ({ events }, before) => {
      const wrong = events
        .slice(before.events)
        .find(({ type, payload }) => !EVENTS[type].safeParse(payload).success)
      return wrong && `${wrong.type} ${JSON.stringify(wrong.payload)}`
    },
  },
}

/** When the world has been calm for longer than any recovery takes. */
export const AFTER_QUIET: Record<
  string,
  { says: string; broken: (now: Workspace, world: RunWorld) => Broken }
> = {
  claimsAreWorkedOn: {
    says: 'A claim of a managed agent has a queued wakeup or a live run.',
    broken: ({ tasks, wakeups, runs }) => {
      const idle = [...tasks.values()].find(
        ({ id, claimState, agent }) =>
          claimState === 'active' &&
          ![...wakeups.values()].some(
            (one) => one.agent === agent && one.innerTaskId === id && one.status === 'queued',
          ) &&
          // One that has not begun may have just claimed it.
          ![...runs.values()].some(
            (run) => run.agent === agent && isLive(run.status) && (run.innerTaskId ?? id) === id,
          ),
      )
      return idle && `task ${idle.id} is ${idle.state} with ${idle.agent}`
    },
  },
  deadNodesHaveNoRuns: {
    says: 'No live run is on a dead node.',
    broken: ({ runs }, world) => {
      const alive = world.alive.map(({ id }) => id)
      const left = [...runs.values()].find(({ status, nodeId }) => isLive(status) && !alive.includes(nodeId))
      return left && `${left.id} is ${left.status} on a node that is gone`
    },
  },
  orphansAreEnded: {
    says: 'No program runs whose run is over.',
    broken: ({ runs }, world) =>
      world.machines
        .flatMap(({ programs }) => [...programs.keys()])
        .find((runId) => isOver(runs.get(runId)!.status)),
  },
}

export const LAST = {
  everyTaskEnds: 'In a calm world every task ends, or waits for a person.',
  nothingFails: 'No step fails because of a fault inside Baton.',
}

export function check(world: RunWorld, before: Memory): void {
  const now = world.memory.whole(world.workspace)
  for (const [name, { broken }] of Object.entries(ALWAYS)) {
    const detail = broken(now, before)
    if (detail) world.breaks(name, detail)
  }
  for (const run of now.runs.values()) before.runs.set(run.id, run)
  for (const wakeup of now.wakeups.values()) before.wakeups.set(wakeup.id, wakeup)
  before.events = now.events.length
}
