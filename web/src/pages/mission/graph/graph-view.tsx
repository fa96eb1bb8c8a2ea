import { useCallback, useMemo, useRef, useState } from 'react'
import { MOST_CARDS } from '../../../../../src/views/board/columns.ts'
import { middleOf, sizeOf } from '../../../graphs/geometry.ts'
import { layOut } from '../../../graphs/layers.ts'
import { around, type Direction, towards } from '../../../graphs/paths.ts'
import { type Shortcuts, useShortcuts } from '../../../keys/shortcuts.ts'
import { useListOf } from '../../../keys/siblings.ts'
import { useGo } from '../../../links.tsx'
import { Loading } from '../../../parts/loaded.tsx'
import { useIsPhone } from '../../../parts/media.ts'
import { countText } from '../../../parts/wording.ts'
import type { Mission } from '../../../things/mission/progress.tsx'
import { MissionTasks } from '../mission-tasks.tsx'
import { isAdded, type TaskGraph } from '../task-rows.ts'
import { useGraphOf } from '../use-mission.ts'
import type { MissionAddress } from '../views.ts'
import { FindTask } from './find-task.tsx'
import { GraphBar } from './graph-bar.tsx'
import { GraphCanvas } from './graph-canvas.tsx'
import { criticalPath, edgeGroups, firstOf, importance } from './marked.ts'
import { useDrag, useZoom } from './use-zoom.ts'

/** More tasks than these are not drawn all at once: nobody would find one among them. Their cards are one request. */
const MOST_NODES = MOST_CARDS

interface Props {
  mission: Mission
  place: MissionAddress
  addressOf: (change: MissionAddress) => string
}

/** The tasks and what waits for what. A phone has no room to draw it: there it is a list by layers. */
export function GraphView(props: Props) {
  const { mission, place, addressOf } = props
  const isPhone = useIsPhone()
  const read = useGraphOf(mission.id)
  const { data: graph } = read
  const focus = graph?.nodes.some(({ id }) => id === place.focus) ? place.focus : undefined
  const [shown, more] = useShown(graph, focus)
  if (!graph) return <Loading read={read} rows={6} />
  if (graph.nodes.length === 0)
    return <p className="text-muted">It has no tasks yet. They appear here as soon as there is a plan.</p>
  if (isPhone) return <MissionTasks addressOf={addressOf} mission={mission} place={place} />
  if (shown === null)
    return (
      <div className="flex flex-col gap-4">
        <p className="max-w-prose text-body">
          It has {countText(graph.nodes.length)} tasks. Up to {MOST_NODES} are drawn at once. Choose one to
          see it with its neighbours, two steps before and after it.
        </p>
        <FindTask graph={graph} addressOf={(task) => addressOf({ focus: task })} />
        <MissionTasks
          addressOf={({ task, ...rest }) => addressOf(task === undefined ? rest : { ...rest, focus: task })}
          mission={mission}
          place={place}
        />
      </div>
    )
  return <Drawn {...props} focus={focus} graph={shown} key={focus} more={more} whole={graph} />
}

/** What is drawn of it: all, or one task with its neighbours. Null: there is too much, and nothing is chosen. */
function useShown(
  graph: TaskGraph | undefined,
  focus: string | undefined,
): [shown: TaskGraph | null, more: number] {
  return useMemo(() => {
    if (!graph) return [null, 0]
    if (focus === undefined) return [graph.nodes.length > MOST_NODES ? null : graph, 0]
    const byId = new Map(graph.nodes.map((node) => [node.id, node]))
    const { ids, more } = around(focus, graph.edges, (id) => importance(byId.get(id)!))
    const known = new Set(ids)
    return [
      {
        nodes: graph.nodes.filter(({ id }) => known.has(id)),
        edges: graph.edges.filter(({ from, to }) => known.has(from) && known.has(to)),
      },
      more,
    ]
  }, [graph, focus])
}

/** Places belong to which tasks there are, not to what they do. */
function useLayout({ nodes, edges }: TaskGraph) {
  const structure = nodes.map((node) => (isAdded(node) ? `+${node.id}` : node.id)).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the structure is the nodes' value
  return useMemo(
    () =>
      layOut(
        nodes.map((node) => ({ id: node.id, isAdded: isAdded(node) })),
        edges,
      ),
    [structure, edges],
  )
}

function Drawn(
  props: Props & { graph: TaskGraph; whole: TaskGraph; focus: string | undefined; more: number },
) {
  const { graph, whole, focus, more, place, addressOf } = props
  const go = useGo()
  const box = useRef<HTMLDivElement>(null)
  const layout = useLayout(graph)
  const [isInside, setInside] = useState(false)
  const [chosen, setChosen] = useState<string | null>(null)
  const isThere = (id: string | null | undefined) => id != null && layout.places.has(id)
  const wanted = [chosen, focus, place.task].find(isThere) ?? null
  const current = wanted ?? firstOf(graph.nodes)
  const start = current === null ? undefined : layout.places.get(current)
  const { zoom, zoomBy, showAll } = useZoom(box, sizeOf(layout), start ? middleOf(start) : null)
  useDrag(box)
  const path = useMemo(() => criticalPath(graph), [graph])
  const onPath = useMemo(() => new Set(path), [path])
  const groups = useMemo(() => edgeGroups(graph, path, chosen), [graph, path, chosen])
  useListOf(
    'task',
    graph.nodes.map(({ id }) => id),
  )
  const latest = useRef({ addressOf, go })
  latest.current = { addressOf, go }
  const onOpen = useCallback((task: string) => latest.current.go(latest.current.addressOf({ task })), [])
  const move = (direction: Direction) => {
    const next = current && towards(current, direction, layout.places, graph.edges)
    if (next) focusOn(box.current, next)
  }
  const step = (by: number) => {
    const at = graph.nodes.findIndex(({ id }) => id === current)
    // From elsewhere on the page it leads to the task that is current.
    const next = graph.nodes[Math.min(graph.nodes.length - 1, Math.max(0, isInside ? at + by : at))]
    if (next) focusOn(box.current, next.id)
  }
  const only = place.only === 'failed'
  const showFailed = () => go(addressOf({ only: only ? undefined : 'failed' }), { replace: true })
  const focusOnTask = (task: string | undefined) => go(addressOf({ focus: task }))
  useShortcuts('Graph', {
    ...arrows(move, !isInside),
    j: { words: 'Next task', run: () => step(1), repeats: true },
    k: { words: 'Previous task', run: () => step(-1), repeats: true },
    n: {
      words: 'Show only the task and its neighbours',
      run: () => current && focusOnTask(current),
      isOff: current === null || focus === current,
    },
    f: { words: 'Failed tasks only', run: showFailed },
    '+': { words: 'Larger', run: () => zoomBy(1.25) },
    '-': { words: 'Smaller', run: () => zoomBy(0.8) },
    '0': { words: 'Fit the graph', run: () => showAll() },
    Esc: {
      words: 'Show all tasks again',
      run: () => focusOnTask(undefined),
      isOff: focus === undefined || place.task !== undefined,
    },
  })
  return (
    <section aria-label="Graph" className="flex min-w-0 flex-col gap-2">
      <GraphBar
        current={current}
        focus={focus}
        more={more}
        onFailed={showFailed}
        onFit={() => showAll()}
        onFocus={focusOnTask}
        onlyFailed={only}
        onZoom={zoomBy}
        undrawn={groups.left}
        whole={whole}
      />
      <GraphCanvas
        addressOf={(task) => addressOf({ task })}
        box={box}
        current={current}
        graph={graph}
        groups={groups}
        layout={layout}
        onFocus={setChosen}
        onInside={setInside}
        onlyFailed={only}
        onOpen={onOpen}
        open={place.task}
        path={onPath}
        zoom={zoom}
      />
      <p className="flex flex-wrap gap-x-4 text-label text-muted">
        <span>Solid lines hand a result on, dashed ones only set the order, faint ones are done.</span>
        {path.length > 0 && (
          <span>Bold: the longest chain of what is left, {countText(path.length)} tasks.</span>
        )}
      </p>
    </section>
  )
}

const arrows = (move: (direction: Direction) => void, isOff: boolean): Shortcuts => ({
  ArrowLeft: { words: 'A task it waits for', run: () => move('left'), repeats: true, isOff },
  ArrowRight: { words: 'A task that waits for it', run: () => move('right'), repeats: true, isOff },
  ArrowUp: { words: 'The task above', run: () => move('up'), repeats: true, isOff },
  ArrowDown: { words: 'The task below', run: () => move('down'), repeats: true, isOff },
})

/** The browser scrolls to what gets the focus. */
function focusOn(box: HTMLElement | null, task: string): void {
  box?.querySelector<SVGAElement>(`[data-task="${CSS.escape(task)}"]`)?.focus()
}
