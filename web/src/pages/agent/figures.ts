import type { AnswerTo } from '../../../../src/client/client.ts'
import { countText } from '../../parts/wording.ts'

/** Figures of an agent in words. Pure. */

type OfType = AnswerTo<'GET', '/telemetry'>['agents'][number]

export interface ByType {
  type: string
  tasks: number
  completed: number
  percent: number
}

/** Success by type of task, the most frequent type first. */
export const byTypeOf = (figures: readonly OfType[], slug: string): ByType[] =>
  figures
    .filter(({ agent, tasks }) => agent === slug && tasks > 0)
    .map(({ taskType, tasks, completed }) => ({
      ...{ type: taskType, tasks, completed },
      percent: Math.round((completed / tasks) * 100),
    }))
    .sort((a, b) => b.tasks - a.tasks || (a.type < b.type ? -1 : 1))

/** "23 of 25", of all types. */
export function successText(types: readonly ByType[]): string {
  const sum = (count: (one: ByType) => number) => types.reduce((all, one) => all + count(one), 0)
  const tasks = sum((one) => one.tasks)
  if (tasks === 0) return 'none yet'
  return `${countText(sum((one) => one.completed))} of ${countText(tasks)}`
}
