import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useListOf } from '../../keys/siblings.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { NewerPill } from '../../parts/newer-pill.tsx'
import { Page } from '../../parts/page.tsx'
import { useScrolled } from '../../parts/use-scrolled.ts'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { writeSearch } from '../../search-params.ts'
import { RUN_COLUMNS, RUN_DROPS } from '../../things/run/columns.tsx'
import { Filters } from './filters.tsx'
import type { RunFilter } from './search.ts'
import { useRuns } from './use-runs.ts'

/** All runs of the workspace, newest first. */
export function Runs() {
  const filter = useSearch({ from: '/runs' })
  const go = useGo()
  const list = useRuns(filter)
  const { runs, newer, refetch, loadMore, setAtTop } = list
  const table = useRef<VirtualListHandle>(null)
  const isScrolled = useScrolled(table, setAtTop, runs.length > 0)
  const [selected, setSelected] = useState<string | null>(null)
  useListOf(
    'run',
    runs.map(({ id }) => id),
  )
  const choose = (change: RunFilter) => go(`/runs${writeSearch({ ...filter, ...change })}`)
  const move = (by: number) => {
    const place = runs.findIndex(({ id }) => id === selected)
    const to = Math.min(Math.max(place + by, 0), runs.length - 1)
    setSelected(runs[to]?.id ?? null)
    table.current?.scrollToIndex(to)
  }
  useShortcuts('Runs', {
    j: { words: 'Next run', run: () => move(1), repeats: true },
    k: { words: 'Previous run', run: () => move(-1), repeats: true },
    Enter: {
      words: 'Open the run',
      run: () => selected && go(`/runs/${selected}`),
      isOff: selected === null,
    },
  })
  const showNewer = () => {
    table.current?.scrollToIndex(0, 'start')
    void refetch()
  }
  return (
    <Page filters={<Filters filter={filter} onChange={choose} />} isFull title="Runs">
      {!list.data ? (
        <Loading className="px-6" read={list} rows={12} />
      ) : runs.length === 0 ? (
        <NoRuns isFiltered={Object.keys(filter).length > 0} onClear={() => go('/runs')} />
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <DataTable
            columns={RUN_COLUMNS}
            drops={RUN_DROPS}
            keyOf={(run) => run.id}
            label="Runs"
            onNearEnd={() => void loadMore()}
            onOpen={(run) => go(`/runs/${run.id}`)}
            ref={table}
            rows={runs}
            selected={selected}
          />
          {isScrolled && newer > 0 && <NewerPill count={newer} onShow={showNewer} />}
        </div>
      )}
    </Page>
  )
}

function NoRuns({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered)
    return (
      <Empty
        action={<Button onClick={onClear}>Show all runs</Button>}
        drawing="search"
        text="No run matches these filters."
        title="Nothing found"
      />
    )
  return (
    <Empty
      action={
        <PageLink
          className="touchable inline-flex h-9 items-center rounded-card bg-ink px-3 text-body font-medium text-bg hover:opacity-90"
          to="/agents"
        >
          Wake an agent
        </PageLink>
      }
      drawing="terminal"
      text="Each time an agent works, its output, usage and end are kept as a run."
      title="No runs yet"
    />
  )
}
