import type { Request } from '../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { World } from './world.ts'

/** Checks results. It reads without a lock, so its verdicts may be out of date on arrival. */
export async function verifyForever(world: World): Promise<void> {
  const { random, scheduler, store } = world
  for (;;) {
    await scheduler.sleep(random.int(500, 6_000), 'the verifier looks')
    for (const { record } of await store.tasks())
      if (record.state === 'verifying' && random.chance(0.25)) judge(world, record)
  }
}

/** The answer is not awaited: what was not done is found again at the next look. */
function judge(world: World, record: TaskRecord): void {
  const { network, scheduler, random } = world
  const { id: taskId, uuid, generation } = record
  const verdict = random.weighted({ passed: 3, failed: 3, unsure: 1 })
  const command = { kind: 'verdict', verdict, note: null, generation } as const
  const request: Request = { on: 'task', actor: 'system', taskId, uuid, command }
  const sender = { name: 'verifier', clock: () => scheduler.now }
  scheduler.after(random.int(0, 30_000), `a verdict on ${world.nameOf(taskId)}`, () => {
    network.call(sender, request, record).catch(() => undefined)
  })
}
