import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/client/client.ts'
import { comparePlans } from '../../src/kinds/mission/plan/compare.ts'
import { draftOf, newTask, planWith, problemsByRow } from '../src/pages/mission/plan-draft.ts'
import { layersOfTasks, type TaskNode } from '../src/pages/mission/task-rows.ts'
import { changesByTask } from '../src/things/mission/written-plan.ts'

/** What the page of a mission says and sends, without a page. */

const PLAN = {
  title: 'Move billing',
  tasks: [
    { tempId: 'map', title: 'List all callers', agent: 'dev-1', systemPrompt: 'Be exact.' },
    {
      tempId: 'move',
      title: 'Move invoices',
      dependsOn: [{ on: 'map', kind: 'order' }, 'old'],
      verification: { kind: 'agent', agent: 'judge', threshold: 0.7 },
      budget: { maxUsd: '2.50', maxTokens: 9_000 },
    },
  ],
}

describe('a plan that is edited', () => {
  test('is the same plan if nothing was changed', () => {
    expect(planWith(PLAN, draftOf(PLAN))).toEqual(PLAN)
  })

  test('keeps what is not edited, and leaves out what became empty', () => {
    const [map, move] = draftOf(PLAN)
    const edited = [
      { ...map!, title: 'Find callers', agent: '' },
      { ...move!, after: ' map  new ', judge: 'command' as const, judgeBy: 'npm test', budgetUsd: '' },
    ]
    expect(planWith(PLAN, edited).tasks).toEqual([
      { tempId: 'map', title: 'Find callers', systemPrompt: 'Be exact.' },
      {
        tempId: 'move',
        title: 'Move invoices',
        dependsOn: [{ on: 'map', kind: 'order' }, 'new'],
        verification: { kind: 'command', command: 'npm test' },
        budget: { maxTokens: 9_000 },
      },
    ])
  })

  test('gets tasks with ids of their own', () => {
    const tasks = [newTask([]), { ...newTask([]), tempId: 'task-3' }]
    expect(newTask(tasks).tempId).toBe('task-4')
    expect(planWith(PLAN, [newTask([])]).tasks).toEqual([{ tempId: 'task-1' }])
  })

  test('has its problems by row, all at once', () => {
    const problems = [
      { at: '/tasks/1/dependsOn/0', message: 'is unknown' },
      { at: '/tasks/1/budget', message: 'is too small' },
      { at: '', message: 'The plan has a cycle' },
      { at: '/tasks/0', message: 'is there twice' },
    ]
    const refused = Object.assign(Object.create(Problem.prototype), {
      code: 'PLAN_INVALID',
      body: { problems },
    })
    expect([...problemsByRow(refused)!]).toEqual([
      [1, ['dependsOn 0 is unknown', 'budget is too small']],
      [null, ['The plan has a cycle']],
      [0, ['is there twice']],
    ])
    expect(problemsByRow(new Error('offline'))).toBe(null)
  })
})

test('what changed between two versions is shown at each task', () => {
  const task = (tempId: string, rest: object = {}) =>
    ({ tempId, title: tempId, dependsOn: [], model: null, ...rest }) as never
  const plan = (...tasks: never[]) => ({ title: null, project: null, strategy: null, tasks })
  const before = plan(task('a', { model: 'haiku' }), task('b', { dependsOn: [{ on: 'a', kind: 'data' }] }))
  const after = plan(
    task('a', { model: 'opus' }),
    task('b'),
    task('c', { dependsOn: [{ on: 'a', kind: 'data' }] }),
  )
  expect([...changesByTask(comparePlans(before, after))]).toEqual([
    ['c', { kind: 'added', words: [] }],
    ['a', { kind: 'changed', words: ['model: haiku → opus'] }],
    ['b', { kind: 'changed', words: ['no longer after a'] }],
  ])
  expect([...changesByTask(null)]).toEqual([])
})

test('tasks are listed by layers in the order of the plan, what was added last, and no more than there is room for', () => {
  const node = (id: string, layer: number, number: number | null) => ({ id, layer, number }) as TaskNode
  const nodes = [node('d', 1, null), node('c', 1, 4), node('b', 0, 2), node('a', 0, 1)]
  const ids = (most: number) =>
    layersOfTasks(nodes, most).map(({ layer, tasks }) => [layer, tasks.map(({ id }) => id).join('')])
  expect(ids(9)).toEqual([
    [0, 'ab'],
    [1, 'cd'],
  ])
  expect(ids(3)).toEqual([
    [0, 'ab'],
    [1, 'c'],
  ])
})
