import { type ReactNode, useCallback, useSyncExternalStore } from 'react'
import { isConnected } from '../live/freshness.ts'
import { useFreshness } from '../live/hooks.ts'
import { LiveProvider, useLive } from '../live/provider.tsx'
import { ClockOffset, CutOffAt } from '../parts/clock.ts'
import { api } from '../requests/api.ts'
import { liveRequests } from '../requests/live-requests.ts'
import { useSession } from '../requests/session.ts'
import { leaveToSignIn } from '../requests/signed-in.ts'

/** The workspace, kept by its log, and the server's time, for all pages. */
export function LiveWorkspace({ children }: { children: ReactNode }) {
  const { workspace, head, instance, inboxCount } = useSession()
  return (
    <LiveProvider
      begin={{ head, instance, inboxCount }}
      key={workspace.id}
      onSignedOut={leaveToSignIn}
      requests={liveRequests(api())}
    >
      <ServerTime>{children}</ServerTime>
    </LiveProvider>
  )
}

function ServerTime({ children }: { children: ReactNode }) {
  const { freshness } = useLive()
  const steps = useSyncExternalStore(freshness.subscribe, () => freshness.offsetSteps)
  // Another function when the clock was wrong: every component that shows a time is drawn again at once, not at its next tick.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a step is the reason
  const offset = useCallback(() => freshness.offsetMs, [freshness, steps])
  const shown = useFreshness()
  return (
    <ClockOffset value={offset}>
      <CutOffAt value={isConnected(shown.freshness) ? null : (shown.asOf ?? 0)}>{children}</CutOffAt>
    </ClockOffset>
  )
}
