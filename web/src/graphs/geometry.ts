import type { LaidEdge, Layout, Place } from './layers.ts'

/** A layout in pixels, and its edges as paths. Pure. */

export const NODE_WIDTH = 216
export const NODE_HEIGHT = 62
const GAP_X = 64
const GAP_Y = 16
/** Around the graph: the ring of the focused node is drawn outside of it. */
const MARGIN = 12

export const leftOf = ({ column }: Place) => MARGIN + column * (NODE_WIDTH + GAP_X)
export const topOf = ({ row }: Place) => MARGIN + row * (NODE_HEIGHT + GAP_Y)

export const middleOf = (place: Place) => ({
  x: leftOf(place) + NODE_WIDTH / 2,
  y: topOf(place) + NODE_HEIGHT / 2,
})

export const sizeOf = ({ columns, rows }: Layout) => ({
  width: 2 * MARGIN + Math.max(1, columns) * (NODE_WIDTH + GAP_X) - GAP_X,
  height: 2 * MARGIN + Math.max(1, rows) * (NODE_HEIGHT + GAP_Y) - GAP_Y,
})

/** More edges than these are not drawn all at once: they would be a grey area that takes a second. */
export const MOST_EDGES = 3_000

/** All edges as one path: one element to draw, however many they are. */
export function edgePath(edges: readonly LaidEdge[], places: ReadonlyMap<string, Place>): string {
  return edges
    .map(({ from, to }) => {
      const [a, b] = [places.get(from), places.get(to)]
      return a && b ? curve(a, b) : ''
    })
    .join('')
}

function curve(from: Place, to: Place): string {
  const [x1, y1] = [leftOf(from) + NODE_WIDTH, topOf(from) + NODE_HEIGHT / 2]
  const [x2, y2] = [leftOf(to), topOf(to) + NODE_HEIGHT / 2]
  // An edge that leads back, or within a column, goes around the nodes.
  const bend = x2 > x1 ? Math.min((x2 - x1) / 2, GAP_X) : GAP_X
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

export const ZOOM = { least: 0.15, most: 2, step: 1.25 }
export const zoomed = (zoom: number, by: number) => Math.min(ZOOM.most, Math.max(ZOOM.least, zoom * by))

/** The zoom at which all of it is visible; small graphs are not enlarged, and large ones stay readable. */
export function fitting(
  size: { width: number; height: number },
  room: { width: number; height: number },
  least = ZOOM.least,
) {
  const fits = Math.min(room.width / size.width, room.height / size.height)
  return Math.min(1, Math.max(least, fits))
}

/** Text of others in one line that fits: the rest is cut, and the whole is in the tooltip. */
export function cutText(text: string, most: number): string {
  const line = text
    .slice(0, 4 * most)
    .replace(/\s+/g, ' ')
    .trim()
  return line.length > most || text.length > 4 * most
    ? `${line
        .slice(0, most - 1)
        .toWellFormed()
        .trimEnd()}…`
    : line
}
