import { type FollowingStep, PHASES, type StepContext, type UpkeepStep } from '../door/upkeep-step.ts'
import { ALL, FOLLOWERS } from '../kinds/all.ts'
import { type Beside, following } from './follower.ts'
import { applyRetention } from './steps.ts'

/** The steps of the coordinator: those of all kinds, in the order of their phases. Each is set-based and touches only what is due. */

export interface CoordinatorContext extends StepContext {
  /** Where followers of the log work beside the pass; without it, their steps wait for them. */
  beside?: Beside | undefined
}

/** Workspaces that are older than a follower are followed from now on, or from their first event, as it says. */
async function followLogs({ kernel }: StepContext): Promise<number> {
  const { followers } = kernel.store
  const unfollowed = await followers.unfollowed()
  for (const { workspaceId, follower } of unfollowed)
    await followers.follow(workspaceId, follower, FOLLOWERS[follower]!.from)
  return 0
}

async function deleteOldNodes({ kernel }: StepContext): Promise<number> {
  await kernel.store.cluster.deleteOldNodes()
  return 0
}

/** Chores of no kind. */
const CHORES_BESIDE: readonly UpkeepStep[] = [
  { name: 'retention', phase: 'clean', everyMs: 600_000, run: applyRetention },
  { name: 'newFollowers', phase: 'clean', everyMs: 3_600_000, run: followLogs },
  { name: 'oldNodes', phase: 'clean', everyMs: 3_600_000, run: deleteOldNodes },
]

/** A step as the coordinator runs it. */
export interface PassStep {
  name: string
  everyMs: number
  run: (context: CoordinatorContext) => Promise<number>
}

const parts: readonly (readonly (UpkeepStep | FollowingStep)[])[] = await Promise.all(
  Object.values(ALL).flatMap((one) => ('upkeep' in one ? [one.upkeep()] : [])),
)
const all = [...parts.flat(), ...CHORES_BESIDE]

const stepsOf = (phase: (typeof PHASES)[number]): PassStep[] =>
  all
    .filter((step) => step.phase === phase)
    .map((step) => ({
      name: step.name,
      everyMs: step.everyMs,
      run: 'run' in step ? step.run : following(step.follower),
    }))

/** What a pass does, and reports. */
export const STEPS: readonly PassStep[] = PHASES.filter((phase) => phase !== 'clean').flatMap(stepsOf)

/** What depends on time alone, and has no figure in the report. */
export const CHORES: readonly PassStep[] = stepsOf('clean')
