import type { PlanChanges } from '../../../../src/kinds/mission/plan/compare.ts'
import type {
  MissionEdge,
  MissionTask,
  VerificationRule,
} from '../../../../src/kinds/mission/plan/mission-plan.ts'
import { countText } from '../../parts/wording.ts'
import { fieldNoun } from './plan-words.ts'

/** A plan as the server writes it: what has its default value is left out. Pure. */

export type PlannedTask = Pick<
  MissionTask,
  | 'tempId'
  | 'title'
  | 'description'
  | 'successCriteria'
  | 'agent'
  | 'preferredAgent'
  | 'capabilities'
  | 'contractor'
  | 'model'
  | 'dependsOn'
  | 'optional'
> & { verification: VerificationRule | null; budgetUsd: string | null }

type Written = Partial<Omit<MissionTask, 'dependsOn'>> & {
  tempId: string
  dependsOn?: readonly (string | MissionEdge)[]
}

const restOf = (description: string | null | undefined) =>
  description?.split('\n').slice(1).join('\n').trim() || null

/** The tasks with their defaults filled in. */
export function tasksOf(plan: unknown): PlannedTask[] {
  const { tasks = [] } = (plan ?? {}) as { tasks?: readonly Written[] }
  return tasks.map((task) => ({
    tempId: task.tempId,
    title: task.title ?? task.description?.split('\n')[0] ?? task.tempId,
    // A task without a title has the first line of its description.
    description: task.title ? (task.description ?? null) : restOf(task.description),
    successCriteria: task.successCriteria ?? null,
    agent: task.agent ?? null,
    preferredAgent: task.preferredAgent ?? null,
    capabilities: task.capabilities ?? [],
    contractor: task.contractor ?? null,
    model: task.model ?? null,
    verification: task.verification ?? null,
    budgetUsd: task.budget?.maxUsd ?? null,
    optional: task.optional ?? false,
    dependsOn: (task.dependsOn ?? []).map((edge) =>
      typeof edge === 'string' ? { on: edge, kind: 'data' } : edge,
    ),
  }))
}

/** Who proposed it: agents by their name; keys belong to people. */
export const proposerWords = (by: string) => (by.startsWith('agent:') ? by.slice(6) : 'a person')

/** How a task differs from an earlier version: `words` has one line for each changed field. */
export interface PlanMark {
  readonly kind: 'added' | 'changed'
  readonly words: readonly string[]
}

const LONGEST_VALUE = 80

function plainWords(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return value.map(plainWords).join(', ')
  return Object.entries(value)
    .map(([field, inside]) =>
      field === 'kind' ? plainWords(inside) : `${fieldNoun(field)} ${plainWords(inside)}`,
    )
    .join(', ')
}

const valueWords = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return 'nothing'
  const text = plainWords(value)
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text
}

/** Of more tasks than that only their number is told. */
const MOST_NAMED = 3

/** “A”, “B” and 397 more. */
function named(tempIds: readonly string[], names: ReadonlyMap<string, string>): string {
  const shown = tempIds.slice(0, MOST_NAMED).map((tempId) => `“${valueWords(names.get(tempId) ?? tempId)}”`)
  const left = tempIds.length - shown.length
  return left > 0 ? `${shown.join(', ')} and ${countText(left)} more` : shown.join(', ')
}

/** What each task waits for now, or no longer. */
function byWaiting(edges: readonly { readonly from: string; readonly to: string }[]): Map<string, string[]> {
  const waits = new Map<string, string[]>()
  for (const { from, to } of edges) waits.set(to, [...(waits.get(to) ?? []), from])
  return waits
}

/** `names`: the titles of the tasks of both versions. */
export function changesByTask(
  changes: PlanChanges | null,
  names: ReadonlyMap<string, string> = new Map(),
): Map<string, PlanMark> {
  const marks = new Map<string, PlanMark>()
  for (const tempId of changes?.added ?? []) marks.set(tempId, { kind: 'added', words: [] })
  const say = (tempId: string, words: string) => {
    const before = marks.get(tempId)
    if (before?.kind !== 'added')
      marks.set(tempId, { kind: 'changed', words: [...(before?.words ?? []), words] })
  }
  for (const { tempId, fields } of changes?.changed ?? [])
    for (const { field, before, after } of fields)
      say(tempId, `${fieldNoun(field)}: ${valueWords(before)} → ${valueWords(after)}`)
  for (const [to, from] of byWaiting(changes?.edges.added ?? [])) say(to, `now after ${named(from, names)}`)
  const removed = new Set(changes?.removed)
  for (const [to, from] of byWaiting(changes?.edges.removed ?? []))
    if (!removed.has(to)) say(to, `no longer after ${named(from, names)}`)
  return marks
}

/** The titles of the tasks of a plan, by their ids; of a task that is in several, as the last one says. */
export const titlesIn = (...plans: readonly unknown[]): ReadonlyMap<string, string> =>
  new Map(plans.flatMap((plan) => tasksOf(plan).map(({ tempId, title }) => [tempId, title])))

/** What differs from another version, as the server says it; null: it did not say. */
export const planChangesOf = (changes: unknown): PlanChanges | null =>
  typeof changes === 'object' && changes !== null && 'edges' in changes ? (changes as PlanChanges) : null
