import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'

/** `npm run demo`, as people run it. */

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What it shows, whenever it is run. */
const SHOWN = [
  /Build the API: The result failed verification \(attempt 1\)/,
  /Build the API: The result passed verification/,
  /Build payments: Attempt 1 failed; .*crashed/,
  /Build the search: Attempt 1 failed; .*The attempt was not done within 5 s/,
  /Build the pages: The task waits for an answer/,
  /Put the parts together: demo-reviewer verifies the result/,
  /Release the shop: A person approved the result/,
  /12 of 12 tasks are done/,
]

/** From its start to its end; how many seconds it says that it took. */
export async function expectWholeDemo(): Promise<number> {
  const program = ['scripts/run.mjs', 'scripts/demo.ts']
  const { code, printed } = await new Promise<{ code: unknown; printed: string }>((resolve) =>
    execFile(process.execPath, program, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? error?.signal ?? 0, printed: stdout + stderr }),
    ),
  )
  expect(code, printed).toBe(0)
  for (const line of SHOWN) expect(printed).toMatch(line)
  return Number(/([\d.]+) s {2}The demonstration is completed/.exec(printed)![1])
}
