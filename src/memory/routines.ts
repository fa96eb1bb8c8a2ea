import type { Changes, ReadSet } from '../kernel/batch/requests.ts'
import type { RoutineDue } from '../kernel/store/run-store.ts'
import type { SeenOf } from '../kinds/kind.ts'
import type { MissionRecord } from '../kinds/mission/record.ts'
import { isEnd } from '../kinds/mission/states.ts'
import type { RoutineRecord } from '../kinds/routine/record.ts'
import { isLive } from '../kinds/run/states.ts'
import type { Workspace } from './workspace.ts'

/** Routines in the memory store. The missions that they started say so themselves. */

const missionsOf = ({ missions }: Workspace, uuid: string): MissionRecord[] =>
  [...missions.values()].filter(({ config }) => config.routine?.id === uuid)

/** As in Postgres (kernel/routine-rows.ts). */
function isBusy(workspace: Workspace, uuid: string): boolean {
  const own = missionsOf(workspace, uuid)
  if (own.some(({ phase }) => !isEnd(phase))) return true
  const ids = new Set<number | null>(own.map(({ id }) => id))
  return [...workspace.runs.open.values()].some(
    ({ taskId, status }) => isLive(status) && ids.has(workspace.tasks.get(taskId ?? 0)?.missionId ?? null),
  )
}

export function lockedRoutines(
  workspace: Workspace,
  { kinds }: Pick<ReadSet, 'kinds'>,
): Map<string, SeenOf<'routine'>> {
  const found = kinds.routine.flatMap((uuid) => workspace.routines.get(uuid) ?? [])
  return new Map(
    found.map((record) => [
      record.uuid,
      { record: { ...record, plan: null }, holding: [], isBusy: isBusy(workspace, record.uuid) },
    ]),
  )
}

export function writeRoutines(workspace: Workspace, { kinds }: Changes): void {
  for (const record of kinds.routine.written) {
    // Locked records were read without their plans.
    const plan = record.plan ?? workspace.routines.get(record.uuid)?.plan ?? null
    workspace.routines.set(record.uuid, { ...record, plan })
  }
  for (const { uuid, config } of kinds.mission.written) refuseSecondFire(workspace, uuid, config.routine)
}

/** As the unique constraint of Postgres does. */
function refuseSecondFire(
  workspace: Workspace,
  uuid: string,
  routine: MissionRecord['config']['routine'],
): void {
  if (!routine || routine.scheduledFor === null) return
  const isSame = ({ uuid: other, config }: MissionRecord) =>
    other !== uuid && config.routine!.scheduledFor === routine.scheduledFor
  if (missionsOf(workspace, routine.id).some(isSame))
    throw new Error(`the routine ${routine.id} fired twice for ${routine.scheduledFor}`)
}

export const findRoutine = ({ routines }: Workspace, id: number): RoutineRecord | null =>
  [...routines.values()].find((one) => one.id === id && one.removedAt === null) ?? null

export const underWay = (workspace: Workspace, id: number): string[] =>
  missionsOf(workspace, findRoutine(workspace, id)?.uuid ?? '')
    .filter(({ phase, closedBy }) => !isEnd(phase) && !closedBy.includes('cancelling'))
    .map(({ uuid }) => uuid)

export function routinesDue(workspace: Workspace, now: number): RoutineDue[] {
  return [...workspace.routines.values()].flatMap(({ id, uuid, nextAt, waiting, isReplacing }) => {
    const isDue = nextAt !== null && nextAt <= now
    const mayGoOn = waiting.length > 0 && !isBusy(workspace, uuid)
    const isToReplace = waiting.length > 0 && isReplacing && underWay(workspace, id).length > 0
    return [
      ...(isDue || mayGoOn ? [{ workspaceId: workspace.id, uuid, chore: 'elapse' as const }] : []),
      ...(isToReplace ? [{ workspaceId: workspace.id, uuid, chore: 'replace' as const }] : []),
    ]
  })
}
