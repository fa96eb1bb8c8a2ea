import { Problem } from '../../../../../src/client/client.ts'
import { isProblemList } from '../../../../../src/kinds/mission/plan/problems.ts'
import { fieldNoun, fieldSubject } from '../plan-words.ts'
import { fieldNamed } from './plan-value.ts'

/** What is wrong with a plan, at its task and its field, in words. Pure. */

export interface PlanProblem {
  /** The place of its task; null: of the plan as a whole. */
  readonly task: number | null
  /** Of the task or the plan, by our name; null: of it as a whole. */
  readonly field: string | null
  /** Inside a field that is a mapping, such as the budget: which of its fields. */
  readonly part?: string
  readonly words: string
  /** In the text; null: it is of none. */
  readonly line: number | null
}

const quoted = (name: string) => `“${name}”`
const nameOf = (field: string) => fieldSubject(fieldNamed(field))

/** "dependsOn", "0" is "Dependency 1"; of other lists each entry has its number. */
function subjectOf(steps: readonly string[]): string {
  const named = steps.filter((step) => !/^\d+$/.test(step))
  const last = named.at(-1)
  if (last === undefined) return 'The task'
  const number = /^\d+$/.test(steps.at(-1)!) ? Number(steps.at(-1)) + 1 : null
  if (fieldNamed(named[0]!) === 'dependsOn')
    return number === null && steps.length === 1 ? nameOf(last) : `Dependency ${Number(steps[1] ?? 0) + 1}`
  return number === null ? nameOf(last) : `Entry ${number} of ${fieldNoun(fieldNamed(last))}`
}

const sentence = (words: string) => {
  const text = words.trim().replace(/\.?$/, '.')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~')

/** Messages go on from the path of what they are about: a field is then named as the form names it. */
function wordsOf(steps: readonly string[], message: string): string {
  const plain = message
    .replace(/^YAML syntax error: /, '')
    .replace(/ \(line \d+, column \d+\)$/, '')
    .replace(/ at (?:\/plan)?\/tasks\/(\d+)\S*/, (_, place: string) => ` in task ${Number(place) + 1}`)
    .replace(/^is not a field of ([^,]+), which may have .*$/s, 'is not a field of $1')
  if (steps.length === 0) return sentence(plain)
  const isUnknown = plain.startsWith('is not a field of')
  return sentence(`${isUnknown ? quoted(steps.at(-1)!) : subjectOf(steps)} ${plain}`)
}

/** `at` is a JSON pointer, also below the plan of a request. */
function located(at: string): { task: number | null; steps: string[] } {
  const steps = at.split('/').slice(1).map(unescaped)
  if (steps[0] === 'plan') steps.shift()
  const task = steps[0] === 'tasks' && /^\d+$/.test(steps[1] ?? '') ? Number(steps[1]) : null
  return { task, steps: task === null ? steps : steps.slice(2) }
}

const lineOf = (problem: object) =>
  'line' in problem && typeof problem.line === 'number' && problem.line > 0 ? problem.line : null

/** Fields that are mappings of fields. */
const GROUPS = new Set(['budget', 'timeouts', 'verification', 'contractor'])

/** All that the server found in a plan; null: it was refused for another reason. */
export function problemsIn(error: unknown): PlanProblem[] | null {
  if (!(error instanceof Problem) || error.code !== 'PLAN_INVALID') return null
  const { body } = error
  const problems = typeof body === 'object' && body !== null && 'problems' in body ? body.problems : []
  if (!isProblemList(problems)) return []
  return problems.map((problem) => {
    const { task, steps } = located(problem.at)
    const field = steps[0] === undefined ? null : fieldNamed(steps[0])
    const part = field !== null && GROUPS.has(field) ? steps[1] : undefined
    return {
      task,
      field,
      ...(part !== undefined && { part: fieldNamed(part) }),
      words: wordsOf(steps, problem.message),
      line: lineOf(problem),
    }
  })
}

export function byTask(problems: readonly PlanProblem[]): ReadonlyMap<number, readonly PlanProblem[]> {
  const tasks = new Map<number, PlanProblem[]>()
  for (const problem of problems) {
    if (problem.task === null) continue
    const known = tasks.get(problem.task)
    if (known) known.push(problem)
    else tasks.set(problem.task, [problem])
  }
  return tasks
}

const said = (problems: readonly PlanProblem[]): string | null => {
  if (problems.length === 0) return null
  return problems.length === 1 ? problems[0]!.words : `${problems[0]!.words} ${problems.length - 1} more.`
}

/** What is said at a field: its first problem, and how many more it has. */
export const saidAt = (problems: readonly PlanProblem[], field: string) =>
  said(problems.filter((problem) => problem.field === field))

/** At one field of a mapping. */
export const saidIn = (problems: readonly PlanProblem[], group: string, part: string) =>
  said(problems.filter((problem) => problem.field === group && problem.part === part))

/** Of a mapping: what is not said at one of its fields that are shown. */
export const saidOfRest = (problems: readonly PlanProblem[], group: string, shown: readonly string[]) =>
  said(problems.filter(({ field, part }) => field === group && !(part && shown.includes(part))))

/** Of the plan itself, at one of its own fields. */
export const ofPlan = (problems: readonly PlanProblem[]) => problems.filter(({ task }) => task === null)
