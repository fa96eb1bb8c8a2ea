import type { StoredEvent } from '../../src/kinds/events.ts'
import type { MissionRecord } from '../../src/kinds/mission/record.ts'
import type { MissionCommand } from '../../src/kinds/mission/rules/command.ts'
import { MissionConfig } from '../../src/kinds/mission/shapes/missions.ts'
import type { NewTask } from '../../src/kinds/task/command.ts'
import { idCarriedBy, uuidCarrying } from '../../src/pure/ids.ts'
import type { Reply } from './replies.ts'
import { newTask, type Overrides, type Work } from './tasks.ts'

/** Missions through a combiner, as short functions. */

let lastId = 0

type Config = Parameters<typeof MissionConfig.parse>[0]

export const missionTask = (missionId: number, overrides: Overrides = {}): NewTask =>
  newTask({ ...overrides, missionId })

/** Numbers of missions are unique in the whole process: stores that tests share keep them apart by workspace. */
export function freshMission(): { id: number; uuid: string } {
  const id = Date.now() * 1000 + ++lastId
  return { id, uuid: uuidCarrying(id, Date.now(), 0) }
}

export const commandMission = (work: Work, uuid: string, command: MissionCommand, actor = 'key:test') =>
  work.run({ on: 'mission', actor, key: uuid, uuid, command })

/** A plan of these tasks, which refer to each other by their place in the list. */
export const planOf = (
  tasks: readonly NewTask[],
  more: { estimatedUsd?: string | null; digest?: string } = {},
) => ({
  plan: {
    digest: more.digest ?? `digest-${tasks.length}`,
    taskCount: tasks.length,
    strategy: null,
    estimatedTokens: 1_000,
    estimatedUsd: more.estimatedUsd === undefined ? '0.5' : more.estimatedUsd,
    body: '{"tasks":[]}',
  },
  tasks,
})

/** All of a creation but its plan. */
export const creation = (id: number, config: Config) => ({
  ...{ kind: 'create' as const, id, goal: 'Make it work', title: 'A mission', description: null, tags: [] },
  ...{ priority: 5, projectId: 0, project: null, config: MissionConfig.parse(config), startAt: null },
})

export function createMission(
  work: Work,
  tasksOf: (missionId: number) => readonly NewTask[],
  config: Config = { autonomy: 'full_auto' },
  plan: Parameters<typeof planOf>[1] = {},
): Promise<Reply> {
  const { id, uuid } = freshMission()
  const proposed = planOf(tasksOf(id), plan)
  return commandMission(work, uuid, { ...creation(id, config), proposed, planning: null })
}

export function missionIn(reply: Reply): MissionRecord {
  if (!reply.ok) throw new Error(`expected a mission, got ${reply.code}: ${reply.detail}`)
  return reply.record as unknown as MissionRecord
}

/** The mission as it is now: a settlement that has nothing to settle changes nothing. */
export const missionNow = async (work: Work, { uuid }: Pick<MissionRecord, 'uuid'>) =>
  missionIn(await commandMission(work, uuid, { kind: 'settle' }, 'system'))

export const missionEvents = async (
  work: Work,
  { uuid }: Pick<MissionRecord, 'uuid'>,
): Promise<StoredEvent[]> =>
  (await work.events()).filter(
    ({ type, payload }) => type.startsWith('mission_') && payload.missionId === uuid,
  )

export const idOf = ({ uuid }: Pick<MissionRecord, 'uuid'>) => idCarriedBy(uuid)!
