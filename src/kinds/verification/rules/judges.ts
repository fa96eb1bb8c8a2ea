import { modelOfAgent } from '../../agent/rules/model.ts'
import { isReservedOnly, policyOf } from '../../run/rules/policy.ts'
import type { AgentRecord } from '../../task/record.ts'

/** Who may judge a result. */

type Candidate = Pick<
  AgentRecord,
  'slug' | 'state' | 'leaving' | 'model' | 'adapterType' | 'adapterConfig' | 'kind' | 'runtimeConfig'
>

/** An agent that may judge a result which waits for that. */
export type Judge = Candidate &
  Pick<AgentRecord, 'coordinatorEnabled'> & {
    /** It holds something that it took before the result began to wait. */
    isBusy: boolean
  }

/** The agents that may judge: the named one, or all that are not excluded and take what any agent may have. */
export const judgesAmong = <A extends Candidate>(
  agents: readonly A[],
  named: string | null,
  notAgents: readonly string[],
): A[] =>
  agents.filter((agent) => {
    if (agent.state === 'terminated' || agent.leaving) return false
    return named === null ? !notAgents.includes(agent.slug) && !isReservedOnly(agent) : agent.slug === named
  })

/**
 * Why nobody will judge what waits, as a sentence; null: somebody will. One that is busy is waited for. An agent that claims its work
 * itself, and took other work meanwhile, does not judge.
 */
export function whyNobodyJudges(judges: readonly Judge[], named: string | null): string | null {
  if (judges.some((judge) => judge.state === 'idle' && (judge.isBusy || isGivenWork(judge)))) return null
  if (judges.length === 0) return named === null ? 'there is no other agent to judge it' : `${named} is gone`
  const because = judges.slice(0, MOST_NAMED).map(whyNot).join(', ')
  const more = judges.length > MOST_NAMED ? `, and ${judges.length - MOST_NAMED} more` : ''
  return named === null ? `nobody took the verification: ${because}${more}` : because
}

const MOST_NAMED = 5

const isGivenWork = ({ adapterType, coordinatorEnabled, runtimeConfig }: Judge) => {
  const { enabled, wakeOnAssignment } = policyOf(runtimeConfig)
  return adapterType !== 'external' && coordinatorEnabled && enabled && wakeOnAssignment
}

const whyNot = ({ slug, state }: Judge) =>
  state === 'idle'
    ? `${slug} did not take the verification`
    : `${slug} is ${state === 'error' ? 'in error' : state}`

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
  const maker = agents.find(({ slug }) => slug === producer)
  const model = maker ? modelOfAgent(maker) : null
  const isClose = (agent: Candidate) =>
    others.includes(agent.slug) || (model !== null && modelOfAgent(agent) === model)
  const close = roster.filter(isClose).map(({ slug }) => slug)
  return close.length < roster.length ? [producer, ...close] : [producer]
}
