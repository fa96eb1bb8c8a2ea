import { useCallback, useRef } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import type { AgentState } from '../../../../src/pure/states.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

type Answer = AnswerTo<'GET', '/agents'>
export type ListedAgent = Answer['items'][number]

const AGENTS_A_PAGE = 200

/** Agents by slug. More pages are read as the reader scrolls down, and all that were read are read again. */
export function useAgents(state: AgentState | undefined) {
  const pages = useRef(1)
  const list = useSnapshot<Answer>(
    ['agents', state ?? ''],
    async ({ signal }) => {
      const query = { limit: AGENTS_A_PAGE, ...(state ? { state } : {}) }
      const first = await api().read('/agents', { query, signal })
      let { items, nextCursor } = first.body
      for (let page = 1; page < pages.current && nextCursor !== null; page++) {
        const next = await api().get('/agents', { query: { ...query, cursor: nextCursor }, signal })
        items = [...items, ...next.items]
        nextCursor = next.nextCursor
      }
      return { body: { items, nextCursor }, seq: first.seq }
    },
    { follows: about.agents },
  )
  const { refetch, isFetching } = list
  const hasMore = list.data?.nextCursor != null
  const loadMore = useCallback(() => {
    if (!hasMore || isFetching) return
    pages.current += 1
    void refetch()
  }, [hasMore, isFetching, refetch])
  return { ...list, agents: list.data?.items ?? [], loadMore }
}
