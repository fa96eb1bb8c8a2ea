import { isTerminal } from '../../../src/pure/states.ts'
import { atOneMoment } from '../one-moment.ts'
import { START } from '../scheduler.ts'
import { createTasks, interfere, repair } from './actors.ts'
import { RUN_BUGS, type RunBugName } from './bugs.ts'
import { AFTER_QUIET, ALWAYS, check, LAST, Memory } from './invariants.ts'
import { checkMoney, Ledger, MONEY_BUGS, MONEY_INVARIANTS, type MoneyBugName, setBudgets } from './money.ts'
import { RunWorld } from './world.ts'

/**
 * Longer than any recovery: a dead node on another machine counts as lost after 30 s, and recovery looks every 15 s. Shorter
 * than a lease, which would hide what recovery forgets.
 */
const QUIET_MS = 100_000
const LONGEST_CALM_MS = 3_600_000

export interface RunOutcome {
  seed: number
  steps: number
  /** Equal for two runs of one seed, or the run was not deterministic. */
  hash: string
  broken: { invariant: string; detail: string } | null
  trace: readonly string[]
  world: RunWorld
}

interface RunOptions {
  bug?: RunBugName | undefined
  lines?: number
  later?: boolean
  /** With budgets, and perhaps with a bug that is planted there. */
  money?: MoneyBugName | true
}

/** The real executor, recovery and upkeep on nodes that die, under a virtual clock. */
export const runSeedOfRuns = (seed: number, options: RunOptions = {}): Promise<RunOutcome> =>
  atOneMoment(() => runSeed(seed, options))

async function runSeed(
  seed: number,
  { bug, lines = 40, later = false, money }: RunOptions,
): Promise<RunOutcome> {
  const planted = bug ? RUN_BUGS[bug] : typeof money === 'string' ? MONEY_BUGS[money] : {}
  const world = new RunWorld(seed, { bug: planted, lines, later, money: money !== undefined })
  const ledger = new Ledger()
  const { scheduler, pauses, trace, memory } = world
  const before = new Memory()
  const act = (acting: Promise<unknown>) => acting.catch((error) => world.fault(error, 'an actor'))
  let isReady = false
  const ready = () => {
    isReady = true
  }
  act(world.registerAgents().then(ready))
  while (!isReady) await scheduler.step()
  for (const machine of world.machines) {
    world.startNode(machine)
    if (world.random.chance(0.5)) world.startNode(machine)
  }
  act(createTasks(world))
  act(interfere(world))
  if (money !== undefined) act(setBudgets(world))
  let steps = 0
  let commits = -1
  let wasQuiet = false
  for (; !world.broken; steps++) {
    await scheduler.step()
    if (pauses.commits !== commits) check(world, before)
    if (money !== undefined && pauses.commits !== commits) checkMoney(world, ledger)
    commits = pauses.commits
    const calmSince = START + world.stormMs
    if (!world.calm && scheduler.now >= calmSince) {
      world.calm = true
      act(repair(world))
    }
    if (!wasQuiet && scheduler.now >= calmSince + QUIET_MS) {
      wasQuiet = true
      for (const [name, { broken }] of Object.entries(AFTER_QUIET)) {
        const detail = broken(memory.whole(world.workspace), world)
        if (detail) world.breaks(name, detail)
      }
    }
    if (!wasQuiet) continue
    const left = [...memory.whole(world.workspace).tasks.values()].filter(
      ({ state }) => !isTerminal(state) && state !== 'awaiting_human',
    )
    if (left.length === 0) break
    if (scheduler.now > calmSince + LONGEST_CALM_MS)
      world.breaks('everyTaskEnds', left.map(({ id, state }) => `task ${id} is ${state}`).join(', '))
  }
  return { seed, steps, hash: trace.hash, broken: world.broken, trace: trace.last, world }
}

const saysOf = (name: string) =>
  MONEY_INVARIANTS[name]?.says ??
  ALWAYS[name]?.says ??
  AFTER_QUIET[name]?.says ??
  LAST[name as keyof typeof LAST] ??
  name

/** The trace of a failed run, for the person who must find out why. */
export function reportOfRuns({ seed, steps, hash, broken, trace }: RunOutcome, bug?: RunBugName): string {
  if (!broken) return `seed ${seed}: ${steps} steps, trace ${hash}, every sentence holds`
  return [
    `seed ${seed} breaks ${broken.invariant} after ${steps} steps (trace ${hash})`,
    `  invariant: ${saysOf(broken.invariant)}`,
    `  but:     ${broken.detail}`,
    `  replay:  npm run sim:runs -- --seed ${seed}${bug ? ` --bug ${bug}` : ''}`,
    ...trace.map((line) => `    ${line}`),
  ].join('\n')
}
