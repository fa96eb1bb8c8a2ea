import type { Plan, PlanTask } from '../../src/kinds/mission/plan/plan.ts'
import { readPlan } from '../../src/kinds/mission/plan/read.ts'

/** Plans as texts, and the problems reported for them. */

export function planIn(text: string): Plan {
  const reading = readPlan(text, 'project')
  if (!reading.ok) throw new Error(reading.problems.map(inWords).join('\n'))
  return reading.plan
}

export const inWords = ({ line, path, message }: { line: number; path: string; message: string }) =>
  `${line}: ${path}${path && ' '}${message}`

export function problemsIn(text: string): string[] {
  const reading = readPlan(text, 'project')
  return reading.ok ? [] : reading.problems.map(inWords)
}

/** A plan whose track A begins on line 4. */
export const withTasks = (...lines: string[]) =>
  ['project: p', 'tracks:', '  A:', ...lines.map((line) => `    ${line}`)].join('\n')
/** Fields of a task, from line 5 on. */
export const withFields = (...lines: string[]) =>
  withTasks('- id: A-001-x', ...lines.map((line) => `  ${line}`))
export const firstTask = (text: string) => planIn(text).tracks[0]!.tasks[0]!

/** Without lines: they are where the text has them. */
export const withoutLines = (plan: Plan): Plan => {
  const strip = (task: PlanTask): PlanTask => ({ ...task, line: 0, subtasks: task.subtasks.map(strip) })
  return { ...plan, tracks: plan.tracks.map((track) => ({ ...track, tasks: track.tasks.map(strip) })) }
}

export const WHAT_A_KEY_IS =
  'a key looks like B-003-implement-dashboard: a track of 1 to 8 capital letters, a sequence of three digits and ' +
  'a description of letters, digits, _ and -'
export const WHAT_A_SLUG_IS =
  'must contain only letters, digits and . _ @ -, and begin with a letter or digit; it is'
