import { useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { useSession } from '../../requests/session.ts'
import { ROUTINE_DROPS, routineColumns } from './columns.tsx'
import { RunNow } from './run-now.tsx'
import { usePause } from './use-routine-acts.ts'
import { type ListedRoutine, useRoutines } from './use-routines.ts'

/** Plans that are run again and again, by hand or by the clock; the newest first. */
export function Routines() {
  const go = useGo()
  const { whyNot } = useSession()
  const list = useRoutines()
  const { items, loadMore } = list
  const [asked, setAsked] = useState<ListedRoutine | null>(null)
  const [selected, setSelected] = useState<string | null>(null)
  const table = useRef<VirtualListHandle>(null)
  const pause = usePause()
  const acts = { ...pause, runNow: setAsked, whyNotRun: whyNot('operate') }
  const routine = items.find(({ id }) => id === selected)
  const move = (by: number) => {
    const place = items.findIndex(({ id }) => id === selected)
    const to = Math.min(Math.max(place + by, 0), items.length - 1)
    setSelected(items[to]?.id ?? null)
    table.current?.scrollToIndex(to)
  }
  useShortcuts('Routines', {
    j: { words: 'Next routine', run: () => move(1), repeats: true },
    k: { words: 'Previous routine', run: () => move(-1), repeats: true },
    Enter: {
      words: 'Open the routine',
      run: () => routine && go(`/routines/${routine.id}`),
      isOff: !routine,
    },
    e: {
      words: 'Run the routine now',
      run: () => routine && setAsked(routine),
      isOff: !routine || acts.whyNotRun !== null,
    },
    p: {
      words: 'Pause or resume its schedule',
      run: () => routine && pause.pauseOrResume(routine),
      isOff: !routine || pause.whyNotPause(routine) !== null,
    },
  })
  return (
    <Page isFull title="Routines">
      <Loaded className="px-6" empty={<NoRoutines />} read={list} rowHeight={44} rows={6}>
        {() => (
          <DataTable
            columns={routineColumns(acts)}
            drops={ROUTINE_DROPS}
            keyOf={({ id }) => id}
            label="Routines"
            onNearEnd={loadMore}
            onOpen={({ id }) => go(`/routines/${id}`)}
            ref={table}
            rowHeight={44}
            rows={items}
            selected={selected}
            touchRowHeight={92}
          />
        )}
      </Loaded>
      {asked && <RunNow onClose={() => setAsked(null)} routine={asked} />}
    </Page>
  )
}

const NoRoutines = () => (
  <Empty
    action={
      <PageLink
        className="touchable inline-flex h-9 items-center rounded-card bg-ink px-3 text-body font-medium text-bg hover:opacity-90"
        to="/missions"
      >
        Go to the missions
      </PageLink>
    }
    drawing="path"
    text="Finish a mission, then save it as a routine. It starts missions with the same plan, when you say so or at set times."
    title="No routines yet"
  />
)
