import { parseArgs } from 'node:util'
import { openStore } from '../../src/queue/open-store.ts'
import type { RealStore } from './backing.ts'
import { BUGS, type BugName } from './bugs.ts'
import { Coverage } from './coverage.ts'
import { report, runSeed } from './run.ts'

/**
 * `npm run sim -- --seeds 1000`, or `--seed 17` to see one run again; `--bug noLock` plants a bug of bugs.ts; `--store
 * postgres --url postgres://…` puts the state in a real store, in workspaces of its own.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    bug: { type: 'string' },
    /** How much of the trace to print. */
    lines: { type: 'string', default: '40' },
    store: { type: 'string', default: 'memory' },
    url: { type: 'string' },
  },
})

const STORES = ['memory', 'postgres', 'valkey', 'mysql']

function refuse(why: string): never {
  console.error(why)
  process.exit(2)
}

if (values.bug !== undefined && !(values.bug in BUGS))
  refuse(`There is no planted bug "${values.bug}". There are: ${Object.keys(BUGS).join(', ')}.`)
if (!STORES.includes(values.store))
  refuse(`There is no store "${values.store}". There are: ${STORES.join(', ')}.`)
if (values.store !== 'memory' && values.url === undefined)
  refuse(`A ${values.store} store needs --url. Its workspaces stay behind: use a database of its own.`)

const bug = values.bug as BugName | undefined
const coverage = new Coverage()
const real = values.store === 'memory' ? undefined : await realStore(values.url!)
const store = real ? values.store : undefined
const options = { bug, coverage, lines: Number(values.lines), real }

if (values.seed !== undefined) {
  const outcome = await runSeed(Number(values.seed), options)
  console.log(report(outcome, { bug, store }))
  if (!outcome.broken) console.log(outcome.trace.join('\n'))
  process.exitCode = outcome.broken ? 1 : 0
} else await runMany(Number(values.from), Number(values.seeds))
await real?.store.close()

async function realStore(url: string): Promise<RealStore> {
  const opened = await openStore(url)
  const run = `sim ${process.pid} ${Date.now()}`
  let workspaces = 0
  return { store: opened, newWorkspace: (limits) => opened.workspace(`${run} ${++workspaces}`, limits) }
}

async function runMany(from: number, seeds: number): Promise<void> {
  const began = performance.now()
  let steps = 0
  let ran = 0
  for (let seed = from; seed < from + seeds && !process.exitCode; seed++, ran++) {
    const outcome = await runSeed(seed, options)
    steps += outcome.steps
    if (outcome.broken) {
      console.log(report(outcome, { bug, store }))
      process.exitCode = 1
    }
  }
  const seconds = (performance.now() - began) / 1000
  console.log(`${coverage}\ntransitions not taken: ${coverage.missedTransitions.join(', ') || 'none'}`)
  console.log(
    `${ran} seeds, ${steps} steps in ${seconds.toFixed(1)} s: ${(ran / seconds).toFixed(seconds > ran ? 2 : 0)} seeds/s`,
  )
}
