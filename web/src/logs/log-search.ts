import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import type { AnswerTo } from '../../../src/client/client.ts'
import { api } from '../requests/api.ts'
import { nextPlace } from './marks.ts'

export interface LogSearch {
  readonly hits: readonly number[]
  /** All hits in the whole log; null: not counted yet. */
  readonly total: number | null
  /** The whole log was read. */
  readonly isComplete: boolean
  readonly readShare: number
  readonly error: unknown
  /** The hit after or before this byte; those that are not listed yet are read first. */
  next: (from: number, isForward: boolean) => Promise<number | null>
}

const HITS_A_PAGE = 1_000

type Page = AnswerTo<'GET', '/runs/:id/log/search'>
const offsetsIn = (pages: readonly Page[] = []) =>
  pages.flatMap(({ hits }) => hits.map(({ offset }) => offset))

/** Searches the whole log on the server: literal text, with the true count. It continues until the whole log is read. */
export function useLogSearch(runId: string, text: string, isCaseSensitive: boolean): LogSearch {
  const query = useInfiniteQuery({
    queryKey: ['log-search', runId, text, isCaseSensitive],
    enabled: text !== '',
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api().get('/runs/:id/log/search', {
        params: { id: runId },
        query: {
          q: text,
          case: isCaseSensitive ? 'sensitive' : 'insensitive',
          limit: String(HITS_A_PAGE),
          after: pageParam,
        },
        signal,
      }),
    getNextPageParam: (last) => last.nextCursor ?? undefined,
    staleTime: 5_000,
    gcTime: 60_000,
  })
  const { data, error, hasNextPage, isFetching, fetchNextPage } = query
  const last = data?.pages.at(-1)
  const goesOn = last !== undefined && !last.isComplete && hasNextPage && !isFetching && error === null
  useEffect(() => {
    if (goesOn) void fetchNextPage()
  }, [goesOn, fetchNextPage])
  const hits = useMemo(() => offsetsIn(data?.pages), [data])
  const next = async (from: number, isForward: boolean): Promise<number | null> => {
    if (isForward && hasNextPage && (hits.at(-1) ?? -1) <= from) {
      const { data: more } = await fetchNextPage()
      return nextPlace(offsetsIn(more?.pages), from, true, !more?.pages.at(-1)?.nextCursor)
    }
    return nextPlace(hits, from, isForward, !hasNextPage)
  }
  return {
    hits,
    total: last?.total ?? null,
    isComplete: last?.isComplete ?? false,
    readShare: last && last.bytes > 0 ? last.readBytes / last.bytes : 0,
    error,
    next,
  }
}
