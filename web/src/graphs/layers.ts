/**
 * Where the tasks of a graph are drawn: in columns, each to the right of all it waits for. Pure. Places follow from the plan
 * alone: no state moves a node, and tasks that are added later take free places below.
 */

export interface LaidNode {
  readonly id: string
  /** It is not of the plan. */
  readonly isAdded: boolean
}

export interface LaidEdge {
  readonly from: string
  readonly to: string
}

export interface Place {
  readonly column: number
  /** In steps of one node; columns with fewer nodes are centred. */
  readonly row: number
}

export interface Layout {
  readonly places: ReadonlyMap<string, Place>
  readonly columns: number
  readonly rows: number
}

/** A layer with more nodes than this is drawn in several columns: nobody follows a column of four hundred. */
const MOST_ROWS = 40
const SWEEPS = 4

export function layOut(nodes: readonly LaidNode[], edges: readonly LaidEdge[]): Layout {
  const planned = nodes.filter(({ isAdded }) => !isAdded).map(({ id }) => id)
  const known = neighboursOf(planned, edges)
  const layers = ordered(byLayer(planned, layersOf(planned, known.before)), known)
  const columns: string[][] = []
  /** The columns of each layer. */
  const columnsOf: number[][] = layers.map((layer) =>
    inColumns(layer).map((column) => columns.push(column) - 1),
  )
  const tallest = Math.max(0, ...columns.map(({ length }) => length))
  const tops = columns.map(({ length }) => (tallest - length) / 2)
  const places = new Map<string, Place>()
  for (const [column, ids] of columns.entries())
    for (const [n, id] of ids.entries()) places.set(id, { column, row: tops[column]! + n })
  const ends = columns.map(({ length }, column) => tops[column]! + length)
  placeAdded(nodes, edges, { places, columnsOf, ends, layers })
  const rows = Math.max(0, ...ends)
  return { places, columns: ends.length, rows }
}

interface Neighbours {
  before: ReadonlyMap<string, readonly string[]>
  after: ReadonlyMap<string, readonly string[]>
}

/** Among these nodes. */
export function neighboursOf(ids: Iterable<string>, edges: readonly LaidEdge[]): Neighbours {
  const before = new Map<string, string[]>()
  const after = new Map<string, string[]>()
  for (const id of ids) {
    before.set(id, [])
    after.set(id, [])
  }
  for (const { from, to } of edges) {
    if (from === to || !before.has(from) || !before.has(to)) continue
    before.get(to)!.push(from)
    after.get(from)!.push(to)
  }
  return { before, after }
}

/** The longest way to each node. Plans have no cycles; with one, this still ends. */
export function layersOf(
  ids: readonly string[],
  before: ReadonlyMap<string, readonly string[]>,
): Map<string, number> {
  const open = new Map(ids.map((id) => [id, before.get(id)!.length]))
  const after = new Map<string, string[]>(ids.map((id) => [id, []]))
  for (const id of ids) for (const one of before.get(id)!) after.get(one)!.push(id)
  const layers = new Map(ids.map((id) => [id, 0]))
  const ready = ids.filter((id) => open.get(id) === 0)
  for (const id of ready)
    for (const next of after.get(id)!) {
      layers.set(next, Math.max(layers.get(next)!, layers.get(id)! + 1))
      open.set(next, open.get(next)! - 1)
      if (open.get(next) === 0) ready.push(next)
    }
  return layers
}

function byLayer(ids: readonly string[], layers: ReadonlyMap<string, number>): string[][] {
  const found: string[][] = []
  for (const id of ids) {
    const layer = layers.get(id)!
    while (found.length <= layer) found.push([])
    found[layer]!.push(id)
  }
  return found
}

/** Nodes near those that they are connected with, so that few edges cross: sweeps from left to right and back. */
function ordered(layers: string[][], { before, after }: Neighbours): string[][] {
  const height = new Map<string, number>()
  const measure = (layer: readonly string[]) => {
    for (const [n, id] of layer.entries()) height.set(id, (n + 0.5) / layer.length)
  }
  let now = layers
  for (const layer of now) measure(layer)
  const sort = (layer: string[], beside: Neighbours['before']): string[] => {
    const wanted = new Map(
      layer.map((id) => {
        const around = beside.get(id)!
        const sum = around.reduce((total, one) => total + height.get(one)!, 0)
        return [id, around.length === 0 ? height.get(id)! : sum / around.length]
      }),
    )
    const sorted = [...layer].sort((one, other) => wanted.get(one)! - wanted.get(other)!)
    measure(sorted)
    return sorted
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    now =
      sweep % 2 === 0
        ? now.map((layer) => sort(layer, before))
        : [...now]
            .reverse()
            .map((layer) => sort(layer, after))
            .reverse()
  return now
}

function inColumns(layer: readonly string[]): string[][] {
  const count = Math.ceil(layer.length / MOST_ROWS)
  const size = Math.ceil(layer.length / count)
  return Array.from({ length: count }, (_, n) => layer.slice(n * size, (n + 1) * size))
}

/** After the plan: each takes the next free place in its layer, so that nothing that is there moves. */
function placeAdded(
  nodes: readonly LaidNode[],
  edges: readonly LaidEdge[],
  into: { places: Map<string, Place>; columnsOf: number[][]; ends: number[]; layers: string[][] },
): void {
  const { places, columnsOf, ends, layers } = into
  const layerOf = new Map(layers.flatMap((ids, layer) => ids.map((id) => [id, layer] as const)))
  const { before } = neighboursOf(
    nodes.map(({ id }) => id),
    edges,
  )
  let left = nodes.filter(({ isAdded }) => isAdded).map(({ id }) => id)
  while (left.length > 0) {
    const ready = left.filter((id) => before.get(id)!.every((one) => layerOf.has(one)))
    const next = ready.length > 0 ? ready : left
    for (const id of next) {
      const layer = Math.max(-1, ...before.get(id)!.map((one) => layerOf.get(one) ?? -1)) + 1
      while (columnsOf.length <= layer) columnsOf.push([ends.push(0) - 1])
      const column = columnsOf[layer]!.reduce((best, one) => (ends[one]! < ends[best]! ? one : best))
      places.set(id, { column, row: ends[column]! })
      ends[column] = ends[column]! + 1
      layerOf.set(id, layer)
    }
    const placed = new Set(next)
    left = left.filter((id) => !placed.has(id))
  }
}
