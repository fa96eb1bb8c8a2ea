/**
 * Upkeep handles a limited amount at a time. When more is due, workspaces share it: one backlog must not hide the others.
 */

/** The first of each workspace, then the second of each, and so on. Each workspace keeps its own order. */
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
 * The oldest due tasks of all workspaces. Shares per workspace are read only when the limit was reached, so there may be
 * more. Unused shares go to the oldest.
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
