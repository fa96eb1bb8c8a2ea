import { expect } from 'vitest'
import type { Json, Task } from './http-workspace.ts'
import { superuser } from './nodes.ts'
import type { Fleet, Seen } from './runs.ts'
import type { ServerUnderTest } from './server.ts'

/** The tasks of a mission that starts at once, in the order of its plan. */
export async function planned(w: Fleet, tasks: readonly Json[], config: Json = {}): Promise<Seen[]> {
  const body = { goal: 'Do it', plan: { tasks }, config: { autonomy: 'full_auto', ...config } }
  const made = await w.post('/missions', body)
  expect(made).toMatchObject({ status: 201 })
  const { items } = (await w.call('GET', `/missions/${made.body.id}/tasks?limit=100`)).body
  return items.toSorted((one: Seen, other: Seen) => one.plan.sequenceNumber - other.plan.sequenceNumber)
}

/** The wait for its next attempt is over. A person's retry would reset the attempts. */
export const endWaitOn = ({ databaseUrl }: ServerUnderTest, task: Task) =>
  superuser(databaseUrl, (client) =>
    client.query('update baton.tasks set due_at = now() where uuid = $1', [task.id]),
  )
