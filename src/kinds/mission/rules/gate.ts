import { type Refusal, refuse } from '../../../pure/errors.ts'
import type { Purpose, TaskRecord } from '../../task/record.ts'
import type { MissionCounts, MissionRecord } from '../record.ts'
import { isEnd, type MissionProgress, stateOf } from '../states.ts'
import { heldTasks } from './counts.ts'

/** What a mission's gate lets through: which of its tasks may be handed out. */

/** 'all': tasks of every purpose. */
export type OpenFor = 'none' | 'planning' | 'all' | 'report'

export function openFor({ phase, closedBy }: Readonly<MissionProgress>): OpenFor {
  if (isEnd(phase)) return 'report'
  // A plan that is not approved yet stops its tasks, not the planning of the next one.
  if (closedBy.some((reason) => reason !== 'unapproved')) return 'none'
  if (phase === 'running') return 'all'
  return phase === 'pending' ? 'none' : 'planning'
}

/** Whether something but the approval of its plan keeps its tasks back. */
export const isClosed = ({ phase, closedBy }: Readonly<MissionProgress>) =>
  !isEnd(phase) && closedBy.some((reason) => reason !== 'unapproved')

/** What new tasks must know of their mission. */
export interface SeenMission extends Readonly<MissionProgress> {
  readonly uuid: string
  readonly closedMs: number
  readonly closedAt: number | null
}

/** A mission as it is read without its lock. */
export interface SeenGate extends SeenMission {
  /** How many of its tasks may be held at once; null: any number. */
  readonly maxParallel: number | null
  readonly held: number
}

/** How long the gate has been closed by now, from the creation of the mission on. */
export const closedMsBy = ({ closedMs, closedAt }: Pick<SeenGate, 'closedMs' | 'closedAt'>, now: number) =>
  closedMs + (closedAt === null ? 0 : Math.max(0, now - closedAt))

/** Whether work is handed out; deadlines count only then. */
export function closedTimes(
  before: Pick<SeenGate, 'closedMs' | 'closedAt'>,
  after: Readonly<MissionProgress>,
  now: number,
): Pick<SeenGate, 'closedMs' | 'closedAt'> {
  const isOpen = openFor(after) === 'all'
  if (!isOpen) return { closedMs: before.closedMs, closedAt: before.closedAt ?? now }
  return { closedMs: closedMsBy(before, now), closedAt: null }
}

export const gateOf = (
  { uuid, phase, closedBy, closedMs, closedAt, config }: MissionRecord,
  counts: MissionCounts,
): SeenGate => ({
  ...{ uuid, phase, closedBy, closedMs, closedAt },
  maxParallel: config.maxParallel ?? null,
  held: heldTasks(counts),
})

export const letsThrough = (gate: Readonly<MissionProgress>, purpose: Purpose) => {
  const open = openFor(gate)
  return open === 'all' || open === purpose
}

/** Why a mission does not hand out this task now. */
export function whyKeptBack(gate: SeenGate, { purpose }: Pick<TaskRecord, 'purpose'>): Refusal | null {
  const { uuid, closedBy, maxParallel, held } = gate
  if (!letsThrough(gate, purpose)) {
    const missionState = stateOf(gate)
    return refuse('MISSION_CLOSED', `The mission of this task is ${missionState}.`, {
      missionId: uuid,
      missionState,
      closedBy: [...closedBy],
    })
  }
  if (maxParallel !== null && held >= maxParallel && purpose === 'work')
    return refuse(
      'MISSION_FULL',
      `${held} tasks of this mission are under way; it may have ${maxParallel}.`,
      {
        missionId: uuid,
        maxParallel,
      },
    )
  return null
}
