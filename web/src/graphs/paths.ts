import { type LaidEdge, layersOf, neighboursOf } from './layers.ts'

/** Ways through a graph: the longest one that is left, and what is around a node. Pure. */

/** The longest chain among these nodes, from its beginning. Fewer than two nodes are no chain. */
export function longestChain(ids: readonly string[], edges: readonly LaidEdge[]): string[] {
  const { before } = neighboursOf(ids, edges)
  const layers = layersOf(ids, before)
  let last: string | undefined
  for (const id of ids) if (last === undefined || layers.get(id)! > layers.get(last)!) last = id
  const chain: string[] = []
  while (last !== undefined) {
    chain.push(last)
    const layer: number = layers.get(last)!
    last = before.get(last)!.find((one) => layers.get(one) === layer - 1)
    if (layer === 0) break
  }
  return chain.length < 2 ? [] : chain.reverse()
}

interface Around {
  /** The node itself first, then by distance. */
  ids: string[]
  /** How many more there are. */
  more: number
}

/** A node with those up to `steps` before and after it. Of many the most important ones: a lower rank comes first. */
export function around(
  id: string,
  edges: readonly LaidEdge[],
  rank: (id: string) => number,
  { steps = 2, most = 150 }: { steps?: number; most?: number } = {},
): Around {
  const next = { before: new Map<string, string[]>(), after: new Map<string, string[]>() }
  for (const { from, to } of edges) {
    next.before.set(to, [...(next.before.get(to) ?? []), from])
    next.after.set(from, [...(next.after.get(from) ?? []), to])
  }
  const distance = new Map([[id, 0]])
  for (const beside of [next.before, next.after]) {
    let border = [id]
    for (let step = 1; step <= steps; step++) {
      const found = border.flatMap((one) => beside.get(one) ?? []).filter((one) => !distance.has(one))
      for (const one of found) distance.set(one, step)
      border = [...new Set(found)]
    }
  }
  const ids = [...distance.keys()].sort(
    (one, other) => distance.get(one)! - distance.get(other)! || rank(one) - rank(other),
  )
  return { ids: ids.slice(0, most), more: Math.max(0, ids.length - most) }
}

export type Direction = 'left' | 'right' | 'up' | 'down'

/** Where an arrow key leads: left and right along edges, up and down within the column. Null: nowhere. */
export function towards(
  from: string,
  direction: Direction,
  places: ReadonlyMap<string, { column: number; row: number }>,
  edges: readonly LaidEdge[],
): string | null {
  const at = places.get(from)
  if (!at) return null
  if (direction === 'left' || direction === 'right') {
    const connected = edges.flatMap((edge) => {
      if (direction === 'left') return edge.to === from ? [edge.from] : []
      return edge.from === from ? [edge.to] : []
    })
    return nearest(connected, at, places)
  }
  const sign = direction === 'up' ? -1 : 1
  const beside = [...places].flatMap(([id, { column, row }]) =>
    column === at.column && (row - at.row) * sign > 0 ? [id] : [],
  )
  return nearest(beside, at, places)
}

function nearest(
  ids: readonly string[],
  at: { column: number; row: number },
  places: ReadonlyMap<string, { column: number; row: number }>,
): string | null {
  let best: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const id of ids) {
    const place = places.get(id)
    if (!place) continue
    const far = Math.abs(place.row - at.row) + Math.abs(place.column - at.column) / 1_000
    if (far < least) {
      least = far
      best = id
    }
  }
  return best
}
