import { Navigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { countText } from '../../parts/wording.ts'
import { useSession } from '../../requests/session.ts'
import { type AnyState, STATE_LOOKS } from '../../theme/marks.ts'
import { hasLeftWelcome } from '../../things/agent/onboarding.ts'
import { RunDemo } from '../../things/mission/run-demo.tsx'
import { Spend, Throughput } from './charts.tsx'
import { Running } from './running.tsx'
import { type Overview as Answer, useOverview } from './use-overview.ts'
import { Waiting } from './waiting.tsx'

/** Does it move, who is stuck, what waits, what does it cost: without scrolling. */
export function Overview() {
  const read = useOverview()
  const { data } = read
  const { workspace } = useSession()
  // Nothing was ever done here, and this user has not opened another page yet.
  if (data && isNew(data) && !hasLeftWelcome(workspace.id)) return <Navigate replace to="/welcome" />
  return (
    <Page text={data && <Health overview={data} />} title="Overview">
      {!data ? (
        <Loading read={read} rowHeight={56} rows={8} />
      ) : isNew(data) ? (
        <NothingYet />
      ) : (
        <div className="flex flex-col gap-3">
          <Waiting count={data.waiting.count} items={data.waiting.items} />
          <div className="grid grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)_minmax(0,1fr)] gap-3 max-lg:grid-cols-2 max-sm:flex max-sm:flex-col">
            <Figures overview={data} />
            <Throughput overview={data} />
            <Spend overview={data} />
          </div>
          <Running count={data.running.count} items={data.running.items} />
          <div className="flex gap-3 max-lg:flex-col">
            <Agents agents={data.agents} />
            <Missions missions={data.missions} />
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

function Figures({ overview: { counts, throughput } }: { overview: Answer }) {
  const held = counts.assigned + counts.running + counts.continuing
  return (
    <dl className="grid grid-cols-3 content-between gap-x-4 gap-y-2 rounded-card border border-line bg-raised px-4 py-3 max-lg:col-span-2">
      <Figure count={held} state="running" words="running" />
      <Figure count={counts.queued} state="queued" words="queued" />
      <Figure count={counts.pending} state="pending" words="waiting" />
      <Figure count={counts.awaiting_retry} state="awaiting_retry" words="retry" />
      <Figure count={throughput.failed} state="failed" words="failed, 24 h" />
      <Figure count={throughput.completed} state="completed" words="done, 24 h" />
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

const Box = ({ title, to, children }: { title: string; to: string; children: ReactNode }) => (
  <section className="flex min-w-0 flex-1 flex-col gap-2 rounded-card border border-line bg-raised px-4 py-3">
    <h2 className="text-row font-medium">
      <PageLink className="hover:text-accent hover:underline" to={to}>
        {title}
      </PageLink>
    </h2>
    {children}
  </section>
)

const SHOWN_AGENTS = ['running', 'idle', 'error', 'paused', 'offline'] as const

function Agents({ agents }: { agents: Answer['agents'] }) {
  return (
    <Box title="Agents" to="/agents">
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-row">
        {SHOWN_AGENTS.filter((state) => agents.counts[state] > 0).map((state) => (
          <span className="inline-flex items-center gap-1.5" key={state}>
            <StateMark size={12} state={state} /> {countText(agents.counts[state])}{' '}
            {state === 'running' ? 'working' : STATE_LOOKS[state].word.toLowerCase()}
          </span>
        ))}
        {SHOWN_AGENTS.every((state) => agents.counts[state] === 0) && (
          <span className="text-muted">No agents yet.</span>
        )}
      </p>
      {agents.inError.slice(0, 2).map(({ slug, reason }) => (
        <p className="truncate text-row text-bad" key={slug}>
          {slug}: {reason ?? 'in error'}
        </p>
      ))}
    </Box>
  )
}

const SHOWN_MISSIONS = 2

function Missions({ missions: { items, count } }: { missions: Answer['missions'] }) {
  return (
    <Box title={`Missions${count > SHOWN_MISSIONS ? `, ${count} open` : ''}`} to="/missions">
      {items.length === 0 && <p className="text-row text-muted">No missions in progress.</p>}
      {items.slice(0, SHOWN_MISSIONS).map(({ id, title, state, taskCount, tasksCompleted, tasksFailed }) => (
        <div className="flex items-center gap-3 text-row" key={id}>
          <StateMark label={STATE_LOOKS[state].word} size={14} state={state} />
          <PageLink
            className="min-w-0 flex-1 truncate hover:text-accent hover:underline"
            to={`/missions/${id}`}
          >
            {title}
          </PageLink>
          <div className="w-28 shrink-0">
            <ProgressBar
              label={`Progress of ${title}`}
              parts={[
                { hue: 'done', percent: taskCount === 0 ? 0 : (tasksCompleted / taskCount) * 100 },
                { hue: 'bad', percent: taskCount === 0 ? 0 : (tasksFailed / taskCount) * 100 },
              ]}
              percent={taskCount === 0 ? 0 : (tasksCompleted / taskCount) * 100}
            />
          </div>
          <span className="w-14 shrink-0 text-right text-muted tabular-nums">
            {tasksCompleted}/{taskCount}
          </span>
        </div>
      ))}
    </Box>
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
