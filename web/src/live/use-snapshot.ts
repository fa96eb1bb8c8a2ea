import { type QueryKey, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { browserClock } from './clock.ts'
import { useLive } from './provider.tsx'
import { advanced, type Snapshot, SnapshotKeeper, type SnapshotRules } from './snapshot.ts'

/**
 * What a page reads with one request, updated by the events after it. `read` is a call of the client that says its number:
 * `({ signal }) => api().read('/runs', { query, signal })`. Events that arrive while it is read are applied to the answer.
 */
export function useSnapshot<T>(
  queryKey: QueryKey,
  read: (options: { signal: AbortSignal }) => Promise<Snapshot<T>>,
  rules: SnapshotRules<T> & { enabled?: boolean } = {},
): Omit<UseQueryResult<Snapshot<T>>, 'data'> & { data: T | undefined } {
  const live = useLive()
  const queries = useQueryClient()
  const latest = useRef(rules)
  useEffect(() => {
    latest.current = rules
  })
  const query = useQuery<Snapshot<T>>({
    queryKey,
    enabled: rules.enabled ?? true,
    // Events say what changed: nothing is read again only because time passed or a window was shown.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    // An answer without a keeper that applies events is no longer current.
    gcTime: 0,
    // The first read is retried at once; a later one by the keeper, which reports it.
    retry: (failures, error) => {
      const usual = queries.getDefaultOptions().queries?.retry
      const isFirst = queries.getQueryData(queryKey) === undefined
      return isFirst && typeof usual === 'function' && usual(failures, error)
    },
    queryFn: async ({ signal }) => {
      const reading = live.world.recent.begin()
      try {
        const { body, seq } = await read({ signal })
        return advanced({ body, seq }, reading.after(seq), latest.current.apply)
      } finally {
        reading.end()
      }
    },
  })
  const key = JSON.stringify(queryKey)
  const kept = useRef<SnapshotKeeper<T>>(null)
  const failedAt = query.errorUpdatedAt
  // biome-ignore lint/correctness/useExhaustiveDependencies: a read that failed is the reason
  useEffect(() => kept.current?.readAgainIfMissed(), [failedAt])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key is compared by its value
  useEffect(() => {
    const keeper = new SnapshotKeeper<T>(browserClock, {
      rules: () => latest.current,
      current: () => queries.getQueryData<Snapshot<T>>(queryKey),
      set: (snapshot) => queries.setQueryData(queryKey, snapshot),
      hasFailed: () => queries.getQueryState(queryKey)?.status === 'error',
      refetch: () =>
        queries.refetchQueries({ queryKey, exact: true, type: 'active' }, { throwOnError: true }),
      late: (at) => live.freshness.late(keeper, at),
    })
    kept.current = keeper
    const unfollow = live.follow(keeper)
    return () => {
      unfollow()
      keeper.close()
    }
  }, [live, queries, key])
  return { ...query, data: query.data?.body }
}
