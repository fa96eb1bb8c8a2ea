import { setTimeout as sleep } from 'node:timers/promises'
import { serverDirectory } from '../../../src/store/directory.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { Leadership } from '../../../src/upkeep/leadership.ts'
import { Node } from '../../../src/upkeep/node.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { newTask } from '../tasks.ts'

/**
 * A node that coordinates whenever it may, and writes under its term until it is refused: it ignores its own clock, so that
 * only the database is left to stop it. Prints what happens, a line each.
 */
const [url, workspaceId, name, leaseMs] = process.argv.slice(2)
const store = await PostgresStore.open(url!)
const node = await Node.start(store, { name, version: 'test' })
const leadership = new Leadership(store, node.id, { leaseMs: Number(leaseMs) })
const kernel = openKernel(store, serverDirectory(store))

let stopping = false
process.on('SIGTERM', () => {
  stopping = true
})
const quietly = <T>(answer: Promise<T>) => answer.catch(() => null)

async function coordinate(term: number): Promise<void> {
  console.log(`leads ${term}`)
  while (!stopping) {
    void quietly(leadership.hold())
    const caller = { workspaceId: Number(workspaceId), actor: `term:${term}`, rights: new Set<never>(), term }
    const reply = await quietly(kernel.run(caller, { on: 'new', tasks: [newTask()] }))
    if (reply && !reply.ok) return console.log(`refused ${term} ${reply.code}`)
  }
}

console.log(`node ${node.id}`)
while (!stopping) {
  const term = await quietly(leadership.hold())
  if (term !== null) await coordinate(term)
  else await sleep(5)
}
await leadership.resign()
await node.stop()
await kernel.close()
await store.close()
