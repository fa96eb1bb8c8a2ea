import { type RefObject, useMemo } from 'react'
import { edgePath, NODE_HEIGHT, NODE_WIDTH, sizeOf } from '../../../graphs/geometry.ts'
import type { Layout } from '../../../graphs/layers.ts'
import type { TaskGraph } from '../task-rows.ts'
import { GraphNode, TEXT_CLIP } from './graph-node.tsx'
import type { EdgeGroups } from './marked.ts'

const EDGE = 'fill-none'
const LINES = [
  ['metData', 'stroke-line', 1.25, undefined],
  ['metOrder', 'stroke-line', 1.25, '5 4'],
  ['data', 'stroke-edge', 1.25, undefined],
  ['order', 'stroke-edge', 1.25, '5 4'],
  ['critical', 'stroke-ink', 2.5, undefined],
  ['own', 'stroke-accent', 2, undefined],
] as const

/** The tasks with their edges, in a box that scrolls. */
export function GraphCanvas(props: {
  box: RefObject<HTMLDivElement | null>
  graph: TaskGraph
  layout: Layout
  groups: EdgeGroups
  path: ReadonlySet<string>
  zoom: number
  current: string | null
  open: string | undefined
  onlyFailed: boolean
  addressOf: (task: string) => string
  onOpen: (task: string) => void
  onFocus: (task: string) => void
  onInside: (isInside: boolean) => void
}) {
  const { box, graph, layout, groups, path, zoom, current, open, onlyFailed } = props
  const { addressOf, onOpen, onFocus, onInside } = props
  const size = sizeOf(layout)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notes where the focus is, for the keys of the graph
    <div
      className="max-h-[max(22rem,calc(100dvh-24rem))] min-h-0 cursor-grab overflow-auto rounded-card border border-line bg-sunken active:cursor-grabbing"
      onBlur={(event) => onInside(event.currentTarget.contains(event.relatedTarget))}
      onFocus={() => onInside(true)}
      ref={box}
    >
      <svg
        aria-label="Graph of the tasks"
        className="block select-none"
        height={size.height * zoom}
        viewBox={`0 0 ${size.width} ${size.height}`}
        width={size.width * zoom}
      >
        <defs>
          <clipPath id={TEXT_CLIP}>
            <rect height={NODE_HEIGHT} width={NODE_WIDTH - 6} />
          </clipPath>
        </defs>
        <Edges groups={groups} layout={layout} />
        {graph.nodes.map((node) => {
          const place = layout.places.get(node.id)
          return (
            place && (
              <GraphNode
                address={addressOf(node.id)}
                isCurrent={node.id === current}
                isDim={onlyFailed && node.state !== 'failed'}
                isOnPath={path.has(node.id)}
                isOpen={node.id === open}
                key={node.id}
                node={node}
                onFocus={onFocus}
                onOpen={onOpen}
                place={place}
              />
            )
          )
        })}
      </svg>
    </div>
  )
}

function Edges({ groups, layout }: { groups: EdgeGroups; layout: Layout }) {
  return useMemo(
    () => (
      <g>
        {LINES.map(([name, colour, width, dashes]) => (
          <path
            className={`${EDGE} ${colour}`}
            d={edgePath(groups[name], layout.places)}
            key={name}
            strokeDasharray={dashes}
            strokeWidth={width}
          />
        ))}
      </g>
    ),
    [groups, layout],
  )
}
