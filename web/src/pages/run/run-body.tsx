import { lazy, type ReactNode, Suspense } from 'react'
import { isNotStarted } from '../../../../src/kinds/run/states.ts'
import { LogBar } from '../../logs/log-bar.tsx'
import { Transcript } from '../../logs/transcript.tsx'
import { Empty } from '../../parts/empty.tsx'
import { RunDetails } from './run-details.tsx'
import { RunTimeline } from './run-timeline.tsx'
import { isRunLive, type Run, type useRunEvents } from './use-run.ts'
import type { RunView } from './views.ts'

const RawLog = lazy(() => import('../../logs/raw-log.tsx').then(({ RawLog }) => ({ default: RawLog })))

/** The search parameters of the views. */
export interface RunAddress {
  view?: RunView | undefined
  at?: number | undefined
  q?: string | undefined
}

/** One view of a run below its switch. */
export function RunBody(props: {
  run: Run
  events: ReturnType<typeof useRunEvents>
  address: RunAddress & { view: RunView }
  onShow: (change: RunAddress, replace: boolean) => void
  views: ReactNode
}) {
  const { run, events, address, onShow, views } = props
  const { view, at = null, q = '' } = address
  const log = {
    run: {
      id: run.id,
      isLive: isRunLive(run),
      startedAt: run.startedAt === null ? null : Date.parse(run.startedAt),
    },
    excerpts: { stdout: run.stdoutExcerpt, stderr: run.stderrExcerpt },
    views,
  }
  if (view === 'timeline' || view === 'details' || isNotStarted(run.status))
    return (
      <>
        <LogBar views={views} />
        {view === 'timeline' ? (
          <RunTimeline events={events} />
        ) : view === 'details' ? (
          <RunDetails events={events.data?.items ?? []} run={run} />
        ) : (
          <WaitingRun agent={run.agent} />
        )}
      </>
    )
  if (view === 'transcript')
    return (
      <Transcript
        {...log}
        adapterType={run.adapterType}
        endedBadly={run.errorCode !== null}
        onFindInLog={(text) => onShow({ view: 'raw', q: text }, false)}
        onRaw={(offset) => onShow({ view: 'raw', at: offset }, false)}
        tokensOfRun={run.tokens ? run.tokens.input + run.tokens.output : 0}
      />
    )
  return (
    <Suspense fallback={null}>
      <RawLog
        {...log}
        at={at}
        onAt={(next) => onShow({ view: 'raw', at: next ?? undefined }, true)}
        onQuery={(text) => onShow({ view: 'raw', q: text === '' ? undefined : text }, true)}
        query={q}
      />
    </Suspense>
  )
}

/** A run that has not begun has neither log nor steps. */
function WaitingRun({ agent }: { agent: string }) {
  return (
    <Empty
      drawing="path"
      text={`It starts as soon as a node has a free slot and ${agent} may run.`}
      title="Waiting to start"
    />
  )
}
