import { describe, expect, test } from 'vitest'
import { RunOutput } from '../../../src/executor/output.ts'
import { RunSecrets } from '../../../src/executor/run-secrets.ts'
import { realTimers } from '../../../src/executor/timers.ts'
import { LiveOutput } from '../../../src/kernel/live-output.ts'
import type { RunLogStore } from '../../../src/logs/protocol.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** A run that prints more than is stored, on a server with a small limit. */

const MAX = 2_000
const { fleet } = useFleets({ BATON_MAX_LOG_BYTES: String(MAX) })

const finishedIn = async (w: Fleet): Promise<Seen[]> =>
  (await w.call('GET', '/events?limit=200')).body.items.filter(({ type }: Seen) => type === 'run_finished')

describe('a run that prints more than its log may have', () => {
  test('continues to its end, and its result and usage count', async () => {
    const w = await fleet()
    await w.script(
      'dev',
      `for (let i = 0; i < 100; i++) console.log('x'.repeat(99))
       console.log(JSON.stringify({ result: { answer: 42 }, summary: 'Done', usage: { inputTokens: 5, outputTokens: 7 } }))`,
    )
    await w.wake('dev')
    const [run] = await w.over('dev')
    const seen = await w.run(run.id)
    expect(seen).toMatchObject({
      status: 'succeeded',
      result: { answer: 42 },
      tokens: { input: 5, output: 7 },
      log: { truncated: true, status: 'available' },
    })
    expect(seen.stdoutExcerpt).toContain('"answer":42')
    const log = await w.log(run.id)
    expect(log).toMatchObject({ truncated: true, bytes: Buffer.byteLength(log.content), nextOffset: null })
    expect(log.content).toBe(
      `${`${'x'.repeat(99)}\n`.repeat(MAX / 100)}\n[The log ends here: it reached its limit of ${MAX} bytes. The run continued.]\n`,
    )
    expect(await finishedIn(w)).toMatchObject([{ payload: { runId: run.id, logTruncated: true } }])
  })

  test('that prints less has a complete log', async () => {
    const w = await fleet()
    await w.script('dev', `console.log('little')`)
    await w.wake('dev')
    const [run] = await w.over('dev')
    expect((await w.run(run.id)).log).toMatchObject({ truncated: false, bytes: 7 })
    expect(await finishedIn(w)).toMatchObject([{ payload: { runId: run.id, logTruncated: false } }])
  })
})

test('output that its store did not accept makes the log incomplete', async () => {
  let isAway = false
  const store = {
    type: 'postgres',
    append: async () => {
      if (isAway) throw new Error('could not extend file: No space left on device')
    },
    finalize: async () => ({ bytes: 3, sha256: '', compressed: false, truncated: false }),
  } as unknown as RunLogStore
  const output = () =>
    new RunOutput({
      ...{
        store,
        handle: { store: 'postgres', logRef: '1' },
        secrets: new RunSecrets([]),
        live: new LiveOutput(),
      },
      ...{ run: { workspaceId: 1, runId: 'r', agent: 'a' }, warn: () => undefined },
      timers: realTimers,
    })
  const whole = output()
  await whole.take('stdout', 'one')
  expect(await whole.end()).toMatchObject({ truncated: false })
  const broken = output()
  await broken.take('stdout', 'one')
  isAway = true
  expect(await broken.end()).toMatchObject({ bytes: 3, truncated: true })
})
