import { useQuery } from '@tanstack/react-query'
import { PageLink } from '../../links.tsx'
import { countText } from '../../parts/wording.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import { api } from '../../requests/api.ts'
import type { Budget } from './budget.ts'

const SHOWN = 4
const MOST_COUNTED = 200

/** Tasks that a budget stopped, and that go on with more. */
export function Stopped({ budget, isRaised = false }: { budget: Budget; isRaised?: boolean }) {
  const { scope, scopeId, blockedBecause } = budget
  const isStopped = blockedBecause !== null
  const { data } = useQuery({
    queryKey: ['stopped-by-budget', budget.id],
    enabled: isStopped && scope !== 'task',
    queryFn: ({ signal }) =>
      api().get('/tasks', {
        query: {
          ...{ state: 'budget_exceeded', limit: MOST_COUNTED },
          ...(scope === 'project' && { project: scopeId ?? undefined }),
          ...(scope === 'mission' && { mission: scopeId ?? undefined }),
          ...(scope === 'agent' && { agent: scopeId ?? undefined }),
        },
        signal,
      }),
    gcTime: 0,
  })
  if (!isStopped) return <p className="text-row text-muted">Nothing is stopped by it now.</p>
  if (scope === 'task') return <p className="text-row text-muted">The task goes on.</p>
  const items = data?.items ?? []
  const others = isRaised
    ? scope === 'mission'
      ? 'The mission goes on: its queued tasks are handed out again.'
      : 'Queued work is handed out again.'
    : 'Work that is queued under it waits.'
  return (
    <div className="flex flex-col gap-1 text-row">
      <p className="font-medium">{isRaised ? 'What goes on' : 'What it has stopped'}</p>
      {items.length > 0 && (
        <ul className="flex flex-col gap-0.5">
          {items.slice(0, SHOWN).map(({ id, key, title }) => (
            <li className="truncate" key={id}>
              <PageLink className="hover:text-accent hover:underline" to={`/tasks/${key ?? id}`}>
                <span className="text-muted">{key ?? nameOfTask(id, undefined)}</span> {title}
              </PageLink>
            </li>
          ))}
        </ul>
      )}
      <p className="text-muted">
        {items.length > SHOWN &&
          `${countText(items.length - SHOWN)}${items.length === MOST_COUNTED ? ' or more' : ''} other stopped tasks. `}
        {others}
      </p>
    </div>
  )
}
