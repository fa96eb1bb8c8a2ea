import { queryOptions } from '@tanstack/react-query'
import { api } from '../../requests/api.ts'

/** What filters and new tasks can name. Read when the list is opened. */

/** The tags and types that tasks have. */
export const valuesQuery = queryOptions({
  queryKey: ['board-values'],
  queryFn: ({ signal }) => api().get('/board/values', { signal }),
  staleTime: 60_000,
})

export const missionQuery = (id: string) =>
  queryOptions({
    queryKey: ['mission-name', id],
    queryFn: ({ signal }) => api().get('/missions/:id', { params: { id }, signal }),
    staleTime: 60_000,
  })
