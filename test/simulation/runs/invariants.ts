import { shownState } from '../../../src/kinds/agent/rules/decide.ts'
import { EVENTS } from '../../../src/kinds/catalogue.ts'
import type { RunRecord, RuntimeState, WakeupRecord } from '../../../src/kinds/run/record.ts'
import { dollarsOf, picosOf } from '../../../src/kinds/run/rules/dollars.ts'
import { runFolderOf } from '../../../src/kinds/run/shapes/folder.ts'
import {
  isLive,
  isOver,
  isPending,
  NEW,
  RUN_TRANSITIONS,
  WAKEUP_TRANSITIONS,
} from '../../../src/kinds/run/states.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import type { RunWorld } from './world.ts'

type Broken = string | false | null | undefined

/** Rows of one kind: as they were before the last step, and those that it wrote. The store replaces what it changes. */
class Rows<T> {
  readonly before = new Map<string, T>()
  /** With what was there instead. */
  written: { now: T; was: T | undefined }[] = []
  /** How many are gone. */
  lost = 0

  see(rows: ReadonlyMap<string, T>): void {
    this.written = []
    for (const [key, now] of rows) {
      const was = this.before.get(key)
      if (was !== now) this.written.push({ now, was })
    }
    this.lost = this.before.size + this.written.filter(({ was }) => !was).length - rows.size
  }

  keep(keyOf: (row: T) => string): void {
    for (const { now } of this.written) this.before.set(keyOf(now), now)
  }
}

/** What was there before the last step, and what it changed. */
export class Memory {
  readonly runs = new Rows<RunRecord>()
  readonly wakeups = new Rows<WakeupRecord>()
  readonly runtime = new Rows<RuntimeState>()
  /** Runs that are not over. */
  readonly live = new Map<string, RunRecord>()
  /** The run that each wakeup became. */
  readonly runOf = new Map<string, string>()
  events = 0
  /** How many results were accepted. */
  accepted = 0

  see({ runs, wakeups, runtime }: Workspace): this {
    this.runs.see(runs)
    this.wakeups.see(wakeups)
    this.runtime.see(runtime)
    for (const { now } of this.runs.written)
      if (isLive(now.status)) this.live.set(now.id, now)
      else this.live.delete(now.id)
    return this
  }

  /** Before and after the last step. */
  liveRunsOf(slug: string): { before: number; after: number } {
    const after = [...this.live.values()].filter(({ agent }) => agent === slug).length
    const own = this.runs.written.filter(({ now }) => now.agent === slug)
    const begun = own.filter(({ now, was }) => isLive(now.status) && !was).length
    const ended = own.filter(({ now, was }) => !isLive(now.status) && was && isLive(was.status)).length
    return { before: after - begun + ended, after }
  }

  keep({ events }: Workspace): void {
    for (const { now } of this.runs.written) if (now.wakeupId !== null) this.runOf.set(now.wakeupId, now.id)
    this.runs.keep(({ id }) => id)
    this.wakeups.keep(({ id }) => id)
    this.runtime.keep(({ agent }) => agent)
    this.events = events.length
  }
}

const agentOf = ({ payload }: { payload: Record<string, unknown> }) => payload.agent as string

/** The first name that more than `most` of the rows have. Rows without a name do not count. */
function tooMany<T>(
  rows: Iterable<T>,
  nameOf: (row: T) => string | null,
  most: (name: string) => number,
): { name: string; count: number } | null {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const name = nameOf(row)
    if (name === null) continue
    const count = (counts.get(name) ?? 0) + 1
    if (count > most(name)) return { name, count }
    counts.set(name, count)
  }
  return null
}

type Transitions = Record<string, { from: readonly string[]; to: readonly string[] }>
const mayMove = (table: Transitions, from: string, to: string) =>
  Object.values(table).some((one) => one.from.includes(from) && one.to.includes(to))

function moves<T extends { id: string; status: string }>(table: Transitions, { written }: Rows<T>): Broken {
  for (const { now, was } of written) {
    const from = was?.status ?? NEW
    if (from !== now.status && !mayMove(table, from, now.status)) return `${now.id}: ${from} to ${now.status}`
  }
  return null
}

/** After every commit. What the last step did not write is as it was when it was checked. */
export const ALWAYS: Record<string, { says: string; broken: (now: Workspace, seen: Memory) => Broken }> = {
  slotsAreKept: {
    says: 'An agent has no more live runs than it may hold tasks.',
    broken: ({ agents }, { live }) => {
      const found = tooMany(
        live.values(),
        ({ agent }) => agent,
        (slug) => agents.get(slug)?.maxConcurrentTasks ?? Number.POSITIVE_INFINITY,
      )
      return found && `${found.name} has ${found.count}`
    },
  },
  oneRunPerClaim: {
    says: 'A task has at most one live run in each generation.',
    broken: (_, { live }) =>
      tooMany(
        live.values(),
        ({ taskId, generation }) => (taskId === null ? null : `task ${taskId}, generation ${generation}`),
        () => 1,
      )?.name,
  },
  oneRunPerWakeup: {
    says: 'A wakeup becomes at most one run.',
    broken: (_, { runs, runOf }) =>
      runs.written.find(({ now: { id, wakeupId } }) => (runOf.get(wakeupId ?? '') ?? id) !== id)?.now
        .wakeupId,
  },
  runsMoveByTheTable: {
    says: 'A run changes its state as the table says; one that is over is never changed.',
    broken: (_, { runs }) => {
      const moved = moves(RUN_TRANSITIONS, runs)
      if (moved) return moved
      const changed = runs.written.find(({ was }) => was && isOver(was.status) && was.logGoneAt === null)
      return changed ? changed.now.id : runs.lost > 0 && 'a run is gone'
    },
  },
  wakeupsEndOnce: {
    says: 'A wakeup ends once, and with its run.',
    broken: (workspace, { wakeups, runs }) => {
      if (wakeups.lost > 0) return 'a wakeup is gone'
      const again = wakeups.written.find(
        ({ now, was }) => was && !isPending(was.status) && was.finishedAt !== now.finishedAt,
      )
      if (again) return `${again.now.id} ended again`
      const moved = moves(WAKEUP_TRANSITIONS, wakeups)
      if (moved) return moved
      const touched = [
        ...wakeups.written.map(({ now }) => now),
        ...runs.written.map(({ now }) => workspace.wakeups.get(now.wakeupId ?? '')),
      ]
      for (const wakeup of touched) {
        const run = wakeup?.runId == null ? null : workspace.runs.get(wakeup.runId)!
        if (run && isLive(run.status) !== isPending(wakeup!.status))
          return `${wakeup!.id} is ${wakeup!.status}, its run is ${run.status}`
      }
      return null
    },
  },
  totalsAreSums: {
    says: 'The totals of an agent are the sums over its finished runs.',
    broken: (workspace, { runs, runtime }) => {
      const agents = new Set([...runs.written, ...runtime.written].map(({ now }) => now.agent))
      for (const agent of agents) {
        const wrong = wrongTotal(workspace.runtime.get(agent), workspace.runs.values())
        if (wrong) return `${agent}: ${wrong}`
      }
      return null
    },
  },
  agentsSayWhetherTheyRun: {
    says: 'The first live run of an idle agent and the end of its last one are told, once and with them; nothing else is.',
    broken: ({ agents, events }, seen) => {
      const said = events.slice(seen.events).filter(({ type }) => type === 'agent_status_changed')
      const changed = new Set([...seen.runs.written.map(({ now }) => now.agent), ...said.map(agentOf)])
      for (const slug of changed) {
        const agent = agents.get(slug)
        const { before, after } = seen.liveRunsOf(slug)
        const [from, to] = agent ? [shownState(agent, before), shownState(agent, after)] : []
        const due = from === to ? [] : [`${from} to ${to}`]
        const told = said.filter((one) => agentOf(one) === slug)
        const is = told.map(({ payload }) => `${payload.from} to ${payload.to}`)
        if (is.join() !== due.join())
          return `${slug}: told ${is.join() || 'nothing'}, not ${due.join() || 'nothing'}`
      }
      return null
    },
  },
  eventsFit: {
    says: 'The payload of every event fits the catalogue.',
    broken: ({ events }, seen) => {
      const wrong = events
        .slice(seen.events)
        .find(({ type, payload }) => !EVENTS[type].safeParse(payload).success)
      return wrong && `${wrong.type} ${JSON.stringify(wrong.payload)}`
    },
  },
}

function wrongTotal(kept: RuntimeState | undefined, runs: Iterable<RunRecord>): Broken {
  if (!kept) return null
  let [count, input, output, cached, picos] = [0, 0, 0, 0, 0n]
  for (const run of runs) {
    if (run.agent !== kept.agent || isLive(run.status)) continue
    count += 1
    input += run.inputTokens ?? 0
    output += run.outputTokens ?? 0
    cached += run.cachedInputTokens ?? 0
    if (run.costUsd !== null) picos += picosOf(run.costUsd)
  }
  const expected = [
    [kept.runs, count],
    [kept.totalInputTokens, input],
    [kept.totalOutputTokens, output],
    [kept.totalCachedInputTokens, cached],
    [kept.totalCostUsd, dollarsOf(picos)],
  ]
  const wrong = expected.find(([is, should]) => is !== should)
  return wrong && `${wrong[0]} instead of ${wrong[1]}`
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
            (one) => one.agent === agent && one.taskId === id && one.status === 'queued',
          ) &&
          // One that has not begun may have just claimed it.
          ![...runs.values()].some(
            (run) => run.agent === agent && isLive(run.status) && (run.taskId ?? id) === id,
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

/** Work that a run could not begin with is missing by name: on the run, in its prompt and on the card. */
const isSaid = ({ runs }: Workspace, taskId: string, generation: number) =>
  [...runs.values()].some(
    (run) =>
      run.taskUuid === taskId &&
      run.generation! > generation &&
      typeof runFolderOf(run.folder)?.missing === 'string',
  )

/** After each commit that accepted a result. */
function lostWork(now: Workspace, world: RunWorld): Broken {
  for (const [id, results] of now.results)
    for (const { accepted, commit, generation } of results) {
      if (accepted !== true || commit === null) continue
      const { uuid } = now.tasks.get(id)!
      const marks = world.repository.marksIn(commit)
      const lost = (world.worked.get(uuid) ?? []).find(
        (work) =>
          work.generation <= generation && !marks.has(work.runId) && !isSaid(now, uuid, work.generation),
      )
      if (lost)
        return `the result of task ${id} lacks the work of ${lost.runId} (generation ${lost.generation})`
    }
  return null
}

export const LAST = {
  workIsKept: 'An accepted result has all the work that was done for it.',
  everyTaskEnds: 'In a calm world every task ends, or waits for a person.',
  nothingFails: 'No step fails because of a fault inside Baton.',
}

export function check(world: RunWorld, seen: Memory): void {
  const now = world.memory.whole(world.workspace)
  seen.see(now)
  for (const [name, { broken }] of Object.entries(ALWAYS)) {
    const detail = broken(now, seen)
    if (detail) world.breaks(name, detail)
  }
  if (seen.accepted !== acceptedIn(now)) {
    const lost = lostWork(now, world)
    if (lost) world.breaks('workIsKept', lost)
    seen.accepted = acceptedIn(now)
  }
  seen.keep(now)
}

const acceptedIn = ({ results }: Workspace) =>
  [...results.values()].flat().filter(({ accepted }) => accepted === true).length
