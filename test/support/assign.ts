import type { TaskCommand } from '../../src/kinds/task/command.ts'
import { type Holder, LONG_LEASE_MS, type Task, type Work } from './tasks.ts'

/** As the coordinator does it: the agent did not ask. */
export function assign(work: Work, task: Task, { agent, session }: Holder, leaseMs = LONG_LEASE_MS) {
  const command: TaskCommand = {
    kind: 'claim',
    agent,
    session,
    leaseMs,
    capabilities: [],
    byCoordinator: true,
  }
  return work.command(task, command, 'system')
}
