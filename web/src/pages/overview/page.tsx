import { Navigate, useSearch } from '@tanstack/react-router'
import { PageLink, useGo } from '../../links.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { WINDOW_WORDS, WINDOWS, type Window } from '../../parts/windows.ts'
import { countText } from '../../parts/wording.ts'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import type { AnyState } from '../../theme/marks.ts'
import { hasLeftWelcome } from '../../things/agent/onboarding.ts'
import { useBudgetsOf } from '../../things/budget/use-budgets.ts'
import { RunDemo } from '../../things/mission/run-demo.tsx'
import { Agents } from './agents.tsx'
import { Alerts } from './alerts.tsx'
import { shownBudgets, WorkspaceBudgets } from './budgets.tsx'
import { Spend, Throughput } from './charts.tsx'
import { Ended } from './ended.tsx'
import { Missions } from './missions.tsx'
import { Running } from './running.tsx'
import { type Overview as Answer, useOverview } from './use-overview.ts'
import { Waiting } from './waiting.tsx'

/** Does it move, who is stuck, what waits, what does it cost: without scrolling. */
export function Overview() {
  const { window = '24h' } = useSearch({ from: '/' })
  const go = useGo()
  const read = useOverview(window)
  const limits = useBudgetsOf('workspace')
  // Together: what comes later would move the acts below it.
  const isRead = limits.data !== undefined || limits.error !== null
  const data = isRead ? read.data : undefined
  const budgets = shownBudgets(limits.data?.items ?? [])
  const { workspace } = useSession()
  // Nothing was ever done here, and this user has not opened another page yet.
  if (data && isNew(data) && !hasLeftWelcome(workspace.id)) return <Navigate replace to="/welcome" />
  return (
    <Page
      actions={
        data &&
        !isNew(data) && (
          <Segmented<Window>
            label="Period"
            onChange={(next) => go(`/${writeSearch({ window: next === '24h' ? undefined : next })}`)}
            options={WINDOWS.map((value) => ({ value, words: WINDOW_WORDS[value].short }))}
            value={window}
          />
        )
      }
      text={data && <Health overview={data} />}
      title="Overview"
    >
      {!data ? (
        <Loading read={read} rowHeight={56} rows={8} />
      ) : isNew(data) ? (
        <NothingYet />
      ) : (
        <div className="flex flex-col gap-3">
          <Alerts alerts={data.alerts} />
          <Waiting count={data.waiting.count} items={data.waiting.items} />
          <div className="grid grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)_minmax(0,1fr)] gap-3 max-lg:grid-cols-2 max-sm:flex max-sm:flex-col">
            <Figures overview={data} />
            <Throughput overview={data} />
            <Spend overview={data} />
          </div>
          {budgets.length > 0 && <WorkspaceBudgets budgets={budgets} />}
          <Running count={data.running.count} items={data.running.items} />
          <div className="grid grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)] items-start gap-3 @max-[1000px]:flex @max-[1000px]:flex-col @max-[1000px]:items-stretch">
            <Ended ended={data.ended.tasks} window={data.window} />
            <div className="flex min-w-0 flex-col gap-3">
              <Agents agents={data.agents} />
              <Missions ended={data.ended.missions} missions={data.missions} />
            </div>
          </div>
        </div>
      )}
    </Page>
  )
}

const isNew = ({ counts, missions, agents }: Answer) =>
  missions.count === 0 &&
  Object.values(counts).every((count) => count === 0) &&
  Object.values(agents.counts).every((count) => count === 0)

function Health({ overview }: { overview: Answer }) {
  const { coordinator, eventsPerSecond } = overview
  return (
    <>
      {coordinator.isHealthy ? (
        `Coordinator on ${coordinator.node ?? 'a node'}`
      ) : (
        <span className="font-medium text-bad">No node is the leader: no work is assigned</span>
      )}
      {` · ${coordinator.nodes} ${coordinator.nodes === 1 ? 'node' : 'nodes'} · events ${countText(Math.round(eventsPerSecond))}/s`}
    </>
  )
}

function Figures({ overview: { counts, throughput, window } }: { overview: Answer }) {
  const { short } = WINDOW_WORDS[window]
  const held = counts.assigned + counts.running + counts.continuing
  return (
    <dl className="grid grid-cols-3 content-between gap-x-4 gap-y-2 rounded-card border border-line bg-raised px-4 py-3 max-lg:col-span-2">
      <Figure count={held} state="running" words="running" />
      <Figure count={counts.queued} state="queued" words="queued" />
      <Figure count={counts.pending} state="pending" words="waiting" />
      <Figure count={counts.awaiting_retry} state="awaiting_retry" words="retry" />
      <Figure count={throughput.failed} state="failed" words={`failed, ${short}`} />
      <Figure count={throughput.completed} state="completed" words={`done, ${short}`} />
    </dl>
  )
}

function Figure({ count, state, words }: { count: number; state: AnyState; words: string }) {
  return (
    <div className="flex min-w-0 flex-col-reverse">
      <dt className="flex items-center gap-1.5 text-row text-muted">
        <StateMark size={12} state={state} /> {words}
      </dt>
      <dd className={`text-figure font-semibold tabular-nums ${count === 0 ? 'text-faint' : ''}`}>
        {countText(count)}
      </dd>
    </div>
  )
}

function NothingYet() {
  return (
    <Empty
      action={
        <>
          <RunDemo />
          <PageLink
            className="touchable inline-flex h-9 items-center rounded-card border border-edge bg-raised px-3 font-medium hover:bg-hover"
            to="/missions/new"
          >
            Describe a goal
          </PageLink>
          <PageLink className="self-center px-2 font-medium text-accent hover:underline" to="/welcome">
            First steps
          </PageLink>
        </>
      }
      drawing="handover"
      text="The agents, tasks and missions of this workspace at a glance. The demo needs no model and costs nothing."
      title="Nothing is happening yet"
    />
  )
}
