import { expect, test } from 'vitest'
import { useProcesses } from '../../support/recovery.ts'
import { chaos } from '../../support/webhook-chaos.ts'

/** One round; test/long/webhooks.test.ts has many. */

const MINUTES = { timeout: 300_000 }
const processes = useProcesses()

test(
  'a receiver that fails, hangs and restarts gets each event with one id and in order, though the leader is killed, stopped and frozen',
  MINUTES,
  async () => {
    // More than once: it did not take them all.
    expect(await chaos(processes, ['kill', 'freeze', 'stop'], 40)).toBeGreaterThan(120)
  },
)
