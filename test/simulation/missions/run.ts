import { isEnd } from '../../../src/kinds/mission/states.ts'
import { isTerminal } from '../../../src/pure/states.ts'
import { atOneMoment } from '../one-moment.ts'
import { START } from '../scheduler.ts'
import { MISSION_BUGS, type MissionBugName } from './bugs.ts'
import { ALWAYS } from './invariants.ts'
import { createMissions, help, interfere } from './people.ts'
import { AFTER_QUIET, LAST } from './quiet-invariants.ts'
import { createRoutines } from './routines.ts'
import { Seen } from './seen.ts'
import { workForever } from './workers.ts'
import { MissionWorld } from './world.ts'

/** Longer than upkeep needs: leases end after 20 s, and a result that nobody judges is looked at every minute. */
const STILL_MS = 180_000
/** Routines fire at full minutes; this long before one, what came of the last is done. Something happens every few seconds. */
const AFTER_FIRES_MS = 10_000
const MINUTE_MS = 60_000
const LONGEST_CALM_MS = 3_600_000

export interface MissionOutcome {
  seed: number
  steps: number
  /** Equal for two runs of one seed, or the run was not deterministic. */
  hash: string
  broken: { invariant: string; detail: string } | null
  trace: readonly string[]
  world: MissionWorld
}

interface MissionOptions {
  bug?: MissionBugName | undefined
  lines?: number
}

/** The real flow of missions, plans and verdicts, and upkeep, on nodes that die, under a virtual clock. */
export const runSeedOfMissions = (seed: number, options: MissionOptions = {}): Promise<MissionOutcome> =>
  atOneMoment(() => runSeed(seed, options))

async function runSeed(seed: number, { bug, lines = 40 }: MissionOptions): Promise<MissionOutcome> {
  const world = new MissionWorld(seed, bug ? MISSION_BUGS[bug] : {}, lines)
  const { scheduler, pauses, trace, memory, workspace } = world
  const seen = new Seen()
  const act = (acting: Promise<unknown>) => acting.catch((error) => world.fault(error, 'an actor'))
  const begin = async () => {
    await world.begin()
    for (const agent of world.agents) act(workForever(world, agent))
    act(createMissions(world))
    act(createRoutines(world))
    act(interfere(world))
  }
  act(begin())
  const stillSince = START + world.stormMs
  const calmSince = Math.ceil((stillSince + STILL_MS) / MINUTE_MS) * MINUTE_MS - AFTER_FIRES_MS
  let steps = 0
  for (let commits = 0; !world.broken; steps++) {
    await scheduler.step()
    if (pauses.commits !== commits) check(world, seen)
    commits = pauses.commits
    if (world.season === 'storm' && scheduler.now >= stillSince) world.season = 'still'
    if (world.season === 'still' && scheduler.now >= calmSince) {
      checkAfterQuiet(world)
      world.season = 'calm'
      act(help(world))
    }
    if (world.season !== 'calm') continue
    const left = leftOver(world)
    if (left.length === 0) break
    if (scheduler.now > calmSince + LONGEST_CALM_MS) world.breaks('everythingEnds', left.join(', '))
  }
  for (const { phase } of memory.whole(workspace).missions.values()) world.coverage.ending(phase)
  return { seed, steps, hash: trace.hash, broken: world.broken, trace: trace.last, world }
}

function check(world: MissionWorld, seen: Seen): void {
  const now = world.memory.whole(world.workspace)
  seen.see(now)
  for (const event of seen.news) {
    const { type, taskId, from, to } = event
    world.coverage.event(event)
    world.note(`${type} ${taskId ?? event.payload.missionId ?? ''} ${from ?? ''} to ${to ?? ''}`)
  }
  for (const [name, { broken }] of Object.entries(ALWAYS)) {
    const detail = broken(now, seen)
    if (detail) world.breaks(name, detail)
  }
  seen.keep(now)
}

function checkAfterQuiet(world: MissionWorld): void {
  for (const [name, { broken }] of Object.entries(AFTER_QUIET)) {
    const detail = broken(world.memory.whole(world.workspace), world.scheduler.now)
    if (detail) world.breaks(name, detail)
  }
}

function leftOver({ memory, workspace }: MissionWorld): string[] {
  const { missions, tasks } = memory.whole(workspace)
  return [
    ...[...missions.values()].flatMap(({ id, phase }) => (isEnd(phase) ? [] : `mission ${id} is ${phase}`)),
    ...[...tasks.values()].flatMap(({ id, state }) => (isTerminal(state) ? [] : `task ${id} is ${state}`)),
  ]
}

const saysOf = (name: string) =>
  ALWAYS[name]?.says ?? AFTER_QUIET[name]?.says ?? LAST[name as keyof typeof LAST] ?? name

/** The trace of a failed run, for the person who must find out why. */
export function reportOfMissions(
  { seed, steps, hash, broken, trace }: MissionOutcome,
  bug?: MissionBugName,
): string {
  if (!broken) return `seed ${seed}: ${steps} steps, trace ${hash}, every sentence holds`
  return [
    `seed ${seed} breaks ${broken.invariant} after ${steps} steps (trace ${hash})`,
    `  invariant: ${saysOf(broken.invariant)}`,
    `  but:     ${broken.detail}`,
    `  replay:  npm run sim:missions -- --seed ${seed}${bug ? ` --bug ${bug}` : ''}`,
    ...trace.map((line) => `    ${line}`),
  ].join('\n')
}
