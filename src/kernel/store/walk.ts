import type { Direction, TaskThatWaits, Walked } from './store.ts'

/** What a store provides for the walk. */
interface WalkReads {
  /** The blocked, non-terminal tasks among these. */
  blockedAmong(ids: readonly number[]): Promise<TaskThatWaits[]>
  /** Tasks that depend on any of these. */
  waitingFor(ids: readonly number[]): Promise<readonly number[]>
}

/** Walks the dependency graph step by step, each task once; for stores that have no recursive query. */
export async function walk(
  taskIds: readonly number[],
  way: Direction,
  limit: number,
  { blockedAmong, waitingFor }: WalkReads,
): Promise<Walked> {
  const seen = new Set(taskIds)
  const tasks = await blockedAmong([...seen])
  // Others may depend on the first tasks whatever their state; only a blocked task waits for anything itself.
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
