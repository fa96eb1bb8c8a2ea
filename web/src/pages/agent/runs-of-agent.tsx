import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { RUN_COLUMNS, RUN_DROPS } from '../../things/run/columns.tsx'
import { AgentFacts } from './agent-facts.tsx'
import { RunStrip } from './run-strip.tsx'
import { type AgentRead, useRunsOfAgent } from './use-agent.ts'

const COLUMNS = RUN_COLUMNS.filter(({ name }) => name !== 'agent')

/** The last runs of an agent, as a strip and as a table. */
export function RunsOfAgent({ agent }: { agent: AgentRead }) {
  const { slug } = agent
  const go = useGo()
  const read = useRunsOfAgent(slug)
  const { data } = read
  if (!data) return <Loading className="px-6 py-3" read={read} rows={8} />
  if (data.items.length === 0)
    return (
      <Empty
        action={<Button onClick={() => go(`/board?new=task`)}>New task</Button>}
        drawing="terminal"
        text="Wake it, or give it a task. What it does is kept here as a run."
        title="No runs yet"
      />
    )
  return (
    <>
      <AgentFacts agent={agent} />
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
