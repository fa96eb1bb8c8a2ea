import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** Many seeds of a simulation, on all cores. */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Ends with what was printed: the report of the first seed that breaks an invariant, if there is one. */
function simulate(cli: string, from: number, seeds: number): Promise<{ printed: string; isClean: boolean }> {
  // A step leaves much garbage and keeps little: a large young generation is collected less often.
  const program = ['--max-semi-space-size=64', 'scripts/run.mjs', cli]
  const args = [...program, '--from', `${from}`, '--seeds', `${seeds}`]
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd: root }, (error, stdout, stderr) =>
      resolve({ printed: stdout + stderr, isClean: error === null }),
    ),
  )
}

/** `share`: how many seeds a process runs, so that all cores have work until the end. */
export async function expectCleanSeeds(cli: string, seeds: number, share: number): Promise<void> {
  const shares = Array.from({ length: seeds / share }, (_, i) => 1 + i * share)
  const began = performance.now()
  const work = async () => {
    for (let from = shares.shift(); from !== undefined; from = shares.shift()) {
      const { printed, isClean } = await simulate(cli, from, share)
      expect(isClean, printed).toBe(true)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  console.log(`${seeds} seeds in ${((performance.now() - began) / 1000).toFixed(0)} s`)
}
