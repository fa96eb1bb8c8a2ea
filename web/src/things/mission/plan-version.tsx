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
import { changesByTask, planChangesOf, proposerWords, tasksOf, titlesIn } from './written-plan.ts'

/** A version of a mission's plan never changes, so it is read once. */
export function usePlan(missionId: string, version: number | null, since: number | null) {
  return useQuery({
    enabled: version !== null,
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
  const { data: before } = usePlan(missionId, since, null)
  const tasks = useMemo(() => tasksOf(data?.plan), [data])
  const names = useMemo(() => titlesIn(before?.plan, data?.plan), [before, data])
  const time = useMemo(() => timeOf(data?.plan), [data])
  if (!data) return <Loading read={read} rows={5} />
  const changes = planChangesOf(data.changes)
  const marks = changesByTask(changes, names)
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
      {changes && since !== null && <Changes changes={changes} names={names} since={since} />}
      <PlanTable marks={marks} tasks={tasks} />
    </div>
  )
}

function timeOf(plan: unknown): string {
  const tasks = isRecord(plan) ? tasksIn(plan) : []
  return timeWords(tasks, upstreamPlaces(tasks))
}

/** The titles of so many removed tasks are told. */
const MOST_REMOVED = 10

function Changes(props: { changes: PlanChanges; since: number; names: ReadonlyMap<string, string> }) {
  const { changes, since, names } = props
  const { added, removed, changed, edges } = changes
  const parts = [
    added.length > 0 && `${added.length} added`,
    changed.length > 0 &&
      `${changed.length} changed (${[...new Set(changed.flatMap(({ fields }) => fields.map(({ field }) => fieldNoun(field))))].join(', ')})`,
    removed.length > 0 && removedWords(removed, names),
    edges.added.length + edges.removed.length > 0 &&
      `${counted(edges.added.length + edges.removed.length, 'dependency', 'dependencies')} changed`,
  ].filter(Boolean)
  return (
    <p className="rounded-card bg-held-tint px-3 py-2 text-row break-words text-held">
      Since version {since}: {parts.length > 0 ? parts.join(' · ') : 'nothing changed'}
    </p>
  )
}

const counted = (count: number, one: string, more: string) =>
  `${countText(count)} ${count === 1 ? one : more}`

function removedWords(removed: readonly string[], names: ReadonlyMap<string, string>): string {
  const shown = removed
    .slice(0, MOST_REMOVED)
    .map((tempId) => `“${(names.get(tempId) ?? tempId).slice(0, 80)}”`)
  const left = removed.length - shown.length
  return `${countText(removed.length)} removed: ${shown.join(', ')}${left > 0 ? ` and ${countText(left)} more` : ''}`
}
