import { useQuery } from '@tanstack/react-query'
import type { Card } from '../../live/card.ts'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { resultsQuery } from './queries.ts'

/** What is about to be approved, as text. */
export function ResultToApprove({ card }: { card: Card }) {
  const { data, error, refetch } = useQuery(resultsQuery(card.id))
  if (error) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={3} />
  const shown = data.items.find(
    ({ generation, accepted }) => accepted === null && generation === card.generation,
  )
  return (
    <div className="flex flex-col gap-2">
      <p className="text-body font-medium break-words">{card.title}</p>
      {shown?.summary && <p className="text-row break-words text-muted">{shown.summary}</p>}
      <pre className="max-h-80 overflow-auto rounded-card border border-line bg-sunken p-3 font-mono text-row break-words whitespace-pre-wrap">
        {shown === undefined
          ? 'It has no result that waits.'
          : typeof shown.result === 'string'
            ? shown.result
            : JSON.stringify(shown.result ?? null, null, 2)}
      </pre>
    </div>
  )
}
