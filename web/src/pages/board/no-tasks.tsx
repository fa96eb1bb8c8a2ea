import { useMutation } from '@tanstack/react-query'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { explain } from '../../parts/explain.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
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
  const go = useGo()
  const demo = useMutation({
    mutationFn: () => api().post('/demo', { body: {} }),
    onSuccess: ({ missionId }) => go(`/board?mission=${missionId}`),
    onError: (error) => {
      const { title, detail } = explain(error)
      toast({ kind: 'bad', title, text: detail })
    },
  })
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
            Make a task
          </Button>
          <Button busy={demo.isPending} disabledReason={forbidden} icon="play" onClick={() => demo.mutate()}>
            Run the demo
          </Button>
        </>
      }
      command={`curl ${location.origin}/api/v1/tasks -H "Authorization: Bearer $BATON_KEY" -H "Content-Type: application/json" -d '{"title":"Write the docs"}'`}
      drawing="columns"
      text="Every piece of work is a card here, from the moment it is asked for until it is done."
      title="No tasks"
    />
  )
}
