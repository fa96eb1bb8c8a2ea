import { expect, test } from 'vitest'
import { comparePlans } from '../../src/kinds/mission/plan/compare.ts'
import { layersOfTasks, type TaskNode } from '../src/pages/mission/task-rows.ts'
import { changesByTask } from '../src/things/mission/written-plan.ts'

/** What the page of a mission says and sends, without a page. */

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
