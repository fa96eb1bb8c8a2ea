import { PageLink, useGo } from '../../links.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { type Routine, type StartedMission, useMissionsOfRoutine } from './use-routines.ts'

/** The missions that it started, newest first, however many there are. */
export function MissionsOfRoutine({ routine }: { routine: Routine }) {
  const go = useGo()
  const list = useMissionsOfRoutine(routine.id)
  return (
    <Loaded className="px-6 py-3" empty={<NoMissions routine={routine} />} read={list} rows={6}>
      {() => (
        <DataTable
          columns={COLUMNS}
          drops={DROPS}
          keyOf={({ missionId }) => missionId}
          label={`Missions of ${routine.name}`}
          onNearEnd={list.loadMore}
          onOpen={({ missionId }) => go(`/missions/${missionId}`)}
          rows={list.items}
        />
      )}
    </Loaded>
  )
}

const NoMissions = ({ routine: { schedule, enabled } }: { routine: Routine }) => (
  <Empty
    drawing="path"
    text={
      schedule && enabled
        ? 'It starts the first one at its next time, or when you run it.'
        : 'It starts the first one when you run it.'
    }
    title="It has not started a mission yet"
  />
)

const valuesText = (values: StartedMission['variables']) =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')

const DROPS = ['score', 'cost', 'values', 'why']

const COLUMNS: Column<StartedMission>[] = [
  {
    name: 'state',
    words: 'State',
    width: '136px',
    phone: 'second',
    cell: ({ state }) => <StateChip state={state} />,
  },
  {
    name: 'title',
    words: 'Mission',
    width: 'minmax(200px, 2fr)',
    phone: 'first',
    cell: ({ missionId, title }) => (
      <PageLink className="font-medium hover:text-accent hover:underline" to={`/missions/${missionId}`}>
        {title}
      </PageLink>
    ),
  },
  {
    name: 'values',
    words: 'Variables',
    width: 'minmax(100px, 1.4fr)',
    phone: 'second',
    cell: ({ variables }) => (
      <span className="text-muted" title={valuesText(variables)}>
        {valuesText(variables)}
      </span>
    ),
  },
  {
    name: 'why',
    words: 'Started',
    width: '132px',
    phone: 'room',
    cell: ({ scheduledFor }) => (
      <span className="text-muted">{scheduledFor === null ? 'by hand' : 'by its schedule'}</span>
    ),
  },
  {
    name: 'took',
    words: 'Took',
    width: '84px',
    align: 'end',
    phone: 'room',
    cell: ({ durationMs }) => (durationMs === null ? null : <Duration ms={durationMs} />),
  },
  {
    name: 'cost',
    words: 'Cost',
    width: '88px',
    align: 'end',
    phone: 'hidden',
    cell: ({ costUsd, isSimulated }) => <Money simulated={isSimulated && 'short'} usd={costUsd} />,
  },
  {
    name: 'score',
    words: 'Score',
    width: '56px',
    align: 'end',
    phone: 'hidden',
    cell: ({ score }) => (score === null ? null : score.toFixed(2)),
  },
  {
    name: 'at',
    words: 'When',
    width: '80px',
    align: 'end',
    phone: 'second',
    cell: ({ startedAt }) => (
      <span className="text-muted">
        <Moment at={startedAt} />
      </span>
    ),
  },
]
