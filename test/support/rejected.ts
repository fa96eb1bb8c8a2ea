import type { StoredResult } from '../../src/kernel/store/store.ts'
import type { TaskCommand } from '../../src/kinds/task/command.ts'
import { granted, type Holder, type Task, type Work } from './tasks.ts'

/** Work that was submitted after its holder had released the task: it is rejected, and stored. */
export async function rejectedResult(work: Work, task: Task, by: Holder, result: unknown = 'too late') {
  const hold = granted(await work.claim(task, by))
  await work.release(task, hold)
  await work.submit(task, hold, result)
  return (await work.results(task)).at(-1)!
}

/** A person promotes it. */
export const promotion = ({ generation, session, hash, ref }: StoredResult): TaskCommand => ({
  kind: 'promote',
  generation,
  session,
  hash,
  ref,
  reason: 'it was good',
})
