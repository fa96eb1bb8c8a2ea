import { runSeeds } from '../seeds-cli.ts'
import { RUN_BUGS } from './bugs.ts'
import { reportOfRuns, runSeedOfRuns } from './run.ts'

/** `npm run sim:runs -- --seeds 200`, or `--seed 17` to see one run again; `--bug runsEndTwice` plants a bug of bugs.ts. */
await runSeeds({ bugs: RUN_BUGS, run: runSeedOfRuns, report: reportOfRuns })
