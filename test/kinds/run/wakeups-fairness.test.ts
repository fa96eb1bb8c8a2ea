import { beforeEach, describe, expect, test } from 'vitest'
import { dueWakeups } from '../../../src/kinds/run/postgres/dispatch.ts'
import { until } from '../../support/nodes.ts'
import { HERE, type RunningNode, useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/** Workspaces that share the capacity of a node: none of them is starved by another with many requests. */

const cluster = useCluster()

// Wakeups that other tests left would be scheduled as well.
beforeEach(() => cluster.rows('delete from wakeups'))

/** A workspace with so many agents, each with a wakeup. */
async function wanting(
  agents: number,
  source: 'on_demand' | 'automation' = 'on_demand',
): Promise<WakeupWorkspace> {
  const h = await cluster.workspace()
  for (let i = 0; i < agents; i++) {
    await h.agent(`agent-${i}`)
    await h.wake(`agent-${i}`, { source })
  }
  return h
}

/** The workspaces that are next, with room for so many. */
const turns = async (room: number, ...workspaces: WakeupWorkspace[]) =>
  (await dueWakeups(workspaces[0]!.store.readers, HERE, room)).map(({ workspaceId }) =>
    workspaces.findIndex(({ id }) => id === workspaceId),
  )

describe('due wakeups', () => {
  test('alternate between workspaces, however many one of them has and however important', async () => {
    const flood = await wanting(6)
    const other = await wanting(2, 'automation')
    const third = await wanting(1, 'automation')
    expect(await turns(7, flood, other, third)).toEqual([0, 1, 2, 0, 1, 0, 0])
    expect(await turns(2, flood, other, third), 'with less room').toEqual([0, 1])
  })

  test('are first those of the workspace with the fewest runs, on any node', async () => {
    const flood = await wanting(6)
    const other = await wanting(3, 'automation')
    for (const agent of ['agent-0', 'agent-1']) await flood.take({ agent })
    expect(await turns(4, flood, other)).toEqual([1, 1, 1, 0])
  })

  test('are first those of the workspace whose last run began longest ago, when they have the same number', async () => {
    const flood = await wanting(3)
    const other = await wanting(3, 'automation')
    for (const [h, agent, next] of [
      [flood, 'agent-0', 1],
      [other, 'agent-0', 0],
      [flood, 'agent-1', 1],
    ] as const) {
      const taken = await h.take({ agent })
      await h.end(taken!.runId, agent)
      expect((await turns(1, flood, other))[0]).toBe(next)
    }
  })
})

test('a node with one place gives it to another workspace as soon as it is free', {
  timeout: 60_000,
}, async () => {
  const flood = await wanting(4)
  const node = await cluster.node('narrow', 1)
  node.takesMs = null
  node.run()
  await invokedTimes(node, 1)
  const other = await wanting(2, 'automation')
  for (let n = 1; n < 6; n++) {
    node.invoked.at(-1)!.end()
    await invokedTimes(node, n + 1)
  }
  node.invoked.at(-1)!.end()
  const ofOther = new Set(other.invokedBy(node).map(({ input }) => input.runId))
  const order = node.invoked.map(({ input }) => (ofOther.has(input.runId) ? 'other' : 'flood'))
  expect(order).toEqual(['flood', 'other', 'flood', 'other', 'flood', 'flood'])
  expect(flood.invokedBy(node)).toHaveLength(4)
})

const invokedTimes = (node: RunningNode, times: number) => until(async () => node.invoked.length >= times)
