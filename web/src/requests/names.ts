import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** Agents that can be chosen. Read when the list is opened. */
export const agentNamesQuery = queryOptions({
  queryKey: ['agent-names'],
  queryFn: ({ signal }) => api().get('/agents', { query: { limit: 200 }, signal }),
  staleTime: 60_000,
})
