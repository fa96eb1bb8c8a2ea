import type { ReactNode } from 'react'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { countText } from '../../parts/wording.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { isSimulated } from '../../things/run/run.ts'
import { type ByType, byTypeOf, successText } from './figures.ts'
import { type AgentRead, useSuccessOfAgent } from './use-agent.ts'

type Totals = AgentRead['totals']

/** What an agent did in all: its runs, how many of its tasks succeeded, what that cost, and its last error. */
export function AgentFacts({ agent }: { agent: AgentRead }) {
  const { slug, nextWakeAt, totals } = agent
  const success = useSuccessOfAgent(slug)
  const types = byTypeOf(success.data?.agents ?? [], slug)
  return (
    <section aria-label="Figures" className="flex flex-col gap-3 border-b border-line px-6 py-4 max-sm:px-4">
      <dl className="flex flex-wrap gap-x-8 gap-y-3">
        <Figure label="Ended runs">{countText(totals.runs)}</Figure>
        <Figure label="Tasks done, 30 days">{success.data ? successText(types) : '…'}</Figure>
        <Figure label="Cost">
          {totals.runs === 0 ? <NoneYet /> : <Cost isSimulated={isSimulated(agent)} totals={totals} />}
        </Figure>
        <Figure label="Tokens">
          {totals.runs === 0 ? <NoneYet /> : <Tokens count={tokensIn(totals)} />}
        </Figure>
        <Figure label="Next timer">
          {nextWakeAt === null ? <span className="text-muted">none</span> : <Moment at={nextWakeAt} />}
        </Figure>
        {types.length > 0 && (
          <Figure label="By type of task">
            <ByTypes types={types} />
          </Figure>
        )}
      </dl>
      {totals.lastError && (
        <p className="text-row wrap-anywhere">
          <span className="text-muted">Last error:</span>{' '}
          <span className="text-bad">{reasonText(totals.lastError)}</span>
        </p>
      )}
    </section>
  )
}

/** Counted when a run ends: with one that is under way a zero would not be true. */
const NoneYet = () => <span className="text-muted">none yet</span>

const tokensIn = ({ tokens }: Totals) => tokens.input + (tokens.cachedInput ?? 0) + tokens.output

function Cost(props: { totals: Totals; isSimulated: boolean }) {
  const { runs, unknownRuns, costUsd } = props.totals
  const isUnknown = runs > 0 && unknownRuns >= runs
  return (
    <>
      <Money simulated={props.isSimulated && 'words'} usd={isUnknown ? null : costUsd} />
      {!isUnknown && unknownRuns > 0 && (
        <span className="text-label text-muted"> unknown for {countText(unknownRuns)} of them</span>
      )}
    </>
  )
}

function Figure({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-label text-muted">{label}</dt>
      <dd className="mt-0.5 text-body font-medium tabular-nums">{children}</dd>
    </div>
  )
}

/** Each type with how many of its tasks were done, the most frequent first. */
function ByTypes({ types }: { types: readonly ByType[] }) {
  return (
    <ul aria-label="Success by type of task" className="flex flex-wrap gap-x-4 gap-y-1 text-row font-normal">
      {types.map(({ type, completed, tasks, percent }) => (
        <li key={type} title={`${completed} of ${tasks} tasks were done`}>
          <span className="font-medium wrap-anywhere">{type}</span>{' '}
          <span className={percent < 50 ? 'text-bad' : 'text-muted'}>
            {percent} % of {countText(tasks)}
          </span>
        </li>
      ))}
    </ul>
  )
}
