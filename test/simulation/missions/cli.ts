import { parseArgs } from 'node:util'
import { MISSION_BUGS, type MissionBugName } from './bugs.ts'
import { reportOfMissions, runSeedOfMissions } from './run.ts'

/** `npm run sim:missions -- --seeds 200`, or `--seed 17` to see one run again; `--bug makersJudge` plants a bug of bugs.ts. */
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

const bug = values.bug as MissionBugName | undefined
if (bug !== undefined && !(bug in MISSION_BUGS)) {
  console.error(`There is no planted bug "${bug}". There are: ${Object.keys(MISSION_BUGS).join(', ')}.`)
  process.exit(2)
}
const first = Number(values.seed ?? values.from)
const last = values.seed === undefined ? first + Number(values.seeds) - 1 : first
const began = performance.now()
let ran = 0
for (let seed = first; seed <= last && !process.exitCode; seed++, ran++) {
  const outcome = await runSeedOfMissions(seed, { bug, lines: Number(values.lines) })
  if (outcome.broken || first === last) console.log(reportOfMissions(outcome, bug))
  if (outcome.broken) process.exitCode = 1
}
console.log(`${ran} seeds in ${((performance.now() - began) / 1000).toFixed(1)} s`)
