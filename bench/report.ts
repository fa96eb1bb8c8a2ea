import type { Measured } from './drive.ts'

type Results = Record<string, Measured>

const whole = (value: number) => Math.round(value).toLocaleString('en-US')

export function table(results: Results): string {
  const rows = Object.entries(results).map(([name, m]) => [
    name,
    `${whole(m.perSecond)}/s`,
    `${m.p50Ms.toFixed(1)} ms`,
    `${m.p99Ms.toFixed(1)} ms`,
    `${m.nodeMicros.toFixed(1)} µs`,
  ])
  const all = [['what', 'rate', 'p50', 'p99', 'Node CPU each'], ...rows]
  const widths = all[0]!.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  return all
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '),
    )
    .join('\n')
}

/** Each goal with what was reached. Ratios, so that they hold on other machines. */
export function verdicts(results: Results): string {
  const rate = (name: string) => results[name]!.perSecond
  const stored = Object.keys(results).filter((name) => name.startsWith('e '))
  const goals: [goal: string, reached: number, isMet: boolean][] = []
  const atLeast = (goal: string, least: number, reached: number) =>
    goals.push([goal, reached, reached >= least])
  const atMost = (goal: string, most: number, reached: number) => goals.push([goal, reached, reached <= most])
  atLeast('claims: kernel ≥ 0.6 of bare', 0.6, rate('b kernel claims') / rate('a bare claims'))
  atLeast('submits: kernel ≥ 0.6 of bare', 0.6, rate('b kernel submits') / rate('a bare submits'))
  atLeast('one claim a request ≥ 0.8 of echo', 0.8, rate('c http claim') / rate('c http echo'))
  atMost('growth of cost ≤ 1.2', 1.2, rate(stored[0]!) / rate(stored[1]!))
  atMost('open loop: p99 of claims < 50 ms', 50, results['f open loop claims']!.p99Ms)
  atMost('open loop: p99 of submits < 50 ms', 50, results['f open loop submits']!.p99Ms)
  return goals
    .map(([goal, reached, isMet]) => `${isMet ? 'met   ' : 'MISSED'}  ${goal}: ${reached.toFixed(2)}`)
    .join('\n')
}
