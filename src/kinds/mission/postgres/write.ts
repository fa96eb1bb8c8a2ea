import type { Changes, ReadSet, View } from '../../../kernel/batch/requests.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, statement } from '../../../postgres/statements/statements.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { taskStates } from '../../../pure/states.ts'
import type { MissionRecord } from '../record.ts'
import { type CountsDelta, openChange } from '../rules/counts.ts'
import { EARLIEST_MISSION_START } from './due.ts'
import { MISSIONS, missionColumns, missionRows, newPlans, readMission } from './rows.ts'

/** Missions on the write path. */

// Missions to change, or to settle, with their counters: locked first and read by the next statement. One that did both would see
// the new row of a mission that it had waited for, without the plan that was added with it. $1 workspace, $2 missions.
const lockMissions = statement(
  'lock_missions',
  `select from missions m join mission_counters c on c.workspace_id = m.workspace_id and c.mission_id = m.mission_id
    where m.workspace_id = $1 and m.mission_id = any($2::bigint[]) order by m.mission_id for no key update of m, c`,
)
const readMissions = statement(
  'read_missions',
  `select ${missionColumns} from ${MISSIONS} where m.workspace_id = $1 and m.mission_id = any($2::bigint[])`,
)

// $1 workspace, $2 missions.
const newCounters = statement(
  'insert_mission_counters',
  'insert into mission_counters (workspace_id, mission_id) select $1, unnest($2::bigint[])',
)
const COUNTED = [...taskStates, 'failed_optional', 'children']
// What the tasks of this batch add to the counters of their missions, locked in one order. $1 workspace, $2 missions, then a list
// for each counter.
const addToCounters = statement(
  'add_to_mission_counters',
  `with locked as (select mission_id from mission_counters where workspace_id = $1 and mission_id = any($2::bigint[])
      order by mission_id for no key update)
   update mission_counters c set ${COUNTED.map((name) => `${name} = c.${name} + d.${name}`).join(', ')}
     from locked l join unnest($2::bigint[], ${COUNTED.map((_, i) => `$${i + 3}::int[]`).join(', ')})
       as d(mission_id, ${COUNTED.join(', ')}) using (mission_id)
    where c.workspace_id = $1 and c.mission_id = l.mission_id`,
)
// The same for one mission, as nearly every batch has it: lists, their join and a lock of their own would cost several times as much
// as the update itself. $1 workspace, $2 mission, then each counter.
const addToOneCounter = statement(
  'add_to_mission_counter',
  `update mission_counters c set ${COUNTED.map((name, i) => `${name} = c.${name} + $${i + 3}::int`).join(', ')}
    where c.workspace_id = $1 and c.mission_id = $2::bigint`,
)
// $1 workspace, $2 missions that were not locked, $3 by how much their number of open tasks changes.
const settleLater = statement(
  'settle_missions_later',
  'select refuse_missions_to_settle($1, $2::bigint[], $3::int[])',
)
// $1 workspace, $2 missions, $3 the purpose of what was claimed of each.
const stayOpen = statement(
  'missions_stay_open',
  'select refuse_claims_in_closed_missions($1, $2::bigint[], $3::text[])',
)

const idsIn = ({ kinds, missions }: Pick<ReadSet, 'kinds' | 'missions'>) => [
  ...new Set([...kinds.mission.map(idCarriedBy).filter((id) => id !== null), ...missions]),
]

export const storedMissions: StoredKind<'mission'> = {
  tables: {
    missions: 'select, insert, update',
    mission_counters: 'select, insert, update',
    mission_plans: 'select, insert',
  },
  due: [EARLIEST_MISSION_START],
  ask(pipeline, readSet) {
    const ids = idsIn(readSet)
    if (ids.length === 0) return null
    const named = [arrayLiteral(ids)]
    pipeline.addIn(lockMissions, named)
    const missions = pipeline.addIn(readMissions, named)
    return () => {
      const records = missions().map(readMission)
      const seen = new Map(records.map((record) => [record.uuid, { record, holding: [] }]))
      return { view: { seen, counted: 0 } }
    }
  },
  writeFirst: newMissionWrites,
  write: missionWrites,
  checks: missionChecks,
}

const isNew = (view: View) => (mission: MissionRecord) => !view.kinds.mission.seen.has(mission.uuid)

/** New missions: their tasks, which are written next, refer to them. */
function newMissionWrites(workspaceId: number, view: View, { kinds }: Changes): Bound[] {
  const fresh = kinds.mission.written.filter(isNew(view))
  if (fresh.length === 0) return []
  return [
    missionRows.insert(workspaceId, fresh),
    [newCounters, [workspaceId, arrayLiteral(fresh.map(({ id }) => id))]],
  ]
}

function missionWrites(workspaceId: number, view: View, { kinds, missions }: Changes): Bound[] {
  const { written } = kinds.mission
  const { deltas, plans } = missions
  const known = written.filter((mission) => !isNew(view)(mission))
  const writes: Bound[] = []
  if (known.length > 0) writes.push(missionRows.upsert(workspaceId, known))
  const proposed = plans.map(({ missionId, plan }) => ({ missionId, ...plan }))
  if (proposed.length > 0) writes.push(newPlans.insert(workspaceId, proposed))
  if (deltas.size > 0) writes.push(counterWrite(workspaceId, deltas))
  return writes
}

/** In the order of `COUNTED`. */
const countsIn = ({ byState, failedOptional, children }: CountsDelta): number[] => [
  ...taskStates.map((state) => byState.get(state) ?? 0),
  failedOptional,
  children,
]

function counterWrite(workspaceId: number, deltas: ReadonlyMap<number, CountsDelta>): Bound {
  const ids = [...deltas.keys()]
  const counts = [...deltas.values()].map(countsIn)
  if (ids.length === 1) return [addToOneCounter, [workspaceId, ids[0], ...counts[0]!]]
  const lists = COUNTED.map((_, i) => arrayLiteral(counts.map((of) => of[i])))
  return [addToCounters, [workspaceId, arrayLiteral(ids), ...lists]]
}

/** Under the lock of the counter: whether a gate was closed meanwhile, and whether a mission that was not locked ends. */
function missionChecks(workspaceId: number, view: View, { missions, kinds }: Changes): Bound[] {
  const { deltas, claimedFrom } = missions
  const checks: Bound[] = []
  const isLocked = new Set([...view.kinds.mission.seen.values()].map(({ record }) => record.id))
  for (const { id } of kinds.mission.written) isLocked.add(id)
  // A claim leaves as many open tasks as there were: only what changes that can end a mission or open it again.
  const unlocked = [...deltas]
    .filter(([id]) => !isLocked.has(id))
    .map(([id, delta]) => ({ id, change: openChange(delta) }))
    .filter(({ change }) => change !== 0)
  if (unlocked.length > 0)
    checks.push([
      settleLater,
      [
        workspaceId,
        arrayLiteral(unlocked.map(({ id }) => id)),
        arrayLiteral(unlocked.map(({ change }) => change)),
      ],
    ])
  // Of a mission that is locked, the gate was known: it may close in this batch, after the claim.
  const claimed = claimedFrom.filter(({ missionId }) => !isLocked.has(missionId))
  if (claimed.length > 0)
    checks.push([
      stayOpen,
      [
        workspaceId,
        arrayLiteral(claimed.map(({ missionId }) => missionId)),
        arrayLiteral(claimed.map(({ purpose }) => purpose)),
      ],
    ])
  return checks
}
