import type { ReactNode } from 'react'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Icon } from '../../parts/icon.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { durationText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { Beginnings } from './beginnings.tsx'
import { Demo } from './demo.tsx'
import type { Onboarding } from './onboarding.ts'
import { Programs } from './programs.tsx'

/** The first minutes: what is here, and three ways to see agents work. */
export function Welcome() {
  const { data, error, refetch, isFetching } = useSnapshot<Onboarding>(
    ['onboarding'],
    ({ signal }) => api().read('/onboarding', { signal }),
    { refetchOn: ({ type }) => type === 'mission_created' || type === 'agent_registered' },
  )
  return (
    <Page text="From a fresh server to agents at work, in three steps." title="Welcome to Baton">
      <div className="flex max-w-220 flex-col gap-4">
        {error && !data ? (
          <ProblemBox error={error} onRetry={() => void refetch()} />
        ) : !data ? (
          <Skeleton rowHeight={56} rows={6} />
        ) : (
          <>
            <Step isDone number={1} title="Server and database are up">
              <p className="text-row text-muted">{databaseText(data)}</p>
            </Step>
            <Step isDone={data.hasAgents} number={2} title="Agents on this machine">
              <Programs clis={data.clis} isLooking={isFetching} onLookAgain={() => void refetch()} />
            </Step>
            <Step isDone={data.demo !== null || data.hasTasks} number={3} title="See it work">
              <Demo demo={data.demo} />
              <Beginnings />
            </Step>
          </>
        )}
      </div>
    </Page>
  )
}

function databaseText({ database, startMs }: Onboarding): string {
  const which = `${database.isEmbedded ? 'Embedded Postgres' : 'Postgres'} ${database.version}`
  return startMs === null ? `${which}, still starting.` : `${which}, ready after ${durationText(startMs)}.`
}

function Step(props: { number: number; title: string; isDone: boolean; children: ReactNode }) {
  const { number, title, isDone, children } = props
  return (
    <section
      aria-label={title}
      className="flex gap-4 rounded-dialog border border-line bg-raised p-5 shadow-card max-sm:gap-3 max-sm:p-4"
    >
      <span
        className={`flex size-7 shrink-0 items-center justify-center rounded-pill text-row font-semibold ${isDone ? 'bg-done-tint text-done' : 'bg-hover text-muted'}`}
      >
        {isDone ? <Icon name="check" size={14} /> : <span aria-hidden="true">{number}</span>}
        <span className="sr-only">{isDone ? `Step ${number}, done` : `Step ${number}`}</span>
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <h2 className="text-title leading-7 font-semibold">{title}</h2>
        {children}
      </div>
    </section>
  )
}
