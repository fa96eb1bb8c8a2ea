import { useGo } from '../../links.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { RUN_COLUMNS, RUN_DROPS } from '../run/columns.tsx'
import { type Task, useTaskRuns } from './use-task.ts'

const COLUMNS = RUN_COLUMNS.filter(({ name }) => name !== 'task')

/** The runs of this task, newest first. */
export function TaskRuns({ task }: { task: Task }) {
  const go = useGo()
  return (
    <Loaded empty={NONE} read={useTaskRuns(task.id)} rows={3}>
      {({ items }) => (
        <div className="flex h-120 flex-col overflow-hidden">
          {/* The table keeps a margin of its own, as on a page. */}
          <div className="-mx-6 flex min-h-0 flex-1 flex-col max-sm:-mx-4">
            <DataTable
              columns={COLUMNS}
              drops={RUN_DROPS}
              keyOf={(run) => run.id}
              label="Runs of this task"
              onOpen={(run) => go(`/runs/${run.id}`)}
              rows={items.toSorted((a, b) => (a.id < b.id ? 1 : -1))}
            />
          </div>
        </div>
      )}
    </Loaded>
  )
}

const NONE = (
  <Empty
    drawing="terminal"
    text="Baton has started no agent for this task. Programs that claim tasks themselves have no runs here."
    title="No runs yet"
  />
)
