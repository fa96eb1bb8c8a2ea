import { describe, expect, test } from 'vitest'
import { estimatedTokensOf, estimateTasks } from '../../../../src/kinds/mission/plan/estimate.ts'
import {
  graphOfMission,
  graphOfProject,
  idsByLayer,
  layersOf,
} from '../../../../src/kinds/mission/plan/layers.ts'
import { summarise } from '../../../../src/kinds/mission/plan/summary.ts'
import { missionIn, RICH_MISSION, tasks } from '../../../support/mission-plans.ts'
import { planIn } from '../../../support/plan-texts.ts'

describe('the estimate of a plan', () => {
  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    "is Mosaic's formula for complexity %i, without a token too many",
    (complexity) => {
      // 1000 × 1.2 × 1.3 × 1.15 is 1794 exactly; floats give 1793.9999999999998 or 1794.0000000000002.
      expect(estimatedTokensOf({ complexity })).toBe(complexity * 1794)
    },
  )

  test('takes the tokens that are given, and assumes a middle complexity without anything', () => {
    expect(estimatedTokensOf({ complexity: 10, estimatedTokens: 7 })).toBe(7)
    expect(estimatedTokensOf({})).toBe(5 * 1794)
  })

  test('adds up exactly, a fifth of the tokens as output', () => {
    const estimate = estimateTasks([
      { id: 'a', complexity: 1, model: 'claude-opus-5-5' },
      { id: 'b', estimatedTokens: 1000, model: 'opus' },
      { id: 'c', estimatedTokens: 1, model: 'gpt-5-nano' },
    ])
    expect(estimate).toEqual({
      estimatedTokens: 2795,
      costUsd: '0.0201204',
      unknownModels: [],
      withoutModel: 0,
      assumed: 0,
      perTask: [
        { id: 'a', estimatedTokens: 1794, model: 'claude-opus-5-5', costUsd: '0.01292' },
        { id: 'b', estimatedTokens: 1000, model: 'opus', costUsd: '0.0072' },
        { id: 'c', estimatedTokens: 1, model: 'gpt-5-nano', costUsd: '0.0000004' },
      ],
    })
  })

  test('has no cost when a model has no price or none is named, and says so', () => {
    const estimate = estimateTasks([
      { id: 'a', complexity: 1, model: 'opus' },
      { id: 'b', complexity: 1, model: 'llama-at-home' },
      { id: 'c', complexity: 1, model: 'llama-at-home' },
      { id: 'd' },
    ])
    expect(estimate).toMatchObject({
      estimatedTokens: 8 * 1794,
      costUsd: null,
      unknownModels: ['llama-at-home'],
      withoutModel: 1,
      assumed: 1,
    })
    expect(estimate.perTask.map(({ costUsd }) => costUsd)).toEqual(['0.01292', null, null, null])
  })

  test('asks for the model of a task that names none', () => {
    const modelOf = ({ id }: { id: string }) => (id === 'a' ? 'opus' : null)
    const estimate = estimateTasks(
      [
        { id: 'a', complexity: 1 },
        { id: 'b', complexity: 1, model: 'opus' },
      ],
      { modelOf },
    )
    expect(estimate).toMatchObject({ costUsd: '0.02584', withoutModel: 0 })
  })

  test('of nothing is nothing', () => {
    expect(estimateTasks([])).toMatchObject({ estimatedTokens: 0, costUsd: '0', perTask: [] })
  })
})

describe('the layers of a plan', () => {
  test('are the longest ways from tasks that wait for none', () => {
    const plan = missionIn(
      tasks(
        { id: 'join', dependsOn: ['left', 'right', 'root'] },
        { id: 'left', dependsOn: ['mid'] },
        { id: 'mid', dependsOn: [{ on: 'root', kind: 'order' }] },
        { id: 'right', dependsOn: ['root', 'task:01890a5d-ac96-774b-bcce-b302099a8057'] },
        { id: 'root' },
        { id: 'alone' },
      ),
    )
    expect(layersOf(graphOfMission(plan))).toEqual([3, 2, 1, 1, 0, 0])
    expect(idsByLayer(graphOfMission(plan))).toEqual([
      ['root', 'alone'],
      ['mid', 'right'],
      ['left'],
      ['join'],
    ])
  })

  test("of a project's plan follow its sequences and subtasks", () => {
    const plan = planIn(
      [
        'project: p',
        'tracks:',
        '  A: {sequential: true, tasks: [{id: A-001-x}, {id: A-002-y, subtasks: [{}, {depends_on: ["A-002-y::1"]}]}, {id: A-003-z}]}',
        '  B: [{id: B-001-x, depends_on: [A-003-z]}]',
      ].join('\n'),
    )
    expect(idsByLayer(graphOfProject(plan))).toEqual([
      ['A-001-x'],
      ['A-002-y::1'],
      ['A-002-y::2'],
      ['A-002-y'],
      ['A-003-z'],
      ['B-001-x'],
    ])
  })
})

test('a summary has kind, tasks, layers and estimate', () => {
  expect(summarise(missionIn(RICH_MISSION))).toMatchObject({
    kind: 'mission',
    taskCount: 3,
    layers: [['research', 'review'], ['build']],
    estimate: { estimatedTokens: 3 * 1794 + 50_000 + 5 * 1794, costUsd: null, withoutModel: 1, assumed: 1 },
  })
  expect(summarise(planIn('project: p\ntracks: {A: [{id: A-001-x, subtasks: [{}]}]}'))).toMatchObject({
    kind: 'project',
    taskCount: 2,
    layers: [['A-001-x::1'], ['A-001-x']],
    estimate: { costUsd: null, assumed: 2 },
  })
})
