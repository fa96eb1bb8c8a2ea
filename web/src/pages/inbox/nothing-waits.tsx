import { useQuery } from '@tanstack/react-query'
import { PageLink } from '../../links.tsx'
import { Empty } from '../../parts/empty.tsx'
import { api } from '../../requests/api.ts'
import type { InboxTab } from '../../things/inbox/kinds.ts'

const LINK =
  'touchable inline-flex h-9 items-center rounded-card border border-edge bg-raised px-3 text-body font-medium hover:bg-hover'

/** `kind`: only these are shown, and there are others. */
export function NothingWaits({ kind }: { kind: InboxTab | undefined }) {
  const { data } = useQuery({
    queryKey: ['working-agents'],
    queryFn: ({ signal }) => api().get('/agents', { query: { limit: 200 }, signal }),
    gcTime: 0,
  })
  if (kind !== undefined)
    return (
      <Empty
        action={
          <PageLink className={LINK} to="/inbox">
            Show everything that is waiting
          </PageLink>
        }
        drawing="search"
        text={
          kind === 'finished'
            ? 'A mission that ends is here until somebody has seen it.'
            : 'Other items are waiting for you.'
        }
        title={kind === 'finished' ? 'Every ended mission was seen' : 'Nothing of this kind is waiting'}
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
          ? `${working} ${working === 1 ? 'agent is' : 'agents are'} at work. Plans, questions, results and problems appear here.`
          : 'Plans to approve, questions from agents, results to review and problems appear here.'
      }
      title="Nothing is waiting for you"
    />
  )
}
