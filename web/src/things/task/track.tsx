import { useQuery } from '@tanstack/react-query'
import { api } from '../../requests/api.ts'

/** The track of a task, and what the track is for. */
export function Track({ project, track }: { project: string; track: string }) {
  const { data } = useQuery({
    queryKey: ['project', project],
    queryFn: ({ signal }) => api().get('/projects/:slug', { params: { slug: project }, signal }),
    staleTime: 60_000,
  })
  const purpose = data?.tracks.find((one) => one.track === track)?.purpose ?? null
  return (
    <span className="break-words whitespace-normal">
      {track}
      {purpose !== null && <span className="text-muted"> · {purpose}</span>}
    </span>
  )
}
