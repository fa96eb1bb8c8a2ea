import { Refused } from '../../../pure/errors.ts'
import type { PlanProblem } from './problems.ts'

/** `problems` for programs, with JSON pointers; `errors` in the shape of all other refusals. */
export function refusedPlan(problems: readonly PlanProblem[]): Refused {
  return new Refused('PLAN_INVALID', inOneSentence(problems), {
    problems: problems.map(({ at, line, column, message }) => ({
      at,
      message,
      ...(line === 0 ? {} : { line }),
      ...(column === 0 ? {} : { column }),
    })),
    errors: errorsOf(problems),
  })
}

/** What a valid plan cannot do to existing tasks. */
export type PlanConflict = Pick<PlanProblem, 'line' | 'path' | 'message'>

export const conflictingPlan = (conflicts: readonly PlanConflict[]): Refused =>
  new Refused('PLAN_CONFLICT', inOneSentence(conflicts), { errors: errorsOf(conflicts) })

const errorsOf = (found: readonly PlanConflict[]) =>
  found.map(({ line, path, message }) => ({ field: path, ...(line === 0 ? {} : { line }), message }))

function inOneSentence(found: readonly PlanConflict[]): string {
  const { line, path, message } = found[0]!
  const rest = found.length - 1
  const more =
    rest === 0 ? '' : rest === 1 ? ' There is one more problem.' : ` There are ${rest} more problems.`
  const where = line === 0 ? '' : `Line ${line}: `
  return `${where}${path}${path && ' '}${message}.${more}`
}
