import { runErrorWords } from '../../../../../src/kinds/run/rules/outcomes.ts'
import { isLive } from '../../../../../src/kinds/run/states.ts'
import { PageLink } from '../../../links.tsx'
import { Duration } from '../../../parts/duration.tsx'
import { Money } from '../../../parts/money.tsx'
import { StateChip } from '../../../parts/state-chip.tsx'
import { causeOfRun, isSimulated, shortId } from '../../run/run.ts'
import { OpenFolder } from '../open-folder.tsx'
import type { TaskRun } from '../use-task.ts'

const LINK = 'touchable text-accent hover:underline'

/** A run of an attempt: how it ended, how long it took, what it cost, and where to read more. */
export function RunLine({ run }: { run: TaskRun }) {
  const { id, status, startedAt, finishedAt, costUsd, costBasis, errorCode } = run
  const failure = errorCode && runErrorWords(errorCode, run.exitCode)
  const cause = errorCode && causeOfRun(errorCode, run)
  return (
    <div className="flex min-w-0 flex-col gap-0.5">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 text-row text-muted">
        <PageLink className={LINK} to={`/runs/${id}`}>
          Run <span className="font-mono">{shortId(id)}</span>
        </PageLink>
        <StateChip state={status} />
        {startedAt !== null &&
          (isLive(status) ? (
            <Duration since={startedAt} />
          ) : (
            finishedAt !== null && <Duration ms={Date.parse(finishedAt) - Date.parse(startedAt)} />
          ))}
        {(costUsd !== null || costBasis === 'unknown') && (
          <Money
            notional={costBasis === 'notional' && 'words'}
            simulated={isSimulated(run) && 'words'}
            usd={costUsd}
          />
        )}
        <PageLink className={LINK} to={`/runs/${id}?view=details`}>
          What was it told?
        </PageLink>
        <OpenFolder folder={run.folder} />
      </div>
      {failure && (
        <p className="text-row wrap-anywhere text-bad">
          {failure}
          {cause && <span className="text-muted">: {cause}</span>}
        </p>
      )}
    </div>
  )
}
