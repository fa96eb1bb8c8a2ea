import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { nothingIsWrittenBy } from '../../../support/http-plans.ts'
import { expectRefusal, type Json, openWorkspace, type Workspace } from '../../../support/http-workspace.ts'
import { RICH_MISSION } from '../../../support/mission-plans.ts'
import { type ServerUnderTest, startServer } from '../../../support/server.ts'

/** `POST /plans/check`: what a plan would be, or everything that is wrong with it. */

let server: ServerUnderTest
let w: Workspace
beforeAll(async () => {
  server = await startServer()
  w = await openWorkspace(server)
  await w.make()
})
afterAll(() => server.close())

const YAML = { 'content-type': 'application/yaml' }

const check = (plan: string | Json) =>
  w.call('POST', '/plans/check', plan, typeof plan === 'string' ? YAML : {})

describe('a valid plan', () => {
  test('of a mission is summed up, the same from JSON and YAML, and nothing is created', async () => {
    // The template of a contractor.
    await w.call('PUT', '/agents/dev', {})
    await nothingIsWrittenBy(server, async () => {
      const plan = {
        tasks: [
          { tempId: 'look', complexity: 2, model: 'claude-opus-5-5' },
          { tempId: 'build', dependsOn: ['look'], estimatedTokens: 10_000, model: 'sonnet' },
        ],
      }
      const answer = await check(plan)
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          valid: true,
          kind: 'mission',
          taskCount: 2,
          layers: [['look'], ['build']],
          digest: expect.stringMatching(/^[0-9a-f]{64}$/),
          estimate: {
            estimatedTokens: 13_588,
            costUsd: '0.06184',
            unknownModels: [],
            withoutModel: 0,
            assumed: 0,
            perTask: [
              { id: 'look', estimatedTokens: 3_588, model: 'claude-opus-5-5', costUsd: '0.02584' },
              { id: 'build', estimatedTokens: 10_000, model: 'sonnet', costUsd: '0.036' },
            ],
          },
        },
      ])
      expect((await check(stringify(plan))).body).toEqual(answer.body)
      expect((await check(stringify(RICH_MISSION))).body).toMatchObject({ valid: true, taskCount: 3 })
    })
  })

  test('of a project is summed up too', async () => {
    const { status, body } = await check(
      'project: p\ntracks: {A: [{id: A-001-x}, {id: A-002-y, depends_on: [A-001-x]}]}',
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      valid: true,
      kind: 'project',
      taskCount: 2,
      layers: [['A-001-x'], ['A-002-y']],
      estimate: { costUsd: null, withoutModel: 2, assumed: 2 },
    })
  })

  test('with an unknown model has no cost, and the model is named', async () => {
    const { body } = await check({ tasks: [{ id: 'a', complexity: 1, model: 'llama-at-home' }] })
    expect(body.estimate).toMatchObject({
      estimatedTokens: 1794,
      costUsd: null,
      unknownModels: ['llama-at-home'],
    })
  })
})

describe('an invalid plan', () => {
  test('is 422 with every problem at once: pointer, line and column', async () => {
    const plan = [
      'tasks:',
      '  - id: a',
      '    dependsOn: [b]',
      '  - id: b',
      '    dependsOn: [a, c, b]',
      '    complexity: 11',
      '  - id: a',
      '    depends_on: []',
      '    dependsOn: []',
    ].join('\n')
    await nothingIsWrittenBy(server, async () => {
      const answer = await check(plan)
      expectRefusal(answer, 422, 'PLAN_INVALID', {
        detail:
          'Line 3: tasks[0].dependsOn[0] closes a dependency cycle: a → b → a. There are 5 more problems.',
      })
      expect(answer.body.problems).toEqual([
        { at: '/tasks/0/dependsOn/0', line: 3, column: 17, message: 'closes a dependency cycle: a → b → a' },
        { at: '/tasks/1/dependsOn/1', line: 5, column: 20, message: 'is "c", which is not in the plan' },
        {
          at: '/tasks/1/dependsOn/2',
          line: 5,
          column: 23,
          message: 'is the task itself; a task cannot depend on itself',
        },
        { at: '/tasks/1/complexity', line: 6, column: 5, message: 'must be at most 10, not the number 11' },
        { at: '/tasks/2/id', line: 7, column: 5, message: 'is "a", which is already used on line 2' },
        {
          at: '/tasks/2/dependsOn',
          line: 9,
          column: 5,
          message: 'is the same field as depends_on on line 8; give it once',
        },
      ])
      expect(answer.body.errors[3]).toEqual({
        field: 'tasks[1].complexity',
        line: 6,
        message: 'must be at most 10, not the number 11',
      })
    })
  })

  test('that is prose, or nothing, is refused with what a plan is', async () => {
    for (const [plan, found] of [
      ['First I would look around.', '"First I would look around."'],
      ['', 'nothing'],
    ])
      expectRefusal(await check(plan!), 422, 'PLAN_INVALID', {
        problems: [
          {
            at: '',
            line: 1,
            column: 1,
            message: `the plan must be a mapping with tracks or tasks, not ${found}`,
          },
        ],
      })
  })
})
