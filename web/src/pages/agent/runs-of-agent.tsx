import { useGo } from '../../links.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { RUN_COLUMNS, RUN_DROPS } from '../../things/run/columns.tsx'
import { RunStrip } from './run-strip.tsx'
import { useRunsOfAgent } from './use-agent.ts'

const COLUMNS = RUN_COLUMNS.filter(({ name }) => name !== 'agent')

/** The last runs of an agent, as a strip and as a table. */
export function RunsOfAgent({ slug }: { slug: string }) {
  const go = useGo()
  const { data, error, refetch } = useRunsOfAgent(slug)
  if (error && !data)
    return (
      <div className="p-6">
        <ProblemBox error={error} onRetry={() => void refetch()} />
      </div>
    )
  if (!data)
    return (
      <div className="px-6">
        <Skeleton rows={8} />
      </div>
    )
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
