import { useState } from 'react'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { type Column, DataTable, type Sort } from '../../parts/data-table.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import type { AnyState } from '../../theme/marks.ts'
import { Sample } from './sample.tsx'

interface Row {
  key: string
  title: string
  state: AnyState
  agent: string
  usd: string
}

const STATES: AnyState[] = ['running', 'queued', 'awaiting_human', 'completed', 'failed']
const ROWS: Row[] = Array.from({ length: 5_000 }, (_, i) => ({
  key: `B-${String(i + 1).padStart(3, '0')}`,
  title: ['Fix the login form', 'Port the API', 'Add cache', 'Write docs'][i % 4]!,
  state: STATES[i % STATES.length]!,
  agent: `dev-${(i % 7) + 1}`,
  usd: ((i * 37) % 300) / 100 > 0 ? String(((i * 37) % 300) / 100) : '0.0138',
}))

const COLUMNS: Column<Row>[] = [
  {
    name: 'key',
    words: 'Task',
    width: '72px',
    cell: ({ key }) => <span className="font-mono">{key}</span>,
    phone: 'first',
    canSort: true,
  },
  { name: 'title', words: 'Title', width: 'minmax(0, 1fr)', cell: ({ title }) => title, phone: 'first' },
  { name: 'state', words: 'State', width: '116px', cell: ({ state }) => <StateChip state={state} /> },
  { name: 'agent', words: 'Agent', width: '88px', cell: ({ agent }) => <AgentChip slug={agent} /> },
  {
    name: 'usd',
    words: 'Cost',
    width: '64px',
    align: 'end',
    cell: ({ usd }) => <Money usd={usd} />,
    canSort: true,
  },
]

export function Lists() {
  const [sort, setSort] = useState<Sort>({ column: 'key', isDescending: false })
  const [selected, setSelected] = useState<string | null>('B-002')
  return (
    <>
      <Sample name="Table of 5,000 rows">
        <div className="-m-4 flex h-72 min-w-0 flex-[1_0_100%] flex-col">
          <DataTable
            columns={COLUMNS}
            keyOf={({ key }) => key}
            label="Tasks"
            onOpen={({ key }) => setSelected(key)}
            onSort={setSort}
            rows={ROWS}
            selected={selected}
            sort={sort}
          />
        </div>
      </Sample>
      <Sample name="List with its end anchored">
        <div className="flex h-40 w-full flex-col">
          <VirtualList
            anchor="end"
            items={ROWS}
            keyOf={({ key }) => key}
            label="Lines"
            render={({ key, title }) => (
              <p className="truncate font-mono text-row">
                {key} {title}
              </p>
            )}
            rowHeight={20}
          />
        </div>
      </Sample>
    </>
  )
}
