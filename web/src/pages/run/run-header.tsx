import { traceIdOf } from '../../../../src/pure/trace.ts'
import { PageLink } from '../../links.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { StatusMessage } from '../../parts/status-message.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { useSession } from '../../requests/session.ts'
import { isSimulated, shortId } from '../../things/run/run.ts'
import { isRunLive, type Run } from './use-run.ts'

export const runTitle = (run: Run) => `Run ${shortId(run.id)} of ${run.agent}`

export function RunHeading({ run }: { run: Run }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <StateChip state={run.status} />
      <span>Run {shortId(run.id)}</span>
      <span className="text-row font-normal">
        <AgentChip slug={run.agent} />
      </span>
    </span>
  )
}

/** The run's task, how long it took and how much it cost. */
export function RunFacts({ run }: { run: Run }) {
  const cached = run.tokens?.cachedInput
  return (
    <span className="mt-1 flex flex-wrap items-center gap-x-2 gap-y-0.5 sm:[&>*:not(:first-child)]:before:mr-2 sm:[&>*:not(:first-child)]:before:text-faint sm:[&>*:not(:first-child)]:before:content-['·'] max-sm:gap-x-3">
      {run.taskId !== null && (
        <span className="min-w-0 max-w-96 truncate">
          <PageLink className="text-accent hover:underline" to={`/tasks/${run.taskKey ?? run.taskId}`}>
            <span className="font-mono text-label">
              {shortKey(nameOfTask(run.taskId, { key: run.taskKey }))}{' '}
            </span>
            {run.taskTitle}
          </PageLink>
        </span>
      )}
      {run.generation !== null && <span>attempt {run.generation}</span>}
      <span>{isRunLive(run) && run.startedAt ? <Duration since={run.startedAt} /> : <Took run={run} />}</span>
      {run.tokens && (
        <span>
          <Tokens count={run.tokens.input + (cached ?? 0)} /> in
          {cached != null && cached > 0 && (
            <>
              {' '}
              (<Tokens count={cached} /> cached)
            </>
          )}
          , <Tokens count={run.tokens.output} /> out
        </span>
      )}
      {(run.costUsd !== null || run.costBasis === 'unknown') && (
        <span>
          {run.costUsd === null && 'cost '}
          <Money
            notional={run.costBasis === 'notional' && 'words'}
            simulated={isSimulated(run) && 'words'}
            usd={run.costUsd}
          />
        </span>
      )}
      {!isRunLive(run) && <TraceLink run={run} />}
      {run.statusMessage && isRunLive(run) && (
        <span className="min-w-0 max-w-96 truncate text-ink">
          <StatusMessage color={run.statusColor} message={run.statusMessage} />
        </span>
      )}
    </span>
  )
}

/** To another program, where the server was told of one. A run is sent there when it has ended. */
function TraceLink({ run }: { run: Run }) {
  const { traceUrl } = useSession()
  if (traceUrl === null || run.startedAt === null) return null
  return (
    <a
      className="text-accent hover:underline"
      href={traceUrl.replaceAll('{traceId}', traceIdOf(run))}
      rel="noreferrer"
      target="_blank"
    >
      trace
    </a>
  )
}

function Took({ run }: { run: Run }) {
  if (run.durationMs !== null)
    return (
      <>
        took <Duration ms={run.durationMs} />
        {run.finishedAt && (
          <>
            , ended <Moment at={run.finishedAt} />
          </>
        )}
      </>
    )
  return (
    <>
      queued <Moment at={run.createdAt} />
    </>
  )
}
