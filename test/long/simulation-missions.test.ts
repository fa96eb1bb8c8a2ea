import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SEEDS = 5_000
/** How many seeds a process runs, so that all cores have work until the end. */
const SHARE = 500
const root = fileURLToPath(new URL('../..', import.meta.url))

/** Ends with what was printed: the report of the first seed that breaks an invariant, if there is one. */
function simulate(from: number): Promise<{ printed: string; isClean: boolean }> {
  // A step leaves much garbage and keeps little: a large young generation is collected less often.
  const program = ['--max-semi-space-size=64', 'scripts/run.mjs', 'test/simulation/missions/cli.ts']
  const args = [...program, '--from', `${from}`, '--seeds', `${SHARE}`]
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve({ printed: stdout + stderr, isClean: error === null }),
    ),
  )
}

test(`${SEEDS} seeds with missions break no invariant`, async () => {
  const shares = Array.from({ length: SEEDS / SHARE }, (_, i) => 1 + i * SHARE)
  const began = performance.now()
  const work = async () => {
    for (let from = shares.shift(); from !== undefined; from = shares.shift()) {
      const { printed, isClean } = await simulate(from)
      expect(isClean, printed).toBe(true)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  console.log(`${SEEDS} seeds in ${((performance.now() - began) / 1000).toFixed(0)} s`)
}, 3_600_000)
