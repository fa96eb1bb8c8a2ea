import { PageLink } from '../../links.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import { countText } from '../../parts/wording.ts'
import { adapterName } from '../../things/agent/adapter-words.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { Resting } from '../../things/agent/resting.tsx'
import { failedTest } from '../../things/agent/test-outcome.ts'
import { isStopped, type useAgentActs } from '../../things/agent/use-agent-acts.ts'
import type { ListedAgent } from './use-agents.ts'

type Acts = ReturnType<typeof useAgentActs>

/** Where there is no room for all. */
export const DROPS = ['last', 'adapter', 'cost', 'today']

export function agentColumns(acts: Acts): Column<ListedAgent>[] {
  return [
    {
      name: 'agent',
      words: 'Agent',
      width: 'minmax(200px, 1.6fr)',
      phone: 'first',
      cell: (agent) => (
        <PageLink className="flex font-medium hover:text-accent hover:underline" to={`/agents/${agent.slug}`}>
          <AgentChip slug={agent.slug} />
        </PageLink>
      ),
    },
    {
      name: 'state',
      words: 'State',
      width: '104px',
      phone: 'first',
      cell: (agent) => (
        <span className="flex">
          <StateChip state={agent.state}>{agent.leaving ? 'Leaving' : undefined}</StateChip>
        </span>
      ),
    },
    {
      name: 'adapter',
      words: 'Type',
      width: 'minmax(96px, 1fr)',
      phone: 'hidden',
      cell: ({ adapterType, model }) => (
        <span className="text-muted">{[adapterName(adapterType), model].filter(Boolean).join(' · ')}</span>
      ),
    },
    {
      name: 'work',
      words: 'Work',
      width: 'minmax(160px, 2fr)',
      phone: 'second',
      cell: (agent) => <Work agent={agent} />,
    },
    {
      name: 'today',
      words: 'Today',
      width: '148px',
      phone: 'hidden',
      cell: (agent) => <Today {...agent.today} />,
    },
    {
      name: 'cost',
      words: 'Cost',
      width: '64px',
      align: 'end',
      phone: 'hidden',
      cell: ({ today }) => (today.runs === 0 ? null : <Money usd={today.costUsd} />),
    },
    {
      name: 'last',
      words: 'Last run',
      width: '80px',
      align: 'end',
      phone: 'hidden',
      cell: ({ lastRun }) =>
        lastRun?.finishedAt ? (
          <PageLink className="text-muted hover:text-accent hover:underline" to={`/runs/${lastRun.id}`}>
            <Moment at={lastRun.finishedAt} />
          </PageLink>
        ) : (
          <span className="text-faint">{lastRun ? 'now' : 'never'}</span>
        ),
    },
    {
      name: 'acts',
      words: <span className="sr-only">Actions</span>,
      width: '164px',
      align: 'end',
      phone: 'second',
      cell: (agent) => <RowActs acts={acts} agent={agent} />,
    },
  ]
}

/** What it holds, or why it does nothing. */
function Work({ agent }: { agent: ListedAgent }) {
  const { holds, activeTasks, maxConcurrentTasks, stateReason } = agent
  const failed = failedTest(agent)
  if (holds.length === 0)
    return failed !== null && agent.state === 'idle' ? (
      <span className="truncate text-ask" title={`It failed its test: ${failed}.`}>
        Its test failed: {failed}
      </span>
    ) : stateReason && agent.state !== 'idle' ? (
      <span className={agent.state === 'error' ? 'text-bad' : 'text-muted'} title={reasonText(stateReason)}>
        <TextWithCommands text={reasonText(stateReason)} />
      </span>
    ) : agent.rests ? (
      <Resting isShort rests={agent.rests} />
    ) : (
      <Idle agent={agent} />
    )
  return (
    <span className="flex min-w-0 items-center gap-2">
      <span className="shrink-0 text-muted tabular-nums max-sm:hidden">
        {activeTasks}/{maxConcurrentTasks ?? '∞'}
      </span>
      {holds.slice(0, 2).map((task) => (
        <PageLink
          className="flex min-w-0 items-center gap-1 hover:text-accent hover:underline"
          key={task.taskId}
          title={task.title}
          to={`/tasks/${task.key ?? task.taskId}`}
        >
          <StateMark percent={task.percent} size={14} state={task.state} />
          <span className="truncate">{task.key ?? task.title}</span>
          {task.percent !== null && (
            <span className="text-label text-muted tabular-nums">{Math.round(task.percent)} %</span>
          )}
        </PageLink>
      ))}
      {activeTasks > 2 && <span className="shrink-0 text-label text-muted">+{activeTasks - 2}</span>}
    </span>
  )
}

/** Its timer, if it has one. */
function Idle({ agent: { nextWakeAt } }: { agent: ListedAgent }) {
  if (nextWakeAt === null) return <span className="text-faint">no task</span>
  return (
    <span className="text-muted">
      timer <Moment at={nextWakeAt} />
    </span>
  )
}

function Today({ runs, succeeded, failed }: ListedAgent['today']) {
  if (runs === 0) return <span className="text-faint">no runs</span>
  return (
    <span className="flex items-center gap-2.5 tabular-nums">
      {countText(runs)} {runs === 1 ? 'run' : 'runs'}
      {succeeded > 0 && (
        <span className="flex items-center gap-1 text-done">
          <StateMark label="succeeded" size={12} state="succeeded" />
          {countText(succeeded)}
        </span>
      )}
      {failed > 0 && (
        <span className="flex items-center gap-1 text-bad">
          <StateMark label="failed" size={12} state="failed" />
          {countText(failed)}
        </span>
      )}
    </span>
  )
}

function RowActs({ agent, acts }: { agent: ListedAgent; acts: Acts }) {
  return (
    <span className="flex justify-end gap-1.5">
      <Button
        aria-label={`Wake ${agent.slug}`}
        busy={acts.isWaking(agent.slug)}
        disabledReason={acts.whyNotWake(agent)}
        kind="quiet"
        onClick={() => acts.wake(agent)}
        size="small"
      >
        Wake
      </Button>
      <Button
        aria-label={`${isStopped(agent) ? 'Resume' : 'Pause'} ${agent.slug}`}
        busy={acts.isPausing(agent.slug)}
        disabledReason={acts.whyNotPause(agent)}
        kind={agent.state === 'error' ? 'plain' : 'quiet'}
        onClick={() => acts.pauseOrResume(agent)}
        size="small"
      >
        {isStopped(agent) ? 'Resume' : 'Pause'}
      </Button>
    </span>
  )
}
