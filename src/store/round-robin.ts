/** Upkeep takes so much at a time. Whose turn it is when more is due: one workspace's backlog must not hide what others wait for. */

/** The first of each workspace, then the second of each, and so on, each workspace's in the order given. */
export function roundRobin<T extends { workspaceId: number }>(due: readonly T[], limit: number): T[] {
  const counts = new Map<number, number>()
  const places = due.map((one) => {
    const place = counts.get(one.workspaceId) ?? 0
    counts.set(one.workspaceId, place + 1)
    return { one, place }
  })
  return places
    .sort((a, b) => a.place - b.place)
    .slice(0, limit)
    .map(({ one }) => one)
}

/**
 * The oldest of what is due, in all workspaces. Only when that may not be all is it worth asking each workspace for its
 * share; shares that nobody needs go to the oldest.
 */
export async function oldestOrShares<T extends { workspaceId: number; uuid: string }>(
  limit: number,
  oldest: () => Promise<T[]>,
  shares: () => Promise<T[]>,
): Promise<T[]> {
  const first = await oldest()
  if (first.length < limit) return first
  const all = new Map([...(await shares()), ...first].map((task) => [task.uuid, task]))
  return roundRobin([...all.values()], limit)
}
