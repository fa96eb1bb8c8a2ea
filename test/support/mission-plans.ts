import type { MissionPlan, MissionTask } from '../../src/kinds/mission/plan/mission-plan.ts'
import { checkPlan, readPlan } from '../../src/kinds/mission/plan/read.ts'

/** Plans of missions as values and as texts, and the problems reported for them. */

export function missionIn(plan: unknown): MissionPlan {
  const reading = typeof plan === 'string' ? readPlan(plan, 'mission') : checkPlan(plan, 'mission')
  if (!reading.ok) throw new Error(reading.problems.map(({ at, message }) => `${at} ${message}`).join('\n'))
  return reading.plan
}

/** By JSON pointer; for a text, by line and column too. */
export function problemsOf(plan: unknown): string[] {
  const reading = typeof plan === 'string' ? readPlan(plan, 'mission') : checkPlan(plan, 'mission')
  if (reading.ok) return []
  return reading.problems.map(({ at, line, column, message }) =>
    [...(line === 0 ? [] : [`${line}:${column}`]), ...(at === '' ? [] : [at]), message].join(' '),
  )
}

export const tasks = (...list: unknown[]) => ({ tasks: list })
/** The problems of a single task with these fields, without the place of the task. */
export const problemsWith = (fields: object) =>
  problemsOf(tasks({ tempId: 'a', ...fields })).map((said) => said.replace('/tasks/0/', ''))
export const taskWith = (fields: object): MissionTask =>
  missionIn(tasks({ tempId: 'a', ...fields })).tasks[0]!

/** Every field that a plan can have, each with another value than its default. */
export const RICH_MISSION = {
  title: 'A shop',
  project: 'shop',
  strategy: 'mixed',
  tasks: [
    { tempId: 'research', title: 'Look around', complexity: 3, model: 'claude-opus-5-5' },
    {
      tempId: 'build',
      title: 'Build it',
      description: 'In two\nlines',
      taskType: 'coding',
      dependsOn: [
        'research',
        { on: 'task:01890a5d-ac96-774b-bcce-b302099a8057', kind: 'order' },
        { on: 'review', kind: 'order' },
      ],
      triggerRule: 'one_success',
      contractor: { template: 'dev', name: 'Dev of the shop' },
      capabilities: ['rust'],
      model: 'gpt-5.4',
      complexity: 8,
      estimatedTokens: 50_000,
      successCriteria: 'It builds',
      outputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
      toolsRequested: ['browser'],
      verification: { kind: 'agent', agent: 'rev-1', threshold: 0.8 },
      timeouts: { assignSeconds: 60, hangGraceSeconds: 0, attemptSeconds: 3600, deadlineSeconds: 604_800 },
      maxRetries: 0,
      maxContinuations: 4,
      systemPrompt: 'Be brief',
      budget: { maxTokens: 90_000, maxUsd: '2.5' },
      optional: true,
      fresh: true,
      priority: 9,
      tags: ['x', 'y'],
      input: { path: ['a', null, 1.5] },
    },
    { tempId: 'review', agent: 'rev-1', verification: { kind: 'command', command: 'npm test' } },
  ],
}
