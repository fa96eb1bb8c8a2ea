import { expect, test } from 'vitest'
import { useNodes } from './support/nodes.ts'

const nodes = useNodes('postgres')

test('a node is notified of what another node committed, in which workspace and whether work waits there', async () => {
  const [here, there] = await nodes.pair()
  const heard = new Promise<{ workspaceId: number; events: number; tasksWaiting: boolean }>((resolve) => {
    const stop = there.store.onCommit((workspaceId, what) => {
      if (workspaceId !== here.workspace) return
      stop()
      resolve({ workspaceId, ...what })
    })
  })
  await here.create()
  expect(await heard).toMatchObject({ workspaceId: here.workspace, tasksWaiting: true })
  expect((await heard).events).toBeGreaterThan(0)
})
