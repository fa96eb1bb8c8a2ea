import type { Changes, View } from '../../../kernel/batch/requests.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, columnsOf, insertInto, statement } from '../../../postgres/statements/statements.ts'
import type { StoredKind } from '../../../postgres/statements/stored-kind.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import type { RoutineRecord } from '../record.ts'
import { IS_BUSY, ROUTINE_COLUMNS, readRoutine, routineColumns, routineValues } from './rows.ts'

/** Routines on the write path. */

// Routines to change. $1 workspace, $2 routines.
const lockRoutines = statement(
  'lock_routines',
  `select ${routineColumns} from routines r where r.workspace_id = $1 and r.routine_id = any($2::bigint[])
    order by r.routine_id for no key update of r`,
)
// After their locks: a mission that one of them has just started is seen. $1 workspace, $2 routines.
const busyRoutines = statement(
  'busy_routines',
  `select r.uuid from routines r where r.workspace_id = $1 and r.routine_id = any($2::bigint[]) and ${IS_BUSY}`,
)

const newRoutines = insertInto('routines', [...ROUTINE_COLUMNS, { name: 'plan', type: 'json' }])
// These rows exist and are locked.
const changedRoutines = insertInto(
  'routines',
  [...ROUTINE_COLUMNS, { name: 'plan', type: 'json' }],
  `on conflict (workspace_id, routine_id) do update set ${ROUTINE_COLUMNS.slice(2)
    .map(({ name }) => `${name} = excluded.${name}`)
    .join(', ')}`,
  'change_routines',
)
// $1 workspace, $2 routines, $3 their plans.
const changePlans = statement(
  'change_routine_plans',
  `update routines r set plan = p.plan::json from unnest($2::bigint[], $3::text[]) as p(routine_id, plan)
    where r.workspace_id = $1 and r.routine_id = p.routine_id`,
)
const newFires = insertInto(
  'routine_fires',
  columnsOf({ mission_id: 'bigint', routine_id: 'bigint', scheduled_for: 'instant' }),
)

export const storedRoutines: StoredKind<'routine'> = {
  tables: { routines: 'select, insert, update', routine_fires: 'select, insert' },
  ask(questions, { kinds }) {
    const ids = kinds.routine.map(idCarriedBy).filter((id) => id !== null)
    if (ids.length === 0) return null
    const routines = questions.addIn(lockRoutines, [arrayLiteral(ids)])
    const busy = questions.addIn(busyRoutines, [arrayLiteral(ids)])
    return () => {
      const areBusy = new Set(busy().map(([uuid]) => uuid as string))
      const seen = new Map(
        routines().map((row) => {
          const record = readRoutine(row)
          return [record.uuid, { record, holding: [], isBusy: areBusy.has(record.uuid) }]
        }),
      )
      return { view: { seen, counted: 0 } }
    }
  },
  write: (workspaceId, view, changes) => [
    ...routineWrites(workspaceId, view, changes.kinds.routine.written),
    ...fireWrites(workspaceId, view, changes),
  ],
}

function routineWrites(workspaceId: number, view: View, written: readonly RoutineRecord[]): Bound[] {
  const isKnown = ({ uuid }: RoutineRecord) => view.kinds.routine.seen.has(uuid)
  const fresh = written.filter((routine) => !isKnown(routine))
  const known = written.filter(isKnown)
  const plans = known.filter(({ plan }) => plan !== null)
  const writes: Bound[] = []
  if (fresh.length > 0)
    writes.push(newRoutines(workspaceId, [...routineValues(fresh), fresh.map(({ plan }) => plan)]))
  // The row exists: this placeholder for its plan is not written.
  if (known.length > 0)
    writes.push(changedRoutines(workspaceId, [...routineValues(known), known.map(() => '{}')]))
  if (plans.length > 0) {
    const ids = arrayLiteral(plans.map(({ id }) => id))
    writes.push([changePlans, [workspaceId, ids, arrayLiteral(plans.map(({ plan }) => plan!))]])
  }
  return writes
}

/** Missions that a routine started. */
function fireWrites(workspaceId: number, view: View, { kinds }: Changes): Bound[] {
  const started = kinds.mission.written.filter(
    ({ uuid, config }) => config.routine !== undefined && !view.kinds.mission.seen.has(uuid),
  )
  if (started.length === 0) return []
  const at = (scheduledFor: string | null) => (scheduledFor === null ? null : Date.parse(scheduledFor))
  return [
    newFires(workspaceId, [
      started.map(({ id }) => id),
      started.map(({ config }) => idCarriedBy(config.routine!.id)),
      started.map(({ config }) => at(config.routine!.scheduledFor)),
    ]),
  ]
}
