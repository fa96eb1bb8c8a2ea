import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** Projects that can be chosen. */
export const projectNamesQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => api().get('/projects', { signal }),
  staleTime: 60_000,
})

/** Agents that can be chosen. Read when the list is opened. */
export const agentNamesQuery = queryOptions({
  queryKey: ['agent-names'],
  queryFn: ({ signal }) => api().get('/agents', { query: { limit: 200 }, signal }),
  staleTime: 60_000,
})

/** Missions that can be chosen. Read when the list is opened. */
export const missionNamesQuery = queryOptions({
  queryKey: ['mission-names'],
  queryFn: ({ signal }) => api().get('/missions', { query: { limit: 200 }, signal }),
  staleTime: 60_000,
})
