import type { FollowingStep, StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import { FIRST_WORKSPACE } from '../workspace/postgres.ts'
import { alerts } from './acts/follow.ts'
import { settleAlerts } from './acts/look.ts'
import { PassFigures } from './acts/pass-figures.ts'
import { MarkLooks, settleMarks } from './acts/untaken.ts'
import { watchedWorkspaces } from './postgres/look.ts'

/** How far the log of each workspace was when it was last looked at. */
class SweptLogs extends Map<number, number> {}

/** What changes with time alone, and what no event says: rates, ages and nodes. */
async function sweep({ kernel, term, only, kept, isRequested }: StepContext): Promise<number> {
  const watched = await watchedWorkspaces(kernel.store.readers, FIRST_WORKSPACE, only)
  const swept = kept(SweptLogs)
  // Whoever asks for a pass may be on another node than the leader.
  const instance = { figures: isRequested ? null : kept(PassFigures) }
  let changed = 0
  for (const { workspaceId, seq, mayChange } of watched) {
    if (!mayChange && !isRequested && swept.get(workspaceId) === seq) continue
    changed += await settleAlerts({ kernel, workspaceId, term, instance })
    swept.set(workspaceId, seq)
  }
  return changed
}

export const alertSteps: readonly (UpkeepStep | FollowingStep)[] = [
  {
    name: 'alertsSettled',
    // After assignment: what somebody took is nothing to tell people about.
    phase: 'tell',
    everyMs: 1_000,
    run: (context) =>
      settleMarks({
        ...context,
        looks: context.kept(MarkLooks),
        graceMs: context.isRequested ? 0 : undefined,
      }),
  },
  { name: 'alertsFollowed', phase: 'tell', everyMs: 0, follower: alerts },
  { name: 'alertsSwept', phase: 'tell', everyMs: 60_000, run: sweep },
]
