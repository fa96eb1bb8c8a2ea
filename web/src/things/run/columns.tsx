import { isLive } from '../../../../src/kinds/run/states.ts'
import { PageLink } from '../../links.tsx'
import { useEntity } from '../../live/hooks.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import type { Column } from '../../parts/data-table.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { tokensOf } from '../../parts/wording.ts'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { failureWords, isSimulated, type ListedRun, SOURCE_WORDS, shortId } from './run.ts'

/** The row as it is now: values of later events replace what was read. */
function useNow(run: ListedRun) {
  const live = useEntity('run', run.id)
  return {
    status: live?.status ?? run.status,
    errorCode: live?.errorCode ?? run.errorCode,
    costUsd: live?.costUsd ?? run.costUsd,
    tokens: tokensOf(live?.tokens ?? run.tokens),
    startedAt: run.startedAt ?? (live?.status === 'running' ? new Date(live.since).toISOString() : null),
    finishedAt: run.finishedAt ?? (live?.finishedAt ? new Date(live.finishedAt).toISOString() : null),
  }
}

const Status = ({ run }: { run: ListedRun }) => <StateChip state={useNow(run).status} />

function Took({ run }: { run: ListedRun }) {
  const { status, startedAt, finishedAt } = useNow(run)
  if (startedAt === null) return null
  if (isLive(status)) return <Duration since={startedAt} />
  return finishedAt === null ? null : <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
}

function Used({ run }: { run: ListedRun }) {
  const { tokens } = useNow(run)
  return tokens === null ? null : <Tokens count={tokens} />
}

function Cost({ run }: { run: ListedRun }) {
  const { costUsd } = useNow(run)
  if (costUsd === null && run.costBasis !== 'unknown') return null
  return (
    <Money
      notional={run.costBasis === 'notional' && 'short'}
      simulated={isSimulated(run) && 'short'}
      usd={costUsd}
    />
  )
}

function Failure({ run }: { run: ListedRun }) {
  const { errorCode } = useNow(run)
  if (errorCode === null) return null
  return (
    <span className="text-bad" title={run.errorMessage ?? undefined}>
      {failureWords(errorCode, run)}
    </span>
  )
}

/** In a row of its own height: the tile would be below the line of the text. */
const Agent = ({ run }: { run: ListedRun }) => (
  <span className="flex">
    <AgentChip slug={run.agent} />
  </span>
)

function Task({ run }: { run: ListedRun }) {
  if (run.taskId === null) return <span className="text-faint">no task</span>
  return (
    <PageLink className="hover:text-accent hover:underline" to={`/tasks/${run.taskKey ?? run.taskId}`}>
      <span className="mr-1.5 font-mono text-label text-muted">
        {shortKey(nameOfTask(run.taskId, { key: run.taskKey }))}
      </span>
      {run.taskTitle}
    </PageLink>
  )
}

/** Where there is no room for all. */
export const RUN_DROPS = ['queued', 'tokens', 'why', 'cost', 'failure']

export const RUN_COLUMNS: Column<ListedRun>[] = [
  { name: 'status', words: 'Status', width: '104px', phone: 'first', cell: (run) => <Status run={run} /> },
  {
    name: 'run',
    words: 'Run',
    width: '44px',
    phone: 'second',
    cell: (run) => (
      <PageLink
        aria-label={`Run ${shortId(run.id)}`}
        className="font-mono text-accent hover:underline"
        to={`/runs/${run.id}`}
      >
        {shortId(run.id)}
      </PageLink>
    ),
  },
  {
    name: 'agent',
    words: 'Agent',
    width: 'minmax(104px, 1fr)',
    phone: 'second',
    cell: (run) => <Agent run={run} />,
  },
  {
    name: 'task',
    words: 'Task',
    width: 'minmax(200px, 2fr)',
    phone: 'first',
    cell: (run) => <Task run={run} />,
  },
  {
    name: 'why',
    words: 'Why',
    width: '72px',
    phone: 'hidden',
    cell: (run) => (
      <span className="text-muted">{run.reason ?? (SOURCE_WORDS as Record<string, string>)[run.source]}</span>
    ),
  },
  {
    name: 'failure',
    words: 'Failure',
    width: 'minmax(120px, 1.6fr)',
    phone: 'room',
    cell: (run) => <Failure run={run} />,
  },
  {
    name: 'took',
    words: 'Took',
    width: '72px',
    align: 'end',
    phone: 'second',
    cell: (run) => <Took run={run} />,
  },
  {
    name: 'tokens',
    words: 'Tokens',
    width: '56px',
    align: 'end',
    phone: 'hidden',
    cell: (run) => <Used run={run} />,
  },
  {
    name: 'cost',
    words: 'Cost',
    width: '76px',
    align: 'end',
    phone: 'second',
    cell: (run) => <Cost run={run} />,
  },
  {
    name: 'queued',
    words: 'Queued',
    width: '72px',
    align: 'end',
    phone: 'hidden',
    cell: (run) => (
      <span className="text-muted">
        <Moment at={run.createdAt} />
      </span>
    ),
  },
]
