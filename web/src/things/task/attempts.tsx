import { runErrorWords } from '../../../../src/kinds/run/rules/outcomes.ts'
import type { ClaimEnd } from '../../../../src/pure/states.ts'
import { PageLink } from '../../links.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import type { Hue } from '../../theme/marks.ts'
import { causeOfRun, isSimulated, shortId } from '../run/run.ts'
import {
  type Generation,
  type ShownTask,
  type Task,
  type TaskRun,
  useGenerations,
  useTaskRuns,
} from './use-task.ts'

type Verdict = Task['verifications'][number]

/** Every time an agent took it, the newest first: who had it, how it ended, and where to read more. */
export function Attempts(props: { task: Task; now: ShownTask; onResults: () => void }) {
  const { task, now, onResults } = props
  const claims = useGenerations(task.id)
  const runs = useTaskRuns(task.id)
  if (!claims.data)
    return <Loading read={claims} rowHeight={44} rows={Math.min(Math.max(now.generation, 1), 8)} />
  if (claims.data.items.length === 0)
    return (
      <Empty
        drawing="handover"
        text="Each time an agent takes this task is listed here, with how long it had it and why that ended."
        title="Not taken yet"
      />
    )
  const newestFirst = claims.data.items.toSorted((a, b) => b.generation - a.generation)
  const runOf = (generation: number) =>
    runs.data?.items.filter((run) => run.generation === generation).sort((a, b) => (a.id < b.id ? 1 : -1)) ??
    []
  return (
    <ol aria-label="Attempts" className="flex flex-col">
      {newestFirst.map((claim) => (
        <GenerationRow
          claim={claim}
          key={claim.generation}
          now={now}
          onResults={onResults}
          runs={runOf(claim.generation)}
          verdict={task.verifications.findLast(({ generation }) => generation === claim.generation)}
        />
      ))}
    </ol>
  )
}

function GenerationRow(props: {
  claim: Generation
  now: ShownTask
  runs: readonly TaskRun[]
  verdict: Verdict | undefined
  onResults: () => void
}) {
  const { claim, now, runs, verdict, onResults } = props
  const isActive = claim.releasedAt === null
  const last = runs[0]
  const failure = last?.errorCode && runErrorWords(last.errorCode, last.exitCode)
  const cause = last?.errorCode && causeOfRun(last.errorCode, last)
  return (
    <li className="flex flex-col gap-1 border-b border-line py-2.5 last:border-0">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-row">
        <span className="w-14 shrink-0 font-medium tabular-nums">No. {claim.generation}</span>
        <span className="w-36 min-w-0 truncate max-sm:w-auto">
          <AgentChip slug={claim.agent} />
        </span>
        {isActive ? <StateChip percent={now.percent} state={now.state} /> : <HowItEnded claim={claim} />}
        <span className="text-muted">
          {isActive ? (
            <Duration since={claim.acquiredAt} />
          ) : (
            <Duration ms={Date.parse(claim.releasedAt!) - Date.parse(claim.acquiredAt)} />
          )}
        </span>
        <ResultOf claim={claim} onResults={onResults} />
        <span className="ml-auto flex flex-wrap gap-x-3">
          {runs.map((run) => (
            <PageLink className="text-accent hover:underline" key={run.id} to={`/runs/${run.id}`}>
              run <span className="font-mono">{shortId(run.id)}</span>
              {run.costUsd !== null && (
                <span className="text-muted">
                  {' '}
                  <Money simulated={isSimulated(run) && 'words'} usd={run.costUsd} />
                </span>
              )}
            </PageLink>
          ))}
        </span>
      </div>
      {failure && (
        <p className="pl-17 text-row text-muted max-sm:pl-0">
          <span className="text-bad">{failure}</span>
          {cause && <span className="wrap-anywhere">: {cause}</span>}
        </p>
      )}
      {verdict && verdict.verdict !== null && (
        <p className="pl-17 text-row text-muted wrap-anywhere max-sm:pl-0">
          {verdict.verifier ?? 'verifier'}: {verdict.verdict}
          {verdict.score !== null && `, score ${verdict.score}`}
          {verdict.feedback && `. ${firstLine(verdict.feedback)}`}
        </p>
      )}
    </li>
  )
}

const firstLine = (text: string) => text.split('\n', 1)[0]!.slice(0, 240)

function HowItEnded({ claim }: { claim: Generation }) {
  if (claim.releaseReason === null) return null
  const { words, hue } = ENDS[claim.releaseReason]
  return (
    <Chip hue={hue} title={claim.releaseReason}>
      {words}
    </Chip>
  )
}

function ResultOf({ claim, onResults }: { claim: Generation; onResults: () => void }) {
  if (claim.resultAccepted === null) return null
  return (
    <button className="touchable text-accent hover:underline" onClick={onResults} type="button">
      {claim.resultAccepted ? 'result accepted' : 'result rejected, compare'}
    </button>
  )
}

/** Why a generation ended, in words, and how bad that is. */
const ENDS = {
  COMPLETED: { words: 'completed', hue: 'done' },
  SUBMITTED: { words: 'submitted a result for review', hue: 'held' },
  VOLUNTARY: { words: 'released it', hue: 'wait' },
  NEEDS_HUMAN: { words: 'asked a person', hue: 'ask' },
  CONTINUES_LATER: { words: 'continues after other tasks', hue: 'wait' },
  OVER_BUDGET: { words: 'budget spent', hue: 'ask' },
  EXPIRED: { words: 'lease expired', hue: 'bad' },
  WORKER_LOST: { words: 'its worker stopped responding', hue: 'bad' },
  AGENT_LOST: { words: 'the agent stopped responding', hue: 'bad' },
  STALLED: { words: 'no sign of life', hue: 'bad' },
  HUNG: { words: 'responding, but without progress', hue: 'bad' },
  NOT_STARTED: { words: 'was never started', hue: 'bad' },
  TIMED_OUT: { words: 'took too long', hue: 'bad' },
  DEADLINE: { words: 'the deadline passed', hue: 'bad' },
  MERGED: { words: 'its parts were merged', hue: 'done' },
  PROMOTED: { words: 'another result was promoted', hue: 'wait' },
  SUPERSEDED: { words: 'a newer claim took it', hue: 'wait' },
  CANCELLED: { words: 'cancelled', hue: 'wait' },
  PAUSED: { words: 'paused', hue: 'held' },
  REASSIGNED: { words: 'given to another agent', hue: 'wait' },
  AGENT_TERMINATED: { words: 'the agent was terminated', hue: 'wait' },
  AGENT_PAUSED: { words: 'the agent was stopped', hue: 'held' },
  ERROR: { words: 'failed', hue: 'bad' },
} as const satisfies Record<ClaimEnd, { words: string; hue: Hue }>
