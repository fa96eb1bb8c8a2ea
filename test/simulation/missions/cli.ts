import { runSeeds } from '../seeds-cli.ts'
import { MISSION_BUGS } from './bugs.ts'
import { reportOfMissions, runSeedOfMissions } from './run.ts'

/** `npm run sim:missions -- --seeds 200`, or `--seed 17` to see one run again; `--bug makersJudge` plants a bug of bugs.ts. */
await runSeeds({ bugs: MISSION_BUGS, run: runSeedOfMissions, report: reportOfMissions })
