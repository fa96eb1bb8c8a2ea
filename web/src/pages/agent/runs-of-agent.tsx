import { useGo } from '../../links.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { RUN_COLUMNS, RUN_DROPS } from '../../things/run/columns.tsx'
import { RunStrip } from './run-strip.tsx'
import { useRunsOfAgent } from './use-agent.ts'

const COLUMNS = RUN_COLUMNS.filter(({ name }) => name !== 'agent')

/** The last runs of an agent, as a strip and as a table. */
export function RunsOfAgent({ slug }: { slug: string }) {
  const go = useGo()
  const read = useRunsOfAgent(slug)
  const { data } = read
  if (!data) return <Loading className="px-6 py-3" read={read} rows={8} />
  if (data.items.length === 0)
    return (
      <Empty
        drawing="terminal"
        text="Wake it, or give it a task. What it does is kept here as a run."
        title="No runs yet"
      />
    )
  return (
    <>
      <RunStrip onOpen={(id) => go(`/runs/${id}`)} runs={data.items} />
      <DataTable
        columns={COLUMNS}
        drops={RUN_DROPS}
        keyOf={({ id }) => id}
        label={`Runs of ${slug}`}
        onOpen={({ id }) => go(`/runs/${id}`)}
        rows={data.items}
      />
    </>
  )
}
