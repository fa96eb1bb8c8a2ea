import { type RefObject, useMemo, useRef, useState } from 'react'
import { idleIn } from '../../../graphs/concurrency.ts'
import { foldedTime, idleMsIn, type Span } from '../../../graphs/folded-time.ts'
import { isLasting, type Row, spanOf } from '../../../graphs/timeline.ts'
import { useShortcuts } from '../../../keys/shortcuts.ts'
import { useListOf } from '../../../keys/siblings.ts'
import { useGo } from '../../../links.tsx'
import { useEntity } from '../../../live/hooks.ts'
import { useClockWhileConnected } from '../../../parts/clock.ts'
import { Loading } from '../../../parts/loaded.tsx'
import { useWidth } from '../../../parts/use-width.ts'
import { VirtualList } from '../../../parts/virtual-list.tsx'
import { nameOfTask } from '../../../requests/act-words.ts'
import { shortName } from '../../../things/task/card-words.ts'
import type { TaskGraph } from '../task-rows.ts'
import { useGraphOf, useTimelineOf } from '../use-mission.ts'
import type { MissionAddress } from '../views.ts'
import { FoldBands } from './fold-bands.tsx'
import { Legend, Patterns } from './patterns.tsx'
import { TimelineBar } from './timeline-bar.tsx'
import { HEAD_HEIGHT, STRIP_HEIGHT, TimelineHead } from './timeline-head.tsx'
import { type Relation, ROW_HEIGHT, TimelineRow } from './timeline-row.tsx'
import { useTimeZoom, useZoomByWheel } from './use-time-zoom.ts'
import { waitWords } from './words.ts'

const LABEL_PX = 240
const NARROW_LABEL_PX = 120
/** Of the list's own scrollbar. */
const SCROLLBAR_PX = 16

interface Props {
  id: string
  place: MissionAddress
  addressOf: (change: MissionAddress) => string
}

/** What each task did when: waits, attempts, verifications, one row a task. */
export function TimelineView(props: Props) {
  const read = useTimelineOf(props.id)
  const { data: graph } = useGraphOf(props.id)
  const { data: rows } = read
  if (!rows) return <Loading read={read} rows={8} />
  if (rows.every(({ bars }) => bars.length === 0))
    return (
      <p className="text-muted">
        No task has begun. Waits, attempts and verifications appear here as they happen.
      </p>
    )
  return <Drawn {...props} graph={graph} rows={rows} />
}

/** What the task that is looked at waits for, and what waits for it. */
function useRelations(graph: TaskGraph | undefined, active: string | null) {
  const edges = graph?.edges
  return useMemo(() => {
    const upstream = new Set<string>()
    const downstream = new Set<string>()
    for (const { from, to } of active === null ? [] : (edges ?? [])) {
      if (to === active) upstream.add(from)
      if (from === active) downstream.add(to)
    }
    const relationOf = (task: string): Relation => {
      if (task === active) return 'chosen'
      return upstream.has(task) ? 'upstream' : downstream.has(task) ? 'downstream' : null
    }
    return { upstream, downstream, relationOf }
  }, [edges, active])
}

/** Which part of the time is in view, on a clock that folds what was idle, unless that is wanted, too. */
function useTimeShown(rows: readonly Row[], now: number) {
  const [wantsFolds, setWantsFolds] = useState(true)
  const whole = useMemo(() => spanOf(rows, now) ?? { from: now - 1_000, to: now }, [rows, now])
  const idle = useMemo(() => idleIn(rows, whole, now), [rows, whole, now])
  const clockWith = (isFolded: boolean) => foldedTime(isFolded ? idle : [], whole)
  const time = useMemo(() => foldedTime(wantsFolds ? idle : [], whole), [wantsFolds, idle, whole])
  const shownOn = (clock: typeof time, { from, to }: Span) => ({ from: clock.of(from), to: clock.of(to) })
  const zoom = useTimeZoom(shownOn(time, whole))
  // The same stretch stays in view.
  const turnFolding = () => {
    const next = clockWith(!wantsFolds)
    const { view, isWhole, showPart } = zoom
    setWantsFolds(!wantsFolds)
    if (!isWhole)
      showPart(shownOn(next, { from: time.at(view.from), to: time.at(view.to) }), shownOn(next, whole))
  }
  return { ...zoom, whole, time, isFolding: idle.length === 0 ? null : wantsFolds, turnFolding }
}

type DrawnProps = Props & { rows: readonly Row[]; graph: TaskGraph | undefined }

function Drawn({ rows: all, graph, place, addressOf }: DrawnProps) {
  const go = useGo()
  const box = useRef<HTMLDivElement>(null)
  const room = useWidth(() => box.current)
  const labelWidth = room < 640 ? NARROW_LABEL_PX : LABEL_PX
  const width = Math.max(120, room - labelWidth - SCROLLBAR_PX)
  const isLive = isLasting(all)
  const clock = useClockWhileConnected(isLive ? 1_000 : 60_000)
  const [chosen, setChosen] = useState<string | null>(null)
  const now = Math.floor(clock / 1_000) * 1_000
  const { whole, time, isFolding, view, isWhole, zoomTo, moveBy, showWhole, showPart, turnFolding } =
    useTimeShown(all, now)
  const nodes = useMemo(() => new Map(graph?.nodes.map((node) => [node.id, node])), [graph])
  const only = place.only === 'failed'
  const rows = only ? all.filter(({ task }) => nodes.get(task)?.state === 'failed') : all
  const active = chosen ?? place.task ?? null
  const { upstream, downstream, relationOf } = useRelations(graph, active)
  useListOf(
    'task',
    rows.map(({ task }) => task),
  )
  useZoomByWheel(box, labelWidth, (by, x) => zoomTo(by, view.from + (x / width) * (view.to - view.from)))
  const showFailed = () => go(addressOf({ only: only ? undefined : 'failed' }), { replace: true })
  useTimelineKeys({ box, rows, active, isFolding, showFailed, turnFolding })
  const nowX = ((time.of(now) - view.from) / (view.to - view.from)) * width
  const shown = { from: time.at(view.from), to: time.at(view.to) }
  return (
    <section aria-label="Timeline" className="flex min-w-0 flex-col gap-2">
      <Patterns />
      <TimelineBar
        foldedMs={idleMsIn(time, shown)}
        isFolding={isFolding}
        onFailed={showFailed}
        onFolding={turnFolding}
        onMove={moveBy}
        onWhole={showWhole}
        onZoom={zoomTo}
        onlyFailed={only}
        shownMs={shown.to - shown.from}
        wholeMs={isWhole ? null : whole.to - whole.from}
      />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: what is chosen by the mouse is no longer so when it leaves */}
      <div
        className="relative flex max-h-[max(22rem,calc(100dvh-26rem))] min-h-0 min-w-0 flex-col"
        onMouseLeave={() => setChosen(null)}
        ref={box}
        style={{ height: HEAD_HEIGHT + Math.max(1, rows.length) * ROW_HEIGHT }}
      >
        <TimelineHead
          labelWidth={labelWidth}
          now={now}
          onShow={showPart}
          onWhole={showWhole}
          rows={rows}
          time={time}
          view={view}
          width={width}
        />
        {rows.length === 0 && <p className="py-3 text-muted">No task has failed.</p>}
        <VirtualList
          items={rows}
          keyOf={({ task }) => task}
          label="Tasks and what they did"
          render={(row) => (
            <TimelineRow
              address={addressOf({ task: row.task })}
              labelWidth={labelWidth}
              name={shortName(row.task, undefined)}
              now={now}
              onChoose={setChosen}
              relation={relationOf(row.task)}
              row={row}
              time={time}
              title={nodes.get(row.task)?.title ?? ''}
              view={view}
              width={width}
            />
          )}
          rowHeight={ROW_HEIGHT}
        />
        <FoldBands left={labelWidth} time={time} top={STRIP_HEIGHT} view={view} width={width} />
        {isLive && nowX >= 0 && nowX <= width + 1 && <NowLine left={labelWidth + nowX} />}
      </div>
      <Waited
        active={active}
        after={downstream.size}
        now={now}
        rows={all}
        titleOf={(task) => nodes.get(task)?.title ?? ''}
        upstream={upstream}
      />
      <Legend />
    </section>
  )
}

const NowLine = ({ left }: { left: number }) => (
  <div
    aria-hidden="true"
    className="pointer-events-none absolute top-8 bottom-0 border-l border-bad"
    style={{ left }}
    title="Now"
  />
)

function useTimelineKeys(of: {
  box: RefObject<HTMLDivElement | null>
  rows: readonly Row[]
  active: string | null
  isFolding: boolean | null
  showFailed: () => void
  turnFolding: () => void
}) {
  const { box, rows, active, isFolding, showFailed, turnFolding } = of
  const step = (by: number) => {
    const at = rows.findIndex(({ task }) => task === active)
    const next = rows[Math.min(rows.length - 1, Math.max(0, at === -1 ? 0 : at + by))]
    if (next) focusRow(box.current, next.task)
  }
  useShortcuts('Timeline', {
    j: { words: 'Next task', run: () => step(1), repeats: true },
    k: { words: 'Previous task', run: () => step(-1), repeats: true },
    f: { words: 'Failed tasks only', run: showFailed },
    i: { words: 'Fold idle time, or show it', run: turnFolding, isOff: isFolding === null },
  })
}

/** Who waited for whom, of the task that is looked at. */
function Waited(props: {
  active: string | null
  rows: readonly Row[]
  upstream: ReadonlySet<string>
  after: number
  now: number
  titleOf: (task: string) => string
}) {
  const { active, rows, upstream, after, now, titleOf } = props
  const card = useEntity('card', active ?? '')
  const row = rows.find(({ task }) => task === active)
  if (!row)
    return (
      <p className="text-row text-muted">
        Point at a task, or choose it with j and k, to see whom it waited for.
      </p>
    )
  const before = rows.filter(({ task }) => upstream.has(task))
  return (
    <p aria-live="polite" className="truncate text-row">
      <span className="font-mono text-label text-muted">{shortName(row.task, card)}</span>{' '}
      {titleOf(row.task).slice(0, 80)}{' '}
      {waitWords(row, before, after, now, (task) => nameOfTask(task, undefined))}.
    </p>
  )
}

function focusRow(box: HTMLElement | null, task: string): void {
  box?.querySelector<HTMLElement>(`[data-row="${CSS.escape(task)}"] a`)?.focus()
}
