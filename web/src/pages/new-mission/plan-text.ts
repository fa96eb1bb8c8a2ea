import { Problem } from '../../../../src/client/client.ts'

/** Problems of a plan that was written by hand, by line. Pure. */
export interface PlanProblem {
  line: number | null
  message: string
}

/** All that is wrong with it; null: it was refused for another reason. */
export function problemsIn(error: unknown): PlanProblem[] | null {
  if (!(error instanceof Problem) || error.code !== 'PLAN_INVALID') return null
  const { errors } = error.body as { errors?: { line?: number; field?: string; message: string }[] }
  return (errors ?? []).map(({ line, field, message }) => ({
    line: line ?? null,
    message: field ? `${field} ${message}` : message,
  }))
}

export const EXAMPLE_PLAN = `tasks:
  - tempId: look
    title: Find the ten slowest tests
  - tempId: mend
    title: Make them faster
    dependsOn: [look]
    verification: { kind: human }
`
