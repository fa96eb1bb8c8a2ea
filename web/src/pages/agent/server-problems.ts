import { type FieldProblem, preciseProblem } from '../../../../src/kinds/agent/rules/problems.ts'
import { sentenceOf } from '../../things/agent/check-words.ts'
import { ownFieldOf } from './own-fields.ts'

interface Refusal {
  errors?: readonly FieldProblem[]
}

/** The field of the form, and what of it: one variable of several has a name of its own. */
function placeOf(field: string): { name: string; subject: string } | null {
  const [, top, inner] = /^(?:adapterConfig|config)\.([A-Za-z_]\w*)\.?(.*)$/s.exec(field) ?? []
  if (top !== undefined) return { name: top, subject: inner || 'It' }
  const own = ownFieldOf(field)
  return own === null ? null : { name: own, subject: 'It' }
}

/** Problems by the field of the form; `rest` are those that no field shows. */
export function byField(problems: readonly FieldProblem[]): {
  fields: Record<string, string>
  rest: FieldProblem[]
} {
  const fields: Record<string, string> = {}
  const rest: FieldProblem[] = []
  for (const problem of problems.map(preciseProblem)) {
    const place = placeOf(problem.field)
    if (place) fields[place.name] ??= sentenceOf(place.subject, problem.message)
    else rest.push(problem)
  }
  return { fields, rest }
}

/** What the server refused, by the field of the form; `rest` is the refusal if some of it is at no field. */
export function problemsIn(error: Error | null): { fields: Record<string, string>; rest: Error | null } {
  const { errors = [] } = (error as Refusal | null) ?? {}
  const { fields, rest } = byField(errors)
  return { fields, rest: errors.length > 0 && rest.length === 0 ? null : error }
}
