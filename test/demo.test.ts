import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { simulatedAdapter } from '../src/adapters/simulated.ts'
import { DEMO_AGENTS } from '../src/flow/demo/agents.ts'

/** `npm run demo`, as people run it. */

const root = fileURLToPath(new URL('..', import.meta.url))

test('the agents of the demonstration have valid scripts', () => {
  for (const [slug, { adapterConfig }] of Object.entries(DEMO_AGENTS))
    expect([slug, simulatedAdapter.validateConfig!(adapterConfig as Record<string, unknown>)]).toEqual([
      slug,
      { ok: true },
    ])
})

test('the demonstration runs from its start to its end, with everything that it shows', {
  timeout: 400_000,
}, async () => {
  const program = ['scripts/run.mjs', 'scripts/demo.ts']
  const { code, printed } = await new Promise<{ code: unknown; printed: string }>((resolve) =>
    execFile(process.execPath, program, { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, printed: stdout + stderr }),
    ),
  )
  expect(code, printed).toBe(0)
  for (const line of [
    /Build the API: The result failed verification \(attempt 1\)/,
    /Build the API: The result passed verification/,
    /Build payments: Attempt 1 failed \(infrastructure\).*crashed/,
    /Build the search: Attempt 1 failed \(timeout\)/,
    /Build the pages: The task waits for an answer/,
    /Put the parts together: demo-reviewer verifies the result/,
    /Release the shop: A person approved the result/,
    /12 of 12 tasks are done/,
  ])
    expect(printed).toMatch(line)
})
