import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { PlanChanges } from '../../../../src/kinds/mission/plan/compare.ts'
import { Loading } from '../../parts/loaded.tsx'
import { countText, moneyText, tokensText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { timeWords, upstreamPlaces } from './plan-edit/plan-figures.ts'
import { isRecord, tasksIn } from './plan-edit/plan-value.ts'
import { PlanTable } from './plan-table.tsx'
import { fieldNoun } from './plan-words.ts'
import { changesByTask, planChangesOf, proposerWords, tasksOf } from './written-plan.ts'

/** A version of a mission's plan never changes, so it is read once. */
export function usePlan(missionId: string, version: number, since: number | null) {
  return useQuery({
    queryKey: ['plan', missionId, version, since],
    queryFn: ({ signal }) =>
      api().get('/missions/:id/plan', {
        params: { id: missionId },
        query: { version: String(version), ...(since === null ? {} : { since: String(since) }) },
        signal,
      }),
  })
}

export const estimateWords = ({
  estimatedTokens,
  costUsd,
}: {
  estimatedTokens: number
  costUsd: string | null
}) =>
  costUsd === null
    ? `about ${tokensText(estimatedTokens)} tokens, cost unknown`
    : `about ${moneyText(costUsd)} (${tokensText(estimatedTokens)} tokens)`

/** One version: how many tasks, what it may cost, its tasks, and what it changes of an earlier one. */
export function PlanVersion(props: { missionId: string; version: number; since: number | null }) {
  const { missionId, version, since } = props
  const read = usePlan(missionId, version, since)
  const { data } = read
  const tasks = useMemo(() => tasksOf(data?.plan), [data])
  const time = useMemo(() => timeOf(data?.plan), [data])
  if (!data) return <Loading read={read} rows={5} />
  const changes = planChangesOf(data.changes)
  const marks = changesByTask(changes)
  return (
    // A container: in the inbox and in a dialog it has less room than a page.
    <div className="@container flex flex-col gap-3">
      <p className="text-row text-muted">
        Version {data.version} by {proposerWords(data.proposedBy)} · {countText(data.taskCount)}{' '}
        {data.taskCount === 1 ? 'task' : 'tasks'} · {estimateWords(data.estimate)}
        {' · '}
        {time}
      </p>
      {data.strategy && <p className="text-body break-words">{data.strategy}</p>}
      {changes && since !== null && <Changes changes={changes} since={since} />}
      <PlanTable marks={marks} tasks={tasks} />
    </div>
  )
}

function timeOf(plan: unknown): string {
  const tasks = isRecord(plan) ? tasksIn(plan) : []
  return timeWords(tasks, upstreamPlaces(tasks))
}

function Changes({ changes, since }: { changes: PlanChanges; since: number }) {
  const { added, removed, changed, edges } = changes
  const parts = [
    added.length > 0 && `${added.length} added`,
    changed.length > 0 &&
      `${changed.length} changed (${[...new Set(changed.flatMap(({ fields }) => fields.map(({ field }) => fieldNoun(field))))].join(', ')})`,
    removed.length > 0 && `${removed.length} removed: ${removed.join(', ')}`,
    edges.added.length + edges.removed.length > 0 &&
      `${edges.added.length + edges.removed.length} dependencies changed`,
  ].filter(Boolean)
  return (
    <p className="rounded-card bg-held-tint px-3 py-2 text-row text-held">
      Since version {since}: {parts.length > 0 ? parts.join(' · ') : 'nothing changed'}
    </p>
  )
}
