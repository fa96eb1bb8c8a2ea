import { useQuery } from '@tanstack/react-query'
import { ConfirmDialog } from '../parts/confirm-dialog.tsx'
import { explain } from '../parts/explain.ts'
import { showRefusal } from '../parts/show-refusal.ts'
import { toast } from '../parts/toasts.tsx'
import { api } from '../requests/api.ts'

/** As many as one request changes. */
const MOST_TASKS = 200

/** Asks before all tasks that have failed are queued again. */
export function RetryFailed({ onClose }: { onClose: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['failed-tasks'],
    queryFn: ({ signal }) => api().get('/tasks', { query: { state: 'failed', limit: MOST_TASKS }, signal }),
    gcTime: 0,
  })
  const tasks = data?.items ?? []
  const count = `${tasks.length}${data?.nextCursor == null ? '' : ' of the'} failed ${tasks.length === 1 ? 'task' : 'tasks'}`
  const retry = () =>
    api()
      .post('/tasks/act', { body: { act: 'retry', ids: tasks.map(({ id }) => id) } })
      .then(
        ({ done, items }) =>
          toast({
            kind: done === items.length ? 'done' : 'bad',
            title: `${done} of ${items.length} failed tasks queued again.`,
            text: items.find((item) => !item.done)?.detail ?? undefined,
          }),
        showRefusal,
      )
  const isNone = data !== undefined && tasks.length === 0
  return (
    <ConfirmDialog
      busy={data === undefined}
      confirm={isNone ? 'Close' : 'Retry'}
      onClose={onClose}
      onConfirm={() => tasks.length > 0 && void retry()}
      open
      text={
        error
          ? explain(error).title
          : isNone
            ? 'Every task is open, done, or was ended by a person.'
            : 'Each is queued again with all its attempts, and continues its work so far.'
      }
      title={
        data === undefined ? 'Retry all failed tasks' : isNone ? 'No task has failed' : `Retry ${count}?`
      }
    />
  )
}
