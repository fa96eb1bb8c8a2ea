import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink } from '../../links.tsx'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { durationText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import type { Onboarding } from '../../things/agent/onboarding.ts'
import { keepWelcomeLeft, nextStep } from '../../things/agent/onboarding.ts'
import { Programs } from '../../things/agent/programs.tsx'
import { RunsAsNotice } from '../../things/agent/runs-as.tsx'
import { Beginnings } from './beginnings.tsx'
import { Demo } from './demo.tsx'
import { Step } from './step.tsx'

/** The first minutes: what is here, and three ways to see agents work. Each step is ticked as soon as it is known to be done. */
export function Welcome() {
  const { data, error, refetch, isFetching } = useOnboarding()
  const next = data ? nextStep(data) : null
  const act = useRef<HTMLButtonElement>(null)
  useLeaving()
  useShortcuts('Welcome', {
    Enter: {
      words: next === 2 ? 'Create an agent' : 'Run the demo mission',
      run: () => act.current?.click(),
      isOff: next === null,
    },
  })
  return (
    <Page text="From a fresh server to agents at work, in three steps." title="Welcome to Baton">
      <div className="flex max-w-220 flex-col gap-4">
        <Step
          aside={data && <p className="text-row text-muted">{databaseText(data)}</p>}
          isDone={data !== undefined}
          number={1}
          title={error && !data ? 'Server and database' : 'Server and database are up'}
        >
          {error && !data && <ProblemBox error={error} onRetry={() => void refetch()} />}
        </Step>
        <Step
          aside={
            data?.hasAgents && (
              <PageLink className="text-row font-medium text-accent hover:underline" to="/agents">
                See your agents
              </PageLink>
            )
          }
          isDone={data?.hasAgents ?? false}
          isNext={next === 2}
          number={2}
          title={data?.hasAgents ? 'You have agents' : 'Make an agent'}
        >
          {data ? (
            <>
              <Programs
                actRef={next === 2 ? act : undefined}
                clis={data.clis}
                isLooking={isFetching}
                onLookAgain={() => void refetch()}
              />
              <RunsAsNotice runsAs={data.agentsRunAs} />
            </>
          ) : (
            !error && <Skeleton label="Looking for programs" rowHeight={56} rows={2} />
          )}
        </Step>
        <Step
          isDone={data ? data.demo !== null || data.hasTasks : false}
          isNext={next === 3}
          number={3}
          title="See it work"
        >
          <Demo actRef={next === 3 ? act : undefined} demo={data?.demo ?? null} />
          <Beginnings dataFolder={data?.dataFolder ?? null} />
        </Step>
      </div>
    </Page>
  )
}

/** Programs are looked for again when the user comes back, perhaps from a terminal where they logged in. */
function useOnboarding() {
  const read = useSnapshot<Onboarding>(
    ['onboarding'],
    ({ signal }) => api().read('/onboarding', { signal }),
    { follows: about.beginnings },
  )
  const { refetch } = read
  useEffect(() => {
    const lookAgain = () => void refetch({ cancelRefetch: false })
    window.addEventListener('focus', lookAgain)
    return () => window.removeEventListener('focus', lookAgain)
  }, [refetch])
  return read
}

/** A user who opens another page has seen it: it is not shown automatically again. */
function useLeaving(): void {
  const router = useRouter()
  const { workspace } = useSession()
  useEffect(
    () =>
      router.subscribe('onBeforeNavigate', ({ pathChanged }) => {
        if (pathChanged) keepWelcomeLeft(workspace.id)
      }),
    [router, workspace.id],
  )
}

function databaseText({ database, startMs }: Onboarding): string {
  const which = `${database.isEmbedded ? 'Embedded Postgres' : 'Postgres'} ${database.version}`
  return startMs === null ? `${which}, still starting.` : `${which}, ready after ${durationText(startMs)}.`
}
