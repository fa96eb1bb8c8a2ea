import { useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { isNotStarted } from '../../../../src/core/runs/states.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { LogBar } from '../../logs/log-bar.tsx'
import { Transcript } from '../../logs/transcript.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { writeSearch } from '../../search-params.ts'
import { EndedBadly } from './ended-badly.tsx'
import { RunDetails } from './run-details.tsx'
import { RunFacts, RunHeading, runTitle } from './run-header.tsx'
import { RunTimeline } from './run-timeline.tsx'
import { StopRun } from './stop-run.tsx'
import { isRunLive, type RunEvent, shortId, useRun, useRunEvents } from './use-run.ts'
import { RUN_VIEWS, type RunView } from './views.ts'
import { WaitingRun } from './waiting-run.tsx'

const RawLog = lazy(() => import('../../logs/raw-log.tsx').then(({ RawLog }) => ({ default: RawLog })))

const WORDS: Record<RunView, string> = { nice: 'Nice', raw: 'Raw', timeline: 'Timeline', details: 'Details' }

/** What one run does or did: its steps, its log, what happened to it, everything that is known of it. */
export function Run() {
  const { id } = useParams({ from: '/runs/$id' })
  const search = useSearch({ from: '/runs/$id' })
  const { at = null, q = '', view = at === null ? 'nice' : 'raw' } = search
  const go = useGo()
  const show = (next: typeof search, replace: boolean) =>
    go(`/runs/${id}${writeSearch({ ...search, ...next })}`, { replace })
  const { data: run, error, refetch } = useRun(id)
  const events = useRunEvents(id)
  const step = RUN_VIEWS.indexOf(view)
  useShortcuts('Run', {
    v: { words: 'Next view', run: () => show({ view: RUN_VIEWS[(step + 1) % RUN_VIEWS.length]! }, false) },
  })
  if (!run)
    return (
      <Page title={`Run ${shortId(id)}`}>
        {error ? <ProblemBox error={error} onRetry={() => void refetch()} /> : <Skeleton rows={8} />}
      </Page>
    )
  const logRun = {
    id,
    isLive: isRunLive(run),
    startedAt: run.startedAt === null ? null : Date.parse(run.startedAt),
  }
  const views = (
    <Segmented
      label="View"
      onChange={(next) => show({ view: next }, false)}
      options={RUN_VIEWS.map((value) => ({ value, words: WORDS[value] }))}
      value={view}
    />
  )
  const isWaiting = isNotStarted(run.status)
  const hasLog = !isWaiting && (view === 'nice' || view === 'raw')
  const used = run.usage ? run.usage.inputTokens + run.usage.outputTokens : 0
  return (
    <Page
      actions={logRun.isLive && <StopRun run={run} />}
      heading={<RunHeading run={run} />}
      isFull
      text={<RunFacts run={run} />}
      title={runTitle(run)}
    >
      <EndedBadly run={run} />
      <Flags events={events.data?.items ?? []} isLive={logRun.isLive} />
      {!hasLog && <LogBar views={views} />}
      {isWaiting && (view === 'nice' || view === 'raw') && <WaitingRun agent={run.agent} />}
      {view === 'nice' && hasLog && (
        <Transcript
          adapterType={run.adapterType}
          excerpt={run.stdoutExcerpt}
          onRaw={(offset) => show({ view: 'raw', at: offset }, false)}
          run={logRun}
          totalTokens={used}
          views={views}
        />
      )}
      {view === 'raw' && hasLog && (
        <Suspense fallback={null}>
          <RawLog
            at={at}
            excerpt={run.stdoutExcerpt}
            onAt={(next) => show({ view: 'raw', at: next ?? undefined }, true)}
            onQuery={(text) => show({ view: 'raw', q: text === '' ? undefined : text }, true)}
            query={q}
            run={logRun}
            views={views}
          />
        </Suspense>
      )}
      {view === 'timeline' && <RunTimeline events={events} />}
      {view === 'details' && <RunDetails events={events.data?.items ?? []} run={run} />}
    </Page>
  )
}

/** What the watchdog noticed, while it still matters. */
function Flags({ events, isLive }: { events: readonly RunEvent[]; isLive: boolean }) {
  const flag = events.findLast(({ type, level }) => type === 'error' && level === 'warn')
  if (!isLive || !flag?.message) return null
  return (
    <p className="mx-6 mb-3 flex items-center gap-2 rounded-card bg-ask-tint px-3 py-1.5 text-row font-medium text-ask max-sm:mx-4">
      <Icon name="warning" />
      {flag.message}
    </p>
  )
}
