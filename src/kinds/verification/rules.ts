import { z } from 'zod'
import { answerIn, jsonIn } from '../../pure/json-in-text.ts'
import type { AgentRecord } from '../agent/record.ts'
import { modelOfAgent } from '../agent/rules/model.ts'
import { isReservedOnly, policyOf } from '../run/rules/policy.ts'

/** What a verifier answers, and what follows from it. */

const LONGEST_FEEDBACK = 8_000

const Verdict = z.object({
  verdict: z.enum(['pass', 'fail', 'unsure']),
  score: z.number().min(0).max(1),
  feedback: z.string().max(LONGEST_FEEDBACK).default(''),
  evidence: z.array(z.unknown()).max(100).default([]),
})
export type Verdict = z.output<typeof Verdict>

/** The shape, in words for a prompt. */
export const VERDICT_FORMAT = `{"verdict": "pass" | "fail" | "unsure", "score": 0 to 1, "feedback": "what to change, or why it is good", "evidence": ["what you checked, and what you saw"]}`

export type VerdictReading = { ok: true; verdict: Verdict } | { ok: false; problem: string }

/** A verdict from the result of a verification: a value, or text with one in it. */
export function readVerdict(result: unknown): VerdictReading {
  const answer = answerIn(result)
  const value = typeof answer === 'string' ? jsonIn(answer) : answer
  if (value === undefined)
    return { ok: false, problem: `The answer holds no JSON; expected ${VERDICT_FORMAT}.` }
  const read = Verdict.safeParse(value)
  if (read.success) return { ok: true, verdict: read.data }
  const problems = read.error.issues.map(
    ({ path, message }) => `${path.join('.') || 'the answer'}: ${message}`,
  )
  return { ok: false, problem: `Not a verdict: ${problems.join('; ')}. Expected ${VERDICT_FORMAT}.` }
}

/** A score below this does not pass, unless the task says otherwise. */
export const DEFAULT_THRESHOLD = 0.7

/** What a verdict means for the judged task. Without people who could decide, being unsure is a failure. */
export function judgementOf(
  { verdict, score }: Pick<Verdict, 'verdict' | 'score'>,
  threshold: number,
  mayAskPeople: boolean,
): 'passed' | 'failed' | 'unsure' {
  if (verdict === 'fail') return 'failed'
  if (verdict === 'pass' && score >= threshold) return 'passed'
  return mayAskPeople ? 'unsure' : 'failed'
}

/** The check that needs no judge: a result that is not empty and has the shape its plan demands. */
export function autoVerdict(result: unknown, outputSchema: Record<string, unknown> | null): Verdict {
  const uncheckable = outputSchema && whyUncheckable(outputSchema)
  if (uncheckable) return { verdict: 'unsure', score: 0, feedback: uncheckable, evidence: [] }
  const problems = isEmpty(result) ? ['The result is empty.'] : problemsOf(result, outputSchema)
  return problems.length === 0
    ? { verdict: 'pass', score: 1, feedback: '', evidence: [] }
    : { verdict: 'fail', score: 0, feedback: problems.join(' '), evidence: [] }
}

function isEmpty(result: unknown): boolean {
  if (result === null || result === undefined) return true
  if (typeof result === 'string') return result.trim() === ''
  return typeof result === 'object' && Object.keys(result).length === 0
}

function problemsOf(result: unknown, outputSchema: Record<string, unknown> | null): string[] {
  if (outputSchema === null) return []
  const read = checkerOf(outputSchema).safeParse(result)
  if (read.success) return []
  return read.error.issues.map(({ path, message }) => `${['result', ...path].join('.')}: ${message}.`)
}

const checkerOf = (schema: Record<string, unknown>) =>
  z.fromJSONSchema(withRequiredFields(schema) as Parameters<typeof z.fromJSONSchema>[0])

/** Parts of a schema that are values, not schemas. */
const VALUES = new Set(['enum', 'const', 'default', 'examples'])

/** zod demands only those fields that are described: each field that is required gets a description that allows anything. */
function withRequiredFields(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withRequiredFields)
  if (typeof schema !== 'object' || schema === null) return schema
  const parts: Record<string, unknown> = Object.fromEntries(
    Object.entries(schema).map(([name, part]) => [name, VALUES.has(name) ? part : withRequiredFields(part)]),
  )
  const { type, required, properties } = parts
  if (![type].flat().includes('object') || !Array.isArray(required)) return parts
  const demanded = Object.fromEntries(required.map((name) => [name, {}]))
  return { ...parts, properties: { ...demanded, ...(properties as object | undefined) } }
}

/** Why results cannot be checked against this schema, as a sentence; null when they can. */
export function whyUncheckable(schema: Record<string, unknown>): string | null {
  try {
    checkerOf(schema)
    return null
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}.`
  }
}

/** What is recorded with a verdict. The evidence stays with the verification. */
export interface VerdictGiven {
  /** The agent; `baton` for its own checks. */
  verifier: string
  /** From 0 to 1. */
  score: number | null
  /** The id of the verification. */
  verification: string | null
}

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
