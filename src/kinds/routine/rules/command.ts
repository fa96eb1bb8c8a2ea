import type { MissionCommand } from '../../mission/rules/command.ts'
import type { RoutineRecord } from '../record.ts'

/** A mission of the routine, made ready by the caller. The scheduled time is filled in when it starts. */
export interface NewMission {
  uuid: string
  command: Extract<MissionCommand, { kind: 'create' }>
}

/** What people decide about a routine. */
export type RoutineSettings = Pick<
  RoutineRecord,
  | 'name'
  | 'goal'
  | 'title'
  | 'description'
  | 'tags'
  | 'priority'
  | 'projectId'
  | 'project'
  | 'config'
  | 'plan'
  | 'planDigest'
  | 'taskCount'
  | 'variables'
  | 'schedule'
  | 'isEnabled'
>

export type RoutineCommand =
  | ({ kind: 'create'; id: number; originId: number | null; origin: string | null } & RoutineSettings)
  | { kind: 'update'; ifVersion: number | null; patch: Partial<RoutineSettings> }
  | { kind: 'remove' }
  /** By hand, whatever else is under way. `version`: what the mission was made from. */
  | { kind: 'run'; version: number; mission: NewMission }
  /** Time has passed, or the mission before has ended. */
  | { kind: 'elapse'; version: number; mission: NewMission }
  /** What was due cannot be made a mission: its plan or its agents are refused by now. */
  | { kind: 'fail'; version: number; reason: string }
