import type { Measured } from './drive.ts'
import type { GraphFigures } from './graph.ts'
import type { IdleFigure } from './idle.ts'
import type { PeerFigure } from './peers/compare.ts'
import type { RunFigures } from './runs.ts'
import { aligned, type Rows, ranged, whole } from './text-table.ts'

type Results = Record<string, Measured>

export function table(results: Results): string {
  const rows = Object.entries(results).map(([name, m]) => [
    name,
    `${whole(m.perSecond)}/s`,
    `${m.p50Ms.toFixed(1)} ms`,
    `${m.p99Ms.toFixed(1)} ms`,
    `${m.nodeMicros.toFixed(1)} µs`,
  ])
  return aligned([['what', 'rate', 'p50', 'p99', 'Node CPU each'], ...rows])
}

const nameOf = ({ name, version, isBefore, on }: PeerFigure) =>
  `${name} ${isBefore ? 'before' : version} on ${on}`

const walOf = ({ walBytes }: PeerFigure) => (walBytes ? ranged(walBytes) : '–')

/** In bulk, each at its fastest, from the first task enqueued to the last one completed. */
export const bulkRows = (figures: readonly PeerFigure[]): Rows => [
  ['in bulk', 'tasks/s', 'enqueue ms', 'work ms', 'CPU µs a task', 'WAL B a task', 'keeps'],
  ...figures.map((figure) => [
    nameOf(figure),
    ranged(figure.tasksPerSecond),
    ranged(figure.enqueueMs),
    ranged(figure.workMs),
    ranged(figure.cpuMicros),
    walOf(figure),
    figure.keeps,
  ]),
]

/** One task at a time, without the enqueueing. */
export const oneAtATimeRows = (figures: readonly PeerFigure[]): Rows => [
  ['one at a time', 'workers', 'tasks/s', 'CPU µs a task', 'WAL B a task', 'keeps'],
  ...figures.map((figure) => [
    nameOf(figure),
    String(figure.workers),
    ranged(figure.tasksPerSecond),
    ranged(figure.cpuMicros),
    walOf(figure),
    figure.keeps,
  ]),
]

const percent = (share: number) => `${(share * 100).toFixed(1)} %`

export const idleRows = ({ callers, seconds, shareOfCore, shareWithCallers }: IdleFigure): Rows => [
  ['idle', 'share of a core'],
  [`nobody waits, ${seconds} s`, ranged(shareOfCore, percent)],
  [`${callers} waiting callers, ${seconds} s`, ranged(shareWithCallers, percent)],
]

export type Goal = [goal: string, reached: number, isMet: boolean]

export const worded = (goals: readonly Goal[]) =>
  goals
    .map(([goal, reached, isMet]) => `${isMet ? 'met   ' : 'MISSED'}  ${goal}: ${reached.toFixed(2)}`)
    .join('\n')

export function queueVerdicts(results: Results): string {
  const { p99Ms } = results['h wake-up of a waiting caller']!
  const [few, many] = Object.keys(results).filter((name) => name.startsWith('i '))
  const growth = results[few!]!.perSecond / results[many!]!.perSecond
  return worded([
    ['wake-up: p99 < 20 ms', p99Ms, p99Ms < 20],
    ['cost of next, many waiting ≤ 1.3 × few', growth, growth <= 1.3],
  ])
}

export function coordinatorVerdicts(results: Results): string {
  const passes = Object.entries(results).filter(([name]) => name.startsWith('j '))
  return worded(passes.map(([name, { p99Ms }]) => [`${name} < 250 ms`, p99Ms, p99Ms < 250]))
}

/** Two runs of the same code differ by a tenth. */
export function anyPostgresVerdicts(embedded: Measured, distribution: Measured): string {
  const ratio = distribution.perSecond / embedded.perSecond
  return worded([
    ['waiting workers: the distribution’s Postgres ≥ 0.9 of the embedded one', ratio, ratio >= 0.9],
  ])
}

export function runTable({ bareSpawn, wakeToWork, taskToWork, output }: RunFigures): string {
  const row = (name: string, { p50Ms, p99Ms }: Measured) => [
    name,
    `${p50Ms.toFixed(1)} ms`,
    `${p99Ms.toFixed(1)} ms`,
    `${(p50Ms / bareSpawn.p50Ms).toFixed(1)} ×`,
  ]
  const latencies = aligned([
    ['to the first act of a program', 'p50', 'p99', 'of bare'],
    row('k bare spawn', bareSpawn),
    row('k from a wakeup', wakeToWork),
    row('l from a new task', taskToWork),
  ])
  const { runs, megabytes, seconds, memoryBeforeMb, memoryMostMb } = output
  const printed = `m ${runs} runs at once, ${whole(megabytes)} MB: ${seconds.toFixed(1)} s, ${whole(megabytes / seconds)} MB/s`
  return `${latencies}\n${printed}; the server took ${whole(memoryBeforeMb)} MB before, ${whole(memoryMostMb)} MB at most`
}

export function runVerdicts({ wakeToWork, output }: RunFigures): string {
  const growth = output.memoryMostMb - output.memoryBeforeMb
  const { p50Ms, p99Ms } = wakeToWork
  return worded([
    ['wakeup to first act of the program: p50 < 25 ms', p50Ms, p50Ms < 25],
    ['wakeup to first act of the program: p99 < 100 ms', p99Ms, p99Ms < 100],
    [`logs with every byte, of ${output.runs}`, output.whole, output.whole === output.runs],
    ['growth of the server while they print < 100 MB', growth, growth < 100],
  ])
}

/** The cost of a join must not grow with what it waits for. */
export function graphVerdicts({ joins, waiting, readiness }: GraphFigures): string {
  const rows = joins.map(({ upstream, steps, nodeMicros }) => [
    whole(upstream),
    steps.toFixed(1),
    `${nodeMicros.toFixed(0)} µs`,
  ])
  const [few, many] = [joins[0]!, joins.at(-1)!]
  const growth = many.steps / few.steps
  return `${aligned([['a join of', 'steps an end', 'Node CPU an end'], ...rows])}\n${worded([
    [`dependencies touched for an end, join of ${many.upstream}: ≤ 6`, many.steps, many.steps <= 6],
    [`of those of a join of ${few.upstream}: ≤ 1.2`, growth, growth <= 1.2],
    [
      `readiness after an end, ${whole(waiting)} waiting: p99 < 100 ms`,
      readiness.p99Ms,
      readiness.p99Ms < 100,
    ],
  ])}`
}

/** Ratios, so that they hold on other machines. */
export function kernelVerdicts(results: Results): string {
  const rate = (name: string) => results[name]!.perSecond
  const [claims, submits] = [
    rate('b kernel claims') / rate('a bare claims'),
    rate('b kernel submits') / rate('a bare submits'),
  ]
  const p99 = (name: string) => results[name]!.p99Ms
  const [claimMs, submitMs] = [p99('f open loop claims'), p99('f open loop submits')]
  return worded([
    ['claims: kernel ≥ 0.6 of bare', claims, claims >= 0.6],
    ['submits: kernel ≥ 0.6 of bare', submits, submits >= 0.6],
    ['open loop: p99 of claims < 50 ms', claimMs, claimMs <= 50],
    ['open loop: p99 of submits < 50 ms', submitMs, submitMs <= 50],
  ])
}
