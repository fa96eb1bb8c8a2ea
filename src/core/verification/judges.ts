import type { AgentRecord } from '../records.ts'
import { isReservedOnly } from '../runs/policy.ts'

/** Who may judge a result. */

type Candidate = Pick<
  AgentRecord,
  'slug' | 'state' | 'leaving' | 'model' | 'adapterType' | 'kind' | 'runtimeConfig'
>

/** Those who made the result, or parts of it. */
export interface Makers {
  /** Who submitted it: never judges it. */
  producer: string
  /** Who made the parts it was merged from. */
  others: readonly string[]
}

/**
 * The agents that may not judge; null when no other agent remains. An agent that made a part of the result, or has the model that
 * made it, judges only while there is no other.
 */
export function excludedJudges(
  agents: readonly Candidate[],
  named: string | null,
  { producer, others }: Makers,
): string[] | null {
  const able = agents.filter(
    ({ slug, state, leaving, adapterType }) =>
      slug !== producer && state !== 'terminated' && !leaving && adapterType !== 'command',
  )
  if (named !== null) return able.some(({ slug }) => slug === named) ? [producer] : null
  const roster = able.filter((agent) => !isReservedOnly(agent))
  if (roster.length === 0) return null
  const model = agents.find(({ slug }) => slug === producer)?.model ?? null
  const isClose = (agent: Candidate) =>
    others.includes(agent.slug) || (model !== null && agent.model === model)
  const close = roster.filter(isClose).map(({ slug }) => slug)
  return close.length < roster.length ? [producer, ...close] : [producer]
}
