import { z } from 'zod'
import { answerIn, jsonIn } from '../../../pure/json-in-text.ts'

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
