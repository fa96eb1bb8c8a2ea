import type { AnswerTo } from '../../../../src/client/client.ts'
import { type Bar, Bars, Chart, ChartTable, Legend } from '../../graphs/chart.tsx'
import type { Window } from '../../parts/windows.ts'
import {
  agentBars,
  bottleneckBars,
  failureBars,
  retryBars,
  slowestBars,
  verdictBars,
} from './insight-words.ts'

/** The charts of Insight, each with its table. */

const SHOWN = 8

function BarChart(props: {
  title: string
  text: string
  bars: readonly Bar[]
  head: readonly string[]
  empty: string
  hasLegend?: boolean
}) {
  const { title, text, bars, head, empty, hasLegend = false } = props
  const table = (
    <ChartTable
      head={head}
      label={title}
      rows={bars.map(({ key, name, to, more = [] }) => ({ key, to, cells: [name, ...more] }))}
    />
  )
  const hidden = bars.length - SHOWN
  return (
    <Chart {...(bars.length === 0 ? { empty } : {})} table={table} text={text} title={title}>
      <Bars bars={bars.slice(0, SHOWN)} label={title} />
      {hidden > 0 && <p className="text-label text-muted">{hidden} more in the table.</p>}
      {hasLegend && <Legend parts={bars[0]?.parts ?? []} />}
    </Chart>
  )
}

export const Failures = ({
  items,
  window,
}: {
  items: AnswerTo<'GET', '/insight/causes'>['items']
  window: Window
}) => (
  <BarChart
    bars={failureBars(items, window)}
    empty="Nothing failed in this time."
    head={['Cause', 'Failures', 'Tasks', 'Done by now']}
    text="Attempts that failed, by cause. A bar opens its tasks."
    title="Why work failed"
  />
)

export const Slowest = ({ items }: { items: AnswerTo<'GET', '/insight/slowest'>['items'] }) => (
  <BarChart
    bars={slowestBars(items)}
    empty="Nothing ended in this time."
    head={['Task', 'Worked', 'Waited before', 'Attempts', 'Agent']}
    text="How long their last attempt took."
    title="Slowest tasks"
  />
)

export const WhoWaits = ({ items }: { items: AnswerTo<'GET', '/insight/bottlenecks'>['items'] }) => (
  <BarChart
    bars={bottleneckBars(items)}
    empty="No task that ended in this time kept another one waiting."
    head={['Task', 'Others waited', 'Tasks that waited', 'Agent']}
    text="Tasks that others need, by how long they kept them waiting."
    title="Who waits for whom"
  />
)

type Telemetry = AnswerTo<'GET', '/telemetry'>

export const Success = ({ agents }: { agents: Telemetry['agents'] }) => (
  <BarChart
    bars={agentBars(agents)}
    empty="No agent ended a task in this time."
    hasLegend
    head={['Agent and type', 'Tasks', 'Done', 'Failed', 'Success', 'Attempts']}
    text="Tasks that ended, by who held them last and their type."
    title="Success by agent and type"
  />
)

export const RetriesThatHelped = ({ retries, window }: { retries: Telemetry['retries']; window: Window }) => (
  <BarChart
    bars={retryBars(retries, window)}
    empty="Nothing was retried in this time."
    hasLegend
    head={['Failed before by', 'Retries', 'Tasks', 'Done by now']}
    text="Tasks that were tried again, and how many of them are done."
    title="Retries that helped"
  />
)

export function Verdicts({ verdicts, window }: { verdicts: Telemetry['verdicts']; window: Window }) {
  const isNone = verdicts.passed + verdicts.failed + verdicts.unsure === 0
  return (
    <BarChart
      bars={isNone ? [] : verdictBars(verdicts, window)}
      empty="No verifier gave a verdict in this time."
      hasLegend
      head={['Verdict', 'Stood', 'Overruled', 'Not decided']}
      text="What verifiers said, and how often a person decided otherwise."
      title="Verifier against person"
    />
  )
}
