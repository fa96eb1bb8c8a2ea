import { operateAgents } from './agent-operator.ts'
import type { RealStore } from './backing.ts'
import { BUGS, type BugName } from './bugs.ts'
import { Coverage } from './coverage.ts'
import { check, INVARIANTS, type InvariantName } from './invariants/check.ts'
import { Observer } from './observer.ts'
import { operate } from './operator.ts'
import { START } from './scheduler.ts'
import { unsettled } from './settled.ts'
import { keepUp } from './upkeep.ts'
import { verifyForever } from './verifier.ts'
import { World } from './world.ts'

export interface Outcome {
  readonly seed: number
  readonly steps: number
  /** Equal for two runs of one seed, or the run was not deterministic. */
  readonly hash: string
  readonly broken: { readonly invariant: InvariantName; readonly detail: string } | null
  readonly trace: readonly string[]
}

interface RunOptions {
  bug?: BugName | undefined
  coverage?: Coverage
  lines?: number
  /** Where the state lives; in memory unless it is given. */
  real?: RealStore | undefined
  /** The outcome is no longer awaited. */
  signal?: AbortSignal | undefined
}

/** Longest retry, verdict and lease several times over. */
const LONGEST_CALM_MS = 2_400_000

export async function runSeed(
  seed: number,
  { bug, coverage = new Coverage(), lines = 40, real, signal }: RunOptions = {},
): Promise<Outcome> {
  const world = new World(seed, { bug: bug ? BUGS[bug] : {}, coverage, lines, real: real ?? null })
  await world.prepare()
  const { scheduler, trace, plan } = world
  const observer = new Observer(world)
  keepUp(world)
  for (const act of [operate, operateAgents, verifyForever])
    act(world).catch((error) => world.breaks('clientsNeverThrow', String(error.stack)))
  for (const agent of world.agents) agent.start()
  for (const coordinator of world.coordinators)
    coordinator.run().catch((error) => world.breaks('clientsNeverThrow', String(error.stack)))

  let steps = 0
  for (; !world.broken; steps++) {
    signal?.throwIfAborted()
    await scheduler.step()
    check(world, await observer.read())
    if (!world.calm && scheduler.now >= START + plan.stormMs) world.calmDown()
    if (!world.calm) continue
    const left = unsettled(world, observer.tasks)
    if (left.length === 0) break
    if (scheduler.now > START + plan.stormMs + LONGEST_CALM_MS) world.breaks('everyTaskEnds', left.join(', '))
  }
  for (const { record } of observer.tasks.values()) coverage.ending(record.state)
  return { seed, steps, hash: trace.hash, broken: world.broken as Outcome['broken'], trace: trace.last }
}

/** The trace of a failed run, for the person who must find out why. */
export function report(
  { seed, steps, hash, broken, trace }: Outcome,
  { bug, store }: Pick<RunOptions, 'bug'> & { store?: string | undefined } = {},
): string {
  if (!broken) return `seed ${seed}: ${steps} steps, trace ${hash}, every sentence holds`
  const replay = `npm run sim -- --seed ${seed}${bug ? ` --bug ${bug}` : ''}${store ? ` --store ${store} --url …` : ''}`
  return [
    `seed ${seed} breaks ${broken.invariant} after ${steps} steps (trace ${hash})`,
    `  invariant: ${INVARIANTS[broken.invariant].says}`,
    `  but:     ${broken.detail}`,
    `  replay:  ${replay}`,
    ...trace.map((trackQueue) => `    ${trackQueue}`),
  ].join('\n')
}
