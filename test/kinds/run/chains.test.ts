import { describe, expect, test } from 'vitest'
import { MAX_CHAIN_DEPTH } from '../../../src/kinds/run/rules/wakeups.ts'
import { eventually } from '../../support/recovery.ts'
import { type Seen, useFleets } from '../../support/runs.ts'

/** Agents that wake other agents with the tokens of their runs. They may; they must not keep each other awake. */

const { fleet } = useFleets()

/** Wakes the agent in OTHER so many times, each time when that has nothing to do, and claims to be a person. */
const wakesOther = `
  const { BATON_URL, BATON_API_KEY, OTHER, TIMES } = process.env
  const headers = { authorization: 'Bearer ' + BATON_API_KEY, 'content-type': 'application/json' }
  const agent = BATON_URL + '/api/v1/agents/' + OTHER
  // Not what it has begun alone: a wakeup that waits would only take up the next one.
  const isBusy = async () =>
    (await (await fetch(agent + '/wakeups', { headers })).json()).items.some(
      ({ status }) => status === 'queued' || status === 'claimed',
    )
  const pause = () => new Promise((resolve) => setTimeout(resolve, 20))
  const said = { source: 'on_demand', triggerDetail: 'manual', reason: 'your turn' }
  for (let i = 0; i < Number(TIMES ?? 1); i++) {
    while (await isBusy()) await pause()
    await fetch(agent + '/wakeup', { method: 'POST', headers, body: JSON.stringify(said) })
  }`

const isSkipped = ({ status }: Seen) => status === 'skipped'

describe('an agent that wakes another', () => {
  test('is no person, whatever it claims', async () => {
    const w = await fleet()
    await w.put('helper', { adapterType: 'simulated', adapterConfig: { steps: [{ result: 1 }] } })
    await w.script('boss', wakesOther, { env: { OTHER: 'helper' } })
    await w.wake('boss')
    await w.over('helper')
    expect(await w.wakeups('helper')).toMatchObject([
      { source: 'automation', triggerDetail: null, requestedBy: 'agent:boss', reason: 'your turn', depth: 1 },
    ])
    const [run] = await w.runsOf('helper')
    expect(run).toMatchObject({ source: 'automation', triggerDetail: null })
  }, 60_000)

  test('and is woken by it in turn stops at the maximum depth of a chain', async () => {
    const w = await fleet()
    await w.script('ping', wakesOther, { env: { OTHER: 'pong' } })
    await w.script('pong', wakesOther, { env: { OTHER: 'ping' } })
    await w.wake('ping')
    const skipped = await eventually(async () =>
      [...(await w.wakeups('ping')), ...(await w.wakeups('pong'))].find(isSkipped),
    )
    expect(skipped).toMatchObject({
      skipReason: 'CHAIN_TOO_DEEP',
      detail: 'Agents woke each other too many times in a row.',
      depth: MAX_CHAIN_DEPTH + 1,
    })
    const woken = [...(await w.wakeups('ping')), ...(await w.wakeups('pong'))]
    const depths = woken.map(({ depth }) => depth).sort()
    expect(depths).toEqual([0, 1, 2, 3, 4, 5, 6])
    const [event] = await w.happens('wakeup_skipped')
    expect(event!.payload).toMatchObject({ because: 'CHAIN_TOO_DEEP', wakeupId: skipped.id })
    await w.over('ping', 3)
    await w.over('pong', 3)
    expect([...(await w.runsOf('ping')), ...(await w.runsOf('pong'))]).toHaveLength(6)
  }, 120_000)

  test('repeatedly, without a task, is stopped by the hourly limit', async () => {
    const w = await fleet()
    await w.put('helper', {
      adapterType: 'simulated',
      adapterConfig: { steps: [{ result: 1 }] },
      runtimeConfig: { heartbeat: { maxWakeupsPerTaskPerHour: 2 } },
    })
    await w.script('boss', wakesOther, { env: { OTHER: 'helper', TIMES: '3' } })
    await w.wake('boss')
    await w.over('boss')
    expect((await w.wakeups('helper')).map(({ skipReason }) => skipReason)).toEqual([
      null,
      null,
      'RATE_CAPPED',
    ])
    expect(await w.wake('helper'), 'a person may still').toMatchObject({ skipReason: null })
  }, 60_000)
})
