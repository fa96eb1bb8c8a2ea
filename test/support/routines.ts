import type { RoutineRecord } from '../../src/kinds/routine/record.ts'
import type { NewMission, RoutineCommand } from '../../src/kinds/routine/rules/command.ts'
import { VariablesSchema } from '../../src/kinds/routine/rules/variables.ts'
import { RoutineConfig, Schedule } from '../../src/kinds/routine/shapes.ts'
import type { NewTask } from '../../src/kinds/task/command.ts'
import { uuidCarrying } from '../../src/pure/ids.ts'
import { creation, freshMission, missionTask, planOf } from './missions.ts'
import type { Reply } from './replies.ts'
import type { Work } from './tasks.ts'

/** Routines through a combiner, as short functions. */

export const commandRoutine = (work: Work, uuid: string, command: RoutineCommand, actor = 'key:test') =>
  work.run({ on: 'routine', actor, key: uuid, uuid, command })

export function createRoutine(work: Work, schedule: object | null): Promise<Reply> {
  // Their numbers are unique in the whole process, as those of missions are.
  const { id } = freshMission()
  return commandRoutine(work, uuidCarrying(id, Date.now(), 1), {
    ...{ kind: 'create', id, originId: null, origin: null, name: 'Hourly', goal: 'Go', title: 'Go' },
    ...{ description: null, tags: ['a'], priority: 5, projectId: 0, project: null, isEnabled: true },
    ...{ plan: '{"tasks":[]}', planDigest: 'd', taskCount: 1, variables: VariablesSchema.parse({}) },
    ...{ config: RoutineConfig.parse({}), schedule: schedule && Schedule.parse(schedule) },
  })
}

export function routineIn(reply: Reply): RoutineRecord {
  if (!reply.ok) throw new Error(`expected a routine, got ${reply.code}: ${reply.detail}`)
  return reply.record as unknown as RoutineRecord
}

export const startedBy = (reply: Reply): string | null => {
  if (!reply.ok) throw new Error(`expected a routine, got ${reply.code}: ${reply.detail}`)
  return (reply as unknown as { missionId: string | null }).missionId
}

/** A mission of a routine, ready to start. */
export function missionFor(
  { uuid: routine }: Pick<RoutineRecord, 'uuid'>,
  tasksOf: (missionId: number) => readonly NewTask[] = (id) => [missionTask(id)],
): NewMission {
  const { id, uuid } = freshMission()
  const config = {
    autonomy: 'autonomous',
    routine: { id: routine, scheduledFor: null, variables: {} },
  } as const
  return {
    uuid,
    command: {
      ...creation(id, config),
      proposed: planOf(tasksOf(id)),
      planning: null,
      approvedBy: 'key:saver',
    },
  }
}

/** Time has passed. */
export const elapse = (
  work: Work,
  routine: Pick<RoutineRecord, 'uuid'>,
  mission = missionFor(routine),
): Promise<Reply> => commandRoutine(work, routine.uuid, { kind: 'elapse', version: 1, mission }, 'system')
