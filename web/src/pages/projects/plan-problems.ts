import { Problem } from '../../../../src/client/client.ts'

/** What is wrong with a plan that was refused, by line. Pure. */

export interface PlanProblem {
  /** Null: it is about no line. */
  line: number | null
  message: string
}

/** All of them, in the order of the text; null: it was refused for another reason. */
export function planProblems(error: Error | null): PlanProblem[] | null {
  if (!(error instanceof Problem) || (error.code !== 'PLAN_INVALID' && error.code !== 'PLAN_CONFLICT'))
    return null
  return error.errors
    .map((one): PlanProblem => {
      const { field, message } = one
      const line = 'line' in one && typeof one.line === 'number' ? one.line : null
      return { line, message: field === '' ? message : `${field} ${message}` }
    })
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
}

/** The place of a line in the text, to select it there. */
export function placeOfLine(text: string, line: number): [from: number, to: number] {
  let from = 0
  for (let at = 1; at < line; at++) {
    const end = text.indexOf('\n', from)
    if (end === -1) break
    from = end + 1
  }
  const end = text.indexOf('\n', from)
  return [from, end === -1 ? text.length : end]
}

export const examplePlan = (slug: string) => `project: ${slug}
tracks:
  A:
    purpose: What this track is for
    agents: 1
    tasks:
      - id: A-001-first-step
        title: The first step
      - id: A-002-second-step
        title: The second step
        depends_on: [A-001-first-step]
`
