import type { Direction, TaskThatWaits, Walked } from './store.ts'

/** What a store must be able to find for it. */
interface WalkReads {
  /** Those of these tasks that are blocked and not over. */
  blockedAmong(ids: readonly number[]): Promise<TaskThatWaits[]>
  /** Tasks that wait for any of these. */
  waitingFor(ids: readonly number[]): Promise<readonly number[]>
}

/** From task to task, step by step, each once; for stores that cannot walk by themselves. */
export async function walk(
  taskIds: readonly number[],
  way: Direction,
  limit: number,
  { blockedAmong, waitingFor }: WalkReads,
): Promise<Walked> {
  const seen = new Set(taskIds)
  const tasks = await blockedAmong([...seen])
  // Whatever they are, others may wait for them; but only what is blocked itself waits for anything.
  let border = { waitsFor: tasks.flatMap(({ waitsFor }) => waitsFor), ids: taskIds }
  for (;;) {
    const towards = way === 'upstream' ? border.waitsFor : await waitingFor(border.ids)
    const next = [...new Set(towards)].filter((id) => !seen.has(id))
    if (next.length === 0) return { tasks: tasks.slice(0, limit), isWhole: tasks.length < limit }
    if (tasks.length >= limit) return { tasks: tasks.slice(0, limit), isWhole: false }
    for (const id of next) seen.add(id)
    const blocked = await blockedAmong(next)
    tasks.push(...blocked)
    border = { waitsFor: blocked.flatMap(({ waitsFor }) => waitsFor), ids: blocked.map(({ id }) => id) }
  }
}
