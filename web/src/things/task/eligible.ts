import type { Task } from './use-task.ts'

/** Who could take a queued task, and what keeps them from it. Pure. */

export type Eligible = NonNullable<Task['eligible']>
type EligibleAgent = Eligible['agents'][number]

interface NotTaken {
  why: string
  next: string
  /** The agent that has to be resumed. */
  resume: string | null
}

/** Null: an agent can take it, so that it is only a matter of time. */
export function whyNotTaken(
  wanted: { agent: string | null; capabilities: readonly string[] },
  { agents, workers }: Eligible,
): NotTaken | null {
  if (workers > 0 || agents.some(isAtWork)) return null
  const [first, second] = agents
  if (!first) return nobody(wanted)
  if (!second) return whyNotBy(first)
  const some = agents.slice(0, 3).map(inWords).join(', ')
  return {
    why: `no agent that can take it is at work: ${some}${agents.length > 3 ? ' …' : ''}`,
    next: agents.some(canResume) ? 'resume one of them' : 'taken when one of them is back',
    resume: agents.find(canResume)?.slug ?? null,
  }
}

const isAtWork = ({ state, leaving }: EligibleAgent) => (state === 'idle' || state === 'running') && !leaving
const canResume = ({ state, leaving }: EligibleAgent) => (state === 'paused' || state === 'error') && !leaving

const inWords = ({ slug, state, leaving }: EligibleAgent) => {
  if (state === 'error') return `${slug} is stopped after an error`
  return `${slug} is ${leaving && state !== 'terminated' ? 'leaving' : state}`
}

function whyNotBy(agent: EligibleAgent): NotTaken {
  const { slug, state, stateReason } = agent
  const reason = state === 'error' && stateReason !== null ? `: ${stateReason.replace(/\.$/, '')}` : ''
  const why = `the agent ${inWords(agent)}${reason}`
  if (canResume(agent))
    return {
      why,
      next: state === 'paused' ? `taken when ${slug} is resumed` : `fix it, then resume ${slug}`,
      resume: slug,
    }
  if (state === 'offline') return { why, next: `taken when ${slug} is back`, resume: null }
  return { why, next: 'give it to another agent', resume: null }
}

function nobody({
  agent,
  capabilities,
}: {
  agent: string | null
  capabilities: readonly string[]
}): NotTaken {
  if (agent !== null)
    return { why: `there is no agent ${agent}`, next: `taken when ${agent} connects`, resume: null }
  // There may be agents: those that are reserved, or take other types, may not have it.
  const needs = capabilities.length > 0 ? `: it needs one that can ${capabilities.join(', ')}` : ''
  return {
    why: `no agent can take it${needs}`,
    next: 'give it to an agent, or add one that can take it',
    resume: null,
  }
}
