import { useQuery } from '@tanstack/react-query'
import { PageLink } from '../../links.tsx'
import { Empty } from '../../parts/empty.tsx'
import { api } from '../../requests/api.ts'

const LINK =
  'touchable inline-flex h-9 items-center rounded-card border border-edge bg-raised px-3 text-body font-medium hover:bg-hover'

export function NothingWaits({ isFiltered }: { isFiltered: boolean }) {
  const { data } = useQuery({
    queryKey: ['working-agents'],
    queryFn: ({ signal }) => api().get('/agents', { query: { limit: 200 }, signal }),
    gcTime: 0,
  })
  if (isFiltered)
    return (
      <Empty
        action={
          <PageLink className={LINK} to="/inbox">
            Show all that waits
          </PageLink>
        }
        drawing="search"
        text="Other things wait for you."
        title="Nothing of this kind waits"
      />
    )
  const working = data?.items.filter(({ state }) => state === 'running').length ?? 0
  return (
    <Empty
      action={
        <PageLink className={LINK} to="/missions/new">
          Start a mission
        </PageLink>
      }
      drawing="tray"
      text={
        working > 0
          ? `${working} ${working === 1 ? 'agent is' : 'agents are'} at work. Plans, questions, results and trouble appear here.`
          : 'Plans to approve, questions of agents, results to judge and trouble appear here.'
      }
      title="Nothing waits for you"
    />
  )
}
