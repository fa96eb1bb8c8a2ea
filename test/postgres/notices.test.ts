import { expect, test } from 'vitest'
import { until, useNodes } from '../support/nodes.ts'
import { holder } from '../support/tasks.ts'

const nodes = useNodes('postgres')

test('a node is notified of what another node committed, in which workspace and whether work waits there', async () => {
  const [here, there] = await nodes.pair()
  const heard: { events: number; tasksWaiting: boolean }[] = []
  const stop = there.store.onCommit((workspaceId, what) => {
    if (workspaceId === here.workspace) heard.push(what)
  })
  const task = await here.create()
  // The workspace itself may have been created within the same notice, or just before.
  await until(async () => heard.some(({ tasksWaiting }) => tasksWaiting))
  expect(heard.find(({ tasksWaiting }) => tasksWaiting)!.events).toBeGreaterThan(0)
  heard.length = 0
  await here.claim(task, holder('alpha'))
  await until(async () => heard.length > 0)
  expect(heard.some(({ tasksWaiting }) => tasksWaiting)).toBe(false)
  stop()
})
