import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { api } from '../../requests/api.ts'
import { writeSearch } from '../../search-params.ts'
import { type ListedMission, MissionCost, Progress, progressWords } from '../../things/mission/progress.tsx'
import { RunDemo } from '../../things/mission/run-demo.tsx'
import { MissionBoard } from './mission-board.tsx'
import type { MissionsView } from './search.ts'

const MISSIONS_AT_ONCE = 200

/** Where there is no room for all. */
const DROPS = ['made', 'cost', 'progress']

const COLUMNS: Column<ListedMission>[] = [
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
    cell: ({ id, title }) => (
      <PageLink className="font-medium hover:text-accent hover:underline" to={`/missions/${id}`}>
        {title}
      </PageLink>
    ),
  },
  {
    name: 'progress',
    words: 'Progress',
    width: 'minmax(96px, 1fr)',
    phone: 'hidden',
    cell: (mission) => <Progress mission={mission} />,
  },
  {
    name: 'tasks',
    words: 'Tasks',
    width: '168px',
    phone: 'second',
    cell: (mission) => <span className="text-muted">{progressWords(mission)}</span>,
  },
  {
    name: 'cost',
    words: 'Cost',
    width: '72px',
    align: 'end',
    phone: 'hidden',
    cell: (mission) => <MissionCost mission={mission} />,
  },
  {
    name: 'made',
    words: 'Created',
    width: '80px',
    align: 'end',
    phone: 'hidden',
    cell: ({ createdAt }) => (
      <span className="text-muted">
        <Moment at={createdAt} />
      </span>
    ),
  },
]

/** Goals that are planned, approved and worked on; the newest first. */
export function Missions() {
  const search = useSearch({ from: '/missions' })
  const { view = 'list' } = search
  const go = useGo()
  const read = useSnapshot(
    ['missions'],
    ({ signal }) => api().read('/missions', { query: { limit: MISSIONS_AT_ONCE }, signal }),
    { follows: about.missions },
  )
  const show = (next: MissionsView) =>
    go(`/missions${writeSearch({ ...search, view: next === 'list' ? undefined : next })}`)
  useShortcuts('Missions', {
    v: { words: 'Next view', run: () => show(view === 'list' ? 'board' : 'list') },
  })
  return (
    <Page
      actions={
        <>
          <Segmented
            label="View"
            onChange={show}
            options={[
              { value: 'list', words: 'List' },
              { value: 'board', words: 'Board' },
            ]}
            value={view}
          />
          <Button icon="plus" kind="primary" onClick={() => go('/missions/new')}>
            New mission
          </Button>
        </>
      }
      isFull
      text={read.data?.nextCursor != null && `The newest ${MISSIONS_AT_ONCE}.`}
      title="Missions"
    >
      <Loaded className="px-6" empty={<NoMissions />} read={read} rows={8}>
        {({ items }) =>
          view === 'board' ? <MissionBoard missions={items} /> : <MissionList missions={items} />
        }
      </Loaded>
    </Page>
  )
}

function MissionList({ missions }: { missions: readonly ListedMission[] }) {
  const go = useGo()
  const table = useRef<VirtualListHandle>(null)
  const [selected, setSelected] = useState<string | null>(null)
  const place = missions.findIndex(({ id }) => id === selected)
  const move = (by: number) => {
    const to = Math.min(Math.max(place + by, 0), missions.length - 1)
    setSelected(missions[to]?.id ?? null)
    table.current?.scrollToIndex(to)
  }
  useShortcuts('Missions', {
    j: { words: 'Next mission', run: () => move(1), repeats: true },
    k: { words: 'Previous mission', run: () => move(-1), repeats: true },
    Enter: {
      words: 'Open the mission',
      run: () => selected && go(`/missions/${selected}`),
      isOff: place === -1,
    },
  })
  return (
    <DataTable
      columns={COLUMNS}
      drops={DROPS}
      keyOf={({ id }) => id}
      label="Missions"
      onOpen={({ id }) => go(`/missions/${id}`)}
      ref={table}
      rows={missions}
      selected={selected}
    />
  )
}

function NoMissions() {
  return (
    <Empty
      action={
        <>
          <RunDemo />
          {EXAMPLE_GOALS.map(({ words, goal }) => (
            <PageLink
              className="touchable inline-flex h-9 items-center rounded-card border border-edge bg-raised px-3 hover:bg-hover"
              key={words}
              to={`/missions/new?goal=${encodeURIComponent(goal)}`}
            >
              {words}
            </PageLink>
          ))}
        </>
      }
      drawing="path"
      text="A mission starts with a goal. You or an agent make a plan, you approve it, and agents do its tasks. Start with one of these, or with the demo, which needs no model."
      title="No missions yet"
    />
  )
}

const EXAMPLE_GOALS = [
  {
    words: 'Find out why tests are slow',
    goal: 'Find the ten slowest tests of this repository, say why each is slow, and make them twice as fast.',
  },
  {
    words: 'Write the missing docs',
    goal: 'Find what the README promises and no document explains, and write those documents with examples that run.',
  },
  {
    words: 'Update the dependencies',
    goal: 'Update all dependencies to their newest versions, one after the other, and keep all tests green.',
  },
] as const
