import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { WINDOW_WORDS, WINDOWS, type Window } from '../../parts/windows.ts'
import { writeSearch } from '../../search-params.ts'
import { CausePanel } from './cause-panel.tsx'
import { Failures, RetriesThatHelped, Slowest, Success, Verdicts, WhoWaits } from './charts.tsx'
import { useInsight } from './use-insight.ts'

/** What failed and why, what took long, who waits for whom, and who does well. */
export function Insight() {
  const { window = '24h', cause } = useSearch({ from: '/insight' })
  const go = useGo()
  const show = (next: Window, of?: string) =>
    go(`/insight${writeSearch({ window: next === '24h' ? undefined : next, cause: of })}`)
  useShortcuts('Insight', {
    Esc: { words: 'Close the panel', run: () => show(window), isOff: cause === undefined },
  })
  const insight = useInsight(window)
  const { tasks, telemetry, isReading, readAgain } = insight
  const all = [tasks, telemetry]
  const { causes, slowest, bottlenecks } = tasks.data ?? {}
  const isBounded = [causes, slowest, bottlenecks, telemetry.data].some((data) => data?.isBounded)
  const error = all.find((read) => read.error)?.error ?? null
  return (
    <Page
      actions={
        <>
          <Segmented
            label="Period"
            onChange={(next) => show(next)}
            options={WINDOWS.map((value) => ({ value, words: WINDOW_WORDS[value].short }))}
            value={window}
          />
          <Button busy={isReading} icon="retry" onClick={readAgain} size="small">
            Check again
          </Button>
        </>
      }
      panel={cause !== undefined && <CausePanel cause={cause} onClose={() => show(window)} window={window} />}
      text={
        <>
          {`Work in ${WINDOW_WORDS[window].last}`}
          {telemetry.data && (
            <>
              , as of <Moment at={telemetry.data.to} />
            </>
          )}
          {isBounded && '. Much happened: only the newest of it is counted'}
        </>
      }
      title="Insight"
    >
      {all.every(({ data }) => data === undefined) ? (
        // One sentence for all of it.
        <Loading read={{ data: undefined, error, refetch: readAgain }} rowHeight={56} rows={8} />
      ) : hasNothing(insight) ? (
        <Nothing onLonger={window === '30d' ? null : () => show('30d')} window={window} />
      ) : (
        <div className="grid grid-cols-[repeat(auto-fit,minmax(min(100%,420px),1fr))] gap-3">
          <Read again={readAgain} read={tasks}>
            {({ causes: { items } }) => <Failures items={items} window={window} />}
          </Read>
          <Read again={readAgain} read={telemetry}>
            {({ agents }) => <Success agents={agents} />}
          </Read>
          <Read again={readAgain} read={tasks}>
            {({ slowest: { items } }) => <Slowest items={items} />}
          </Read>
          <Read again={readAgain} read={tasks}>
            {({ bottlenecks: { items } }) => <WhoWaits items={items} />}
          </Read>
          <Read again={readAgain} read={telemetry}>
            {({ retries }) => <RetriesThatHelped retries={retries} window={window} />}
          </Read>
          <Read again={readAgain} read={telemetry}>
            {({ verdicts }) => <Verdicts verdicts={verdicts} window={window} />}
          </Read>
        </div>
      )}
    </Page>
  )
}

/** All was read, and nothing of it counts anything. */
const hasNothing = ({ tasks, telemetry }: ReturnType<typeof useInsight>): boolean =>
  tasks.data !== undefined &&
  tasks.data.causes.items.length === 0 &&
  tasks.data.slowest.items.length === 0 &&
  tasks.data.bottlenecks.items.length === 0 &&
  telemetry.data !== undefined &&
  telemetry.data.agents.length + telemetry.data.retries.length === 0 &&
  telemetry.data.verdicts.passed + telemetry.data.verdicts.failed + telemetry.data.verdicts.unsure === 0

function Nothing({ window, onLonger }: { window: Window; onLonger: (() => void) | null }) {
  return (
    <Empty
      action={
        onLonger ? (
          <Button kind="primary" onClick={onLonger}>
            Show {WINDOW_WORDS['30d'].last}
          </Button>
        ) : (
          <PageLink className="font-medium text-accent hover:underline" to="/board">
            Go to the board
          </PageLink>
        )
      }
      drawing="search"
      text="What failed and why, what took long, who waits for whom, and who does well: all of it is counted from attempts that ended."
      title={`No attempt ended in ${WINDOW_WORDS[window].last}`}
    />
  )
}

function Read<T>(props: {
  read: { data: T | undefined; error: unknown }
  again: () => void
  children: (data: T) => ReactNode
}) {
  const { read, again, children } = props
  if (read.data === undefined)
    return (
      <div className="rounded-card border border-line bg-raised px-4 py-3">
        <Loading read={{ ...read, refetch: again }} rowHeight={28} rows={5} />
      </div>
    )
  return children(read.data)
}
