import { expect, test } from 'vitest'
import { workspaceEvent } from '../../src/kinds/events.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from '../../src/kinds/run/rules/step.ts'
import { MemoryRunStore } from '../../src/memory/run-store.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'

/** Writes that are not batched, through the kernel. */

async function opened() {
  const store = new MemoryRunStore()
  const workspaceId = await store.workspace('test')
  const unused = () => Promise.reject(new Error('unused'))
  return { store, workspaceId, kernel: openKernel(store, { agentOf: unused, projectOf: unused }) }
}

const says = (...actors: readonly string[]): RunsStep<string> => ({
  on: 'runs',
  reads: NOTHING_ASKED,
  decide: ({ now }) => ({
    answer: 'done',
    changes: {
      ...NOTHING_CHANGED,
      events: actors.map((actor) => workspaceEvent('run_status', { runId: 'r' }, { actor, now })),
    },
  }),
})

test('a step of a coordinator whose term is over writes nothing', async () => {
  const { store, workspaceId, kernel } = await opened()
  const node = { leaseMs: 60_000, nodeId: 'n' }
  const held = await store.leaderLease.command({ kind: 'take', ...node })
  const { term } = held!
  expect(await kernel.step({ workspaceId, term }, says('system'))).toBe('done')
  const before = await store.lastSeq(workspaceId)
  await expect(kernel.step({ workspaceId, term: term + 1 }, says('system'))).rejects.toMatchObject({
    code: 'NOT_LEADER',
  })
  expect(await store.lastSeq(workspaceId)).toBe(before)
})

test('the events of its caller carry the key and the address, those of others do not', async () => {
  const { store, workspaceId, kernel } = await opened()
  const caller = { workspaceId, actor: 'key:a', keyId: 'a', address: '192.0.2.1' }
  await kernel.step(caller, says('key:a', 'system'))
  const [own, other] = await store.events(workspaceId, 0, 10)
  expect(own).toMatchObject({ actor: 'key:a', keyId: 'a', address: '192.0.2.1' })
  expect(other).not.toHaveProperty('keyId')
  expect(other).not.toHaveProperty('address')
})
