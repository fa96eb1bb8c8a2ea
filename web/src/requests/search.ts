import { queryOptions } from '@tanstack/react-query'
import type { AnswerTo } from '../../../src/client/client.ts'
import { api } from './api.ts'

export type SearchAnswer = AnswerTo<'GET', '/search'>

/** Tasks, missions, agents and runs by a few letters. Short-lived: titles change. */
export const searchQuery = (q: string) =>
  queryOptions({
    queryKey: ['search', q],
    queryFn: ({ signal }) => api().get('/search', { query: { q }, signal }),
    staleTime: 10_000,
    gcTime: 60_000,
  })
