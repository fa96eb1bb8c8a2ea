import { parseArgs } from 'node:util'
import { BUGS, type BugName } from './bugs.ts'
import { Coverage } from './coverage.ts'
import { report, runSeed } from './run.ts'

/** `npm run sim -- --seeds 1000`, or `--seed 17` to see one run again; `--bug noLock` plants a bug of bugs.ts. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    bug: { type: 'string' },
    /** How much of the trace to print. */
    lines: { type: 'string', default: '40' },
  },
})

if (values.bug !== undefined && !(values.bug in BUGS)) {
  console.error(`There is no planted bug "${values.bug}". There are: ${Object.keys(BUGS).join(', ')}.`)
  process.exit(2)
}
const bug = values.bug as BugName | undefined
const coverage = new Coverage()
const options = { bug, coverage, lines: Number(values.lines) }

if (values.seed !== undefined) {
  const outcome = await runSeed(Number(values.seed), options)
  console.log(report(outcome, options))
  if (!outcome.broken) console.log(outcome.trace.join('\n'))
  process.exitCode = outcome.broken ? 1 : 0
} else await runMany(Number(values.from), Number(values.seeds))

async function runMany(from: number, seeds: number): Promise<void> {
  const began = performance.now()
  let steps = 0
  let ran = 0
  for (let seed = from; seed < from + seeds && !process.exitCode; seed++, ran++) {
    const outcome = await runSeed(seed, options)
    steps += outcome.steps
    if (outcome.broken) {
      console.log(report(outcome, options))
      process.exitCode = 1
    }
  }
  const seconds = (performance.now() - began) / 1000
  console.log(`${coverage}\nways not taken: ${coverage.missedTransitions.join(', ') || 'none'}`)
  console.log(
    `${ran} seeds, ${steps} steps in ${seconds.toFixed(1)} s: ${(ran / seconds).toFixed(0)} seeds/s`,
  )
}
