import { useQuery } from '@tanstack/react-query'
import { Loading } from '../../parts/loaded.tsx'
import { api } from '../../requests/api.ts'
import { Review } from './review.tsx'

/** The same in a dialog, where only the id of the task is known. */
export function ReviewOfTask(props: { taskId: string; generation: number; digest: string | null }) {
  const { taskId: id, generation, digest } = props
  const read = useQuery({
    queryKey: ['reviewed-task', id],
    queryFn: ({ signal }) => api().get('/tasks/:id', { params: { id }, signal }),
    gcTime: 0,
  })
  const { data } = read
  if (!data) return <Loading read={read} rows={5} />
  return <Review digest={digest} generation={generation} task={data} />
}
