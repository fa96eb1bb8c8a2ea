import type { Measured } from './drive.ts'
import type { QueueFigure } from './queue.ts'
import type { RunFigures } from './runs.ts'

type Results = Record<string, Measured>

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

const aligned = (rows: string[][]): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n')
}

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

export function queueTable(figures: readonly QueueFigure[]): string {
  const rows = figures.map((figure) => [
    `g ${figure.name} ${figure.version} on ${figure.on}`,
    `${whole(figure.tasksPerSecond)}/s`,
    `${whole(figure.enqueueMs)} ms`,
    `${whole(figure.workMs)} ms`,
    figure.cpuSecondsPer1000.toFixed(3),
  ])
  return aligned([['20,000 tasks, end to end', 'rate', 'enqueue', 'work', 'CPU s per 1,000'], ...rows])
}

type Goal = [goal: string, reached: number, isMet: boolean]

const worded = (goals: readonly Goal[]) =>
  goals
    .map(([goal, reached, isMet]) => `${isMet ? 'met   ' : 'MISSED'}  ${goal}: ${reached.toFixed(2)}`)
    .join('\n')

export function queueVerdicts(figures: readonly QueueFigure[], results: Results): string {
  const of = (name: string, on: string) => figures.find((one) => one.name === name && one.on === on)
  const baton = of('baton', 'postgres')!
  const goals: Goal[] = []
  for (const name of ['graphile-worker', 'pg-boss']) {
    const rate = baton.tasksPerSecond / of(name, 'postgres')!.tasksPerSecond
    const cpu = baton.cpuSecondsPer1000 / of(name, 'postgres')!.cpuSecondsPer1000
    goals.push([`tasks a second ≥ ${name}`, rate, rate >= 1], [`CPU a task < ${name}`, cpu, cpu < 1])
  }
  // Left out where there is no Valkey.
  const bullmq = baton.tasksPerSecond / (of('bullmq', 'valkey')?.tasksPerSecond ?? Number.NaN)
  goals.push(['tasks a second ≥ 2.5 × BullMQ', bullmq, bullmq >= 2.5])
  const { p99Ms } = results['h wake-up of a waiting caller']!
  goals.push(['wake-up: p99 < 20 ms', p99Ms, p99Ms < 20])
  const [few, many] = Object.keys(results).filter((name) => name.startsWith('i '))
  const growth = results[few!]!.perSecond / results[many!]!.perSecond
  goals.push(['cost of next, many waiting ≤ 1.3 × few', growth, growth <= 1.3])
  return worded(goals)
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

/** Each goal with the figure reached. Ratios, so that they hold on other machines. */
export function verdicts(results: Results): string {
  const rate = (name: string) => results[name]!.perSecond
  const stored = Object.keys(results).filter((name) => name.startsWith('e '))
  const goals: Goal[] = []
  const atLeast = (goal: string, least: number, reached: number) =>
    goals.push([goal, reached, reached >= least])
  const atMost = (goal: string, most: number, reached: number) => goals.push([goal, reached, reached <= most])
  atLeast('claims: kernel ≥ 0.6 of bare', 0.6, rate('b kernel claims') / rate('a bare claims'))
  atLeast('submits: kernel ≥ 0.6 of bare', 0.6, rate('b kernel submits') / rate('a bare submits'))
  atLeast('one claim a request ≥ 0.8 of echo', 0.8, rate('c http claim') / rate('c http echo'))
  atMost('growth of cost ≤ 1.2', 1.2, rate(stored[0]!) / rate(stored[1]!))
  atMost('open loop: p99 of claims < 50 ms', 50, results['f open loop claims']!.p99Ms)
  atMost('open loop: p99 of submits < 50 ms', 50, results['f open loop submits']!.p99Ms)
  return worded(goals)
}
