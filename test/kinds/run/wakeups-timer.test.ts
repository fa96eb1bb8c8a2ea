import { describe, expect, test } from 'vitest'
import { wakeByClock } from '../../../src/kinds/run/acts/wakeups.ts'
import { serverDirectory } from '../../../src/store/directory.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { pause, resume, terminate } from '../../support/agents.ts'
import { askForWakeups, scheduleTimers, wakeupRequest } from '../../support/run-steps.ts'
import { useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/** Agents that a timer wakes. Due times are moved in the database instead of being waited for. */

const cluster = useCluster()
const AGENT = 'alpha'
const HOUR_MS = 3_600_000
/** Times this far apart are not the same by chance, however long a test takes. */
const MINUTE_MS = 60_000

async function withTimer(
  heartbeat: Record<string, unknown> = { intervalSec: 3_600 },
): Promise<WakeupWorkspace> {
  const h = await cluster.workspace()
  await h.agent(AGENT, heartbeat)
  return h
}
const fireDue = (h: WakeupWorkspace) => wakeByClock(h.kernel, h.id, 1_000)
/** The timer is set; it was due this long ago. */
async function withDueTime(agoMs: number): Promise<WakeupWorkspace> {
  const h = await withTimer()
  await fireDue(h)
  await setDueTime(h, agoMs)
  return h
}
const setDueTime = (h: WakeupWorkspace, agoMs: number) =>
  cluster.rows(
    `update agent_runtime_state set next_timer_at = clock_timestamp() - $2 * interval '1 millisecond' where workspace_id = $1`,
    [h.id, agoMs],
  )
const inMs = async (h: WakeupWorkspace) => {
  const [now] = await cluster.rows<{ now: number }>('select ms(clock_timestamp())::float8 as now')
  return (await h.runtime(AGENT))!.next! - now!.now
}

describe('the timer', () => {
  test('fires for the first time one interval after it was set', async () => {
    const h = await withTimer()
    expect(await fireDue(h)).toBe(0)
    expect(await inMs(h)).toBeGreaterThan(HOUR_MS - 60_000)
    expect(await inMs(h)).toBeLessThanOrEqual(HOUR_MS)
    expect(await h.wakeups()).toEqual([])
    expect(await fireDue(h), 'it is set').toBe(0)
  })

  test('fires when it is due, and is set to one interval from now', async () => {
    const h = await withDueTime(1)
    expect(await fireDue(h)).toBe(1)
    expect(await h.waiting()).toMatchObject([
      { source: 'timer', reason: 'timer', requestedBy: 'system', priority: 1 },
    ])
    expect(await inMs(h)).toBeGreaterThan(HOUR_MS - 60_000)
    expect(await fireDue(h)).toBe(0)
  })

  test('fires once after a long outage, whatever was missed', async () => {
    const h = await withDueTime(1_000 * HOUR_MS)
    await fireDue(h)
    await fireDue(h)
    expect(await h.wakeups()).toHaveLength(1)
    expect(await inMs(h)).toBeGreaterThan(HOUR_MS - 60_000)
  })

  test('fires once even if several nodes check it at the same moment', async () => {
    const h = await withDueTime(1)
    const stores = await Promise.all([1, 2].map(() => PostgresStore.open(cluster.url())))
    const kernels = [h.kernel, ...stores.map((store) => openKernel(store, serverDirectory(store)))]
    try {
      for (let fires = 1; fires <= 10; fires++) {
        await Promise.all(kernels.flatMap((kernel) => [1, 2].map(() => wakeByClock(kernel, h.id, 1_000))))
        const asked = (await h.wakeups()).length
        expect(asked).toBe(fires)
        await setDueTime(h, fires * MINUTE_MS)
      }
      expect(await h.waiting()).toMatchObject([{ coalescedCount: 9 }])
    } finally {
      await Promise.all(kernels.slice(1).map((kernel) => kernel.close()))
      await Promise.all(stores.map((store) => store.close()))
    }
  })

  test('fires once even if the checking node died before it set the next time', async () => {
    const h = await withDueTime(5)
    const at = (await h.runtime(AGENT))!.next!
    const asked = wakeupRequest({ source: 'timer', actor: 'system', idempotencyKey: `timer:${at}` })
    const [first] = await askForWakeups(h.store, h.id, [{ agent: AGENT, asked }])
    await fireDue(h)
    expect((await h.wakeups()).map(({ id }) => id)).toEqual([first!.id])
    expect(await inMs(h)).toBeGreaterThan(0)
  })

  test('that fires during a run starts no other', async () => {
    const h = await withDueTime(1)
    const wakeup = await h.wake(AGENT)
    const { runId } = (await h.take(wakeup))!
    for (let i = 0; i < 3; i++) {
      await setDueTime(h, 1 + i * MINUTE_MS)
      await fireDue(h)
    }
    expect(await h.waiting()).toEqual([])
    expect(await h.wakeup(wakeup.id)).toMatchObject({ coalescedCount: 3 })
    await h.end(runId, AGENT)
    expect(await h.due(), 'and nothing is made up for').toEqual([])
  })

  test('keeps its due time over a restart', async () => {
    const h = await withTimer()
    await fireDue(h)
    const before = (await h.runtime(AGENT))!.next
    const store = await PostgresStore.open(cluster.url())
    const kernel = openKernel(store, serverDirectory(store))
    try {
      expect(await wakeByClock(kernel, h.id, 1_000)).toBe(0)
    } finally {
      await kernel.close()
      await store.close()
    }
    expect((await h.runtime(AGENT))!.next).toBe(before)
  })
})

describe('an interval that is changed', () => {
  test('to a shorter one applies from now on', async () => {
    const h = await withTimer()
    await fireDue(h)
    await h.agent(AGENT, { intervalSec: 60 })
    await fireDue(h)
    expect(await inMs(h)).toBeLessThanOrEqual(60_000)
    expect(await h.wakeups()).toEqual([])
  })

  test('to a longer one leaves the current due time, and applies from then on', async () => {
    const h = await withTimer({ intervalSec: 60 })
    await fireDue(h)
    await h.agent(AGENT, { intervalSec: 3_600 })
    await fireDue(h)
    expect(await inMs(h)).toBeLessThanOrEqual(60_000)
    await setDueTime(h, 1)
    expect(await fireDue(h)).toBe(1)
    expect(await inMs(h)).toBeGreaterThan(60_000)
  })

  test('to none stops the timer', async () => {
    const h = await withDueTime(1)
    await h.agent(AGENT, { intervalSec: null })
    expect(await fireDue(h)).toBe(0)
    expect(await h.wakeups()).toEqual([])
  })
})

describe('the timer does not fire', () => {
  test.each([
    ['for a paused agent', (h: WakeupWorkspace) => pause(h.work, AGENT)],
    ['for a terminated agent', (h: WakeupWorkspace) => terminate(h.work, AGENT, false)],
    [
      'for an agent that runs elsewhere',
      (h: WakeupWorkspace) => h.agent(AGENT, { intervalSec: 3_600 }, { adapterType: 'external' }),
    ],
    [
      'for an agent that nothing wakes',
      (h: WakeupWorkspace) => h.agent(AGENT, { intervalSec: 3_600, enabled: false }),
    ],
    [
      'for a leaving agent',
      async (h: WakeupWorkspace) => {
        await h.assign(AGENT, await h.work.create())
        await terminate(h.work, AGENT, true)
      },
    ],
  ] as const)('%s', async (_name, act) => {
    const h = await withDueTime(1)
    await act(h)
    const before = await h.runtime(AGENT)
    expect(await fireDue(h)).toBe(0)
    expect((await h.wakeups()).filter(({ source }) => source === 'timer')).toEqual([])
    expect(await h.runtime(AGENT), 'nothing is written, pass after pass').toEqual(before)
  })

  test('for a paused agent, and fires once when it is resumed', async () => {
    const h = await withDueTime(24 * HOUR_MS)
    await pause(h.work, AGENT)
    await fireDue(h)
    await resume(h.work, AGENT)
    expect(await fireDue(h)).toBe(1)
    expect(await fireDue(h)).toBe(0)
  })

  test.each([
    { intervalSec: 'soon' },
    { intervalSec: -5 },
    { intervalSec: 60, cooldownSec: 'long' },
    { intervalSec: 60, enabled: 'yes' },
    'on',
    [60],
    null,
  ])('with stored settings from before validation existed: %j, and others still fire', async (heartbeat) => {
    const h = await withDueTime(1)
    await h.agent('odd')
    await cluster.rows(`update agents set runtime_config = $2 where workspace_id = $1 and slug = 'odd'`, [
      h.id,
      JSON.stringify({ heartbeat }),
    ])
    expect(await fireDue(h)).toBe(1)
    expect(await fireDue(h), 'and that is all').toBe(0)
    expect(await h.waiting()).toMatchObject([{ agent: AGENT }])
  })
})

test('many due agents are woken, some at a time, the longest overdue first', async () => {
  const h = await cluster.workspace()
  const slugs = Array.from({ length: 12 }, (_, i) => `agent-${String(i).padStart(2, '0')}`)
  for (const slug of slugs) await h.agent(slug, { intervalSec: 3_600 })
  await scheduleTimers(h.store, h.id, slugs)
  await cluster.rows(
    `update agent_runtime_state set next_timer_at = clock_timestamp() - (substr(agent, 7)::int + 1) * interval '1 minute'
      where workspace_id = $1`,
    [h.id],
  )
  // Elsewhere the timer wakes no agent by now.
  await cluster.rows(`update agents set runtime_config = '{}' where workspace_id <> $1`, [h.id])
  expect(await wakeByClock(h.kernel, undefined, 5)).toBe(5)
  expect((await h.waiting()).map(({ agent }) => agent).sort()).toEqual(slugs.slice(-5))
  expect(await wakeByClock(h.kernel, undefined, 5)).toBe(5)
  expect(await wakeByClock(h.kernel, undefined, 5)).toBe(2)
  expect(await h.waiting()).toHaveLength(12)
})
