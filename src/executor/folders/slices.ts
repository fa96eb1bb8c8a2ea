import { setImmediate as nextTurn } from 'node:timers/promises'

const SLICE = 2_000

/** Calls `act` for each item. Between two slices, other work of the process gets its turn. */
export async function inSlices<T>(items: Iterable<T>, act: (item: T) => void): Promise<void> {
  let count = 0
  for (const item of items) {
    act(item)
    if (++count % SLICE === 0) await nextTurn()
  }
}
