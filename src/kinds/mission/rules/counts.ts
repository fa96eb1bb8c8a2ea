import { isHeld, isTerminal, type TaskState } from '../../../pure/states.ts'
import type { TaskRecord } from '../../task/record.ts'
import type { MissionCounts } from '../record.ts'
import type { MissionEnd } from '../states.ts'

/** How the tasks of a mission change its counts. */

/** What a batch adds to the counts of one mission. */
export interface CountsDelta {
  readonly byState: Map<TaskState, number>
  failedOptional: number
  children: number
}

type Counted = Pick<TaskRecord, 'state' | 'missionId' | 'purpose' | 'optional' | 'children'>

/** Deltas of all missions of a batch. */
export class MissionDeltas {
  readonly #byMission = new Map<number, CountsDelta>()

  /** A task was created (`before` is null) or changed. */
  count(before: Counted | null, after: Counted): void {
    const { missionId, purpose } = after
    if (missionId === null || purpose !== 'work' || before?.state === after.state) return
    const delta = this.#of(missionId)
    if (before) this.#add(delta, before, -1)
    else if (after.children?.childDepth !== undefined) delta.children += 1
    this.#add(delta, after, 1)
  }

  get byMission(): ReadonlyMap<number, CountsDelta> {
    return this.#byMission
  }

  #of(missionId: number): CountsDelta {
    let delta = this.#byMission.get(missionId)
    if (!delta) {
      delta = { byState: new Map(), failedOptional: 0, children: 0 }
      this.#byMission.set(missionId, delta)
    }
    return delta
  }

  #add(delta: CountsDelta, { state, optional }: Counted, change: number): void {
    delta.byState.set(state, (delta.byState.get(state) ?? 0) + change)
    if (state === 'failed' && optional) delta.failedOptional += change
  }
}

export function withDelta(counts: MissionCounts, delta: CountsDelta | undefined): MissionCounts {
  if (!delta) return counts
  const byState: Partial<Record<TaskState, number>> = { ...counts.byState }
  for (const [state, change] of delta.byState) {
    const count = (byState[state] ?? 0) + change
    if (count === 0) delete byState[state]
    else byState[state] = count
  }
  const failedOptional = counts.failedOptional + delta.failedOptional
  return { ...counts, byState, failedOptional, children: counts.children + delta.children }
}

const sum = ({ byState }: Pick<MissionCounts, 'byState'>, isCounted: (state: TaskState) => boolean) =>
  (Object.entries(byState) as [TaskState, number][]).reduce(
    (total, [state, count]) => total + (isCounted(state) ? count : 0),
    0,
  )

export const taskCount = (counts: MissionCounts) => sum(counts, () => true)
/** Tasks that have not ended. */
export const openTasks = (counts: MissionCounts) => sum(counts, (state) => !isTerminal(state))
export const heldTasks = (counts: MissionCounts) => sum(counts, isHeld)

/** How a mission whose tasks have all ended ends; null while one of them has not. */
export function endOf(counts: MissionCounts): MissionEnd | null {
  if (openTasks(counts) > 0) return null
  const { failed = 0, cancelled = 0 } = counts.byState
  if (failed > counts.failedOptional) return 'failed'
  return cancelled > 0 && cancelled === taskCount(counts) ? 'cancelled' : 'completed'
}

/** By how much the number of tasks that have not ended changes. */
export function openChange({ byState }: CountsDelta): number {
  let change = 0
  for (const [state, by] of byState) if (!isTerminal(state)) change += by
  return change
}

/** Whether a mission may end, or open again, with this change: only then its lock is needed. */
export function mayChangePhase(counts: MissionCounts, delta: CountsDelta): boolean {
  const [before, after] = [openTasks(counts), openTasks(withDelta(counts, delta))]
  return (before === 0) !== (after === 0)
}
