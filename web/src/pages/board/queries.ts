import { queryOptions } from '@tanstack/react-query'
import { api } from '../../requests/api.ts'

/** What filters and new tasks can name. Read when the list is opened. */

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => api().get('/projects', { signal }),
  staleTime: 60_000,
})

export const missionsQuery = queryOptions({
  queryKey: ['mission-names'],
  queryFn: ({ signal }) => api().get('/missions', { signal }),
  staleTime: 60_000,
})

export const missionQuery = (id: string) =>
  queryOptions({
    queryKey: ['mission-name', id],
    queryFn: ({ signal }) => api().get('/missions/:id', { params: { id }, signal }),
    staleTime: 60_000,
  })
