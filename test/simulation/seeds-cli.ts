import { parseArgs } from 'node:util'

/** A simulation from the command line: many seeds, or one of them again, with or without a planted bug. */

interface Simulation<Bug extends string, Outcome extends { broken: unknown }> {
  bugs: Readonly<Record<Bug, unknown>>
  run(seed: number, options: { bug: Bug | undefined; lines: number }): Promise<Outcome>
  report(outcome: Outcome, bug: Bug | undefined): string
}

export async function runSeeds<Bug extends string, Outcome extends { broken: unknown }>({
  bugs,
  run,
  report,
}: Simulation<Bug, Outcome>): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      bug: { type: 'string' },
      /** How much of the trace to print. */
      lines: { type: 'string', default: '40' },
    },
  })
  const bug = values.bug as Bug | undefined
  if (bug !== undefined && !(bug in bugs)) {
    console.error(`There is no planted bug "${bug}". There are: ${Object.keys(bugs).join(', ')}.`)
    process.exit(2)
  }
  const first = Number(values.seed ?? values.from)
  const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first
  const began = performance.now()
  let ran = 0
  for (let seed = first; seed <= last && !process.exitCode; seed++, ran++) {
    const outcome = await run(seed, { bug, lines: Number(values.lines) })
    if (outcome.broken || first === last) console.log(report(outcome, bug))
    if (outcome.broken) process.exitCode = 1
  }
  console.log(`${ran} seeds in ${((performance.now() - began) / 1000).toFixed(1)} s`)
}
