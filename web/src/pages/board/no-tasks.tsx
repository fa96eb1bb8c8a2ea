import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { useStartDemo } from '../../things/mission/run-demo.tsx'
import { useBoardActs } from './acts-context.ts'

/** An empty board: what it is for, and two ways to fill it. */
export function NoTasks({
  isFiltered,
  onClear,
  onNew,
}: {
  isFiltered: boolean
  onClear: () => void
  onNew: () => void
}) {
  const { forbidden } = useBoardActs()
  const demo = useStartDemo((mission) => `/board?mission=${mission}`)
  if (isFiltered)
    return (
      <Empty
        action={<Button onClick={onClear}>Show all tasks</Button>}
        drawing="search"
        text="No task matches these filters."
        title="Nothing found"
      />
    )
  return (
    <Empty
      action={
        <>
          <Button disabledReason={forbidden} kind="primary" onClick={onNew}>
            Create a task
          </Button>
          <Button busy={demo.isBusy} disabledReason={demo.whyNot} icon="play" onClick={() => demo.run()}>
            Run the demo
          </Button>
        </>
      }
      command={`curl ${location.origin}/api/v1/tasks -H "Authorization: Bearer $BATON_KEY" -H "Content-Type: application/json" -d '{"title":"Write the docs"}'`}
      drawing="columns"
      text="Every task is a card here, from the moment it is created until it is done."
      title="No tasks"
    />
  )
}
