import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { checkPlan, readPlan } from '../../../../src/kinds/mission/plan/read.ts'
import {
  missionIn,
  problemsOf,
  problemsWith,
  RICH_MISSION,
  tasks,
  taskWith,
} from '../../../support/mission-plans.ts'

const BY_DEFAULT = {
  description: null,
  taskType: 'other',
  priority: null,
  dependsOn: [],
  triggerRule: 'all_success',
  tags: [],
  capabilities: [],
  agent: null,
  preferredAgent: null,
  estimatedDurationMinutes: null,
  contractor: null,
  model: null,
  complexity: null,
  estimatedTokens: null,
  successCriteria: null,
  outputSchema: null,
  toolsRequested: [],
  verification: null,
  timeouts: null,
  maxRetries: null,
  maxContinuations: null,
  systemPrompt: null,
  budget: null,
  optional: false,
  fresh: null,
  cancel: false,
  input: null,
}

/** The same plan with every name of a field in snake_case; inputs and schemas are not fields. */
function inSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      name === 'outputSchema' || name === 'input' ? inside : inSnakeCase(inside),
    ]),
  )
}

describe("a mission's plan is read", () => {
  test('with nothing but ids, and what is not given stays open', () => {
    expect(missionIn({ tasks: [{ tempId: 'a' }] })).toEqual({
      title: null,
      project: null,
      strategy: null,
      tasks: [{ tempId: 'a', title: 'a', ...BY_DEFAULT }],
    })
  })

  test('with every field', () => {
    const [research, build, review] = RICH_MISSION.tasks
    expect(missionIn(RICH_MISSION)).toEqual({
      ...RICH_MISSION,
      tasks: [
        { ...BY_DEFAULT, ...research },
        {
          ...BY_DEFAULT,
          ...build,
          agent: null,
          dependsOn: [{ on: 'research', kind: 'data' }, ...build!.dependsOn!.slice(1)],
        },
        { ...BY_DEFAULT, title: 'review', ...review },
      ],
    })
  })

  test('alike from a value, from JSON and from YAML, in both spellings', () => {
    const plan = missionIn(RICH_MISSION)
    for (const same of [
      JSON.stringify(RICH_MISSION),
      JSON.stringify(RICH_MISSION, null, '\t'),
      stringify(RICH_MISSION),
      inSnakeCase(RICH_MISSION),
      stringify(inSnakeCase(RICH_MISSION)),
    ])
      expect(missionIn(same)).toEqual(plan)
  })

  test('with id, type and requiredCapabilities as other names', () => {
    expect(missionIn(tasks({ id: 'a', type: 'x', requiredCapabilities: ['go'] }))).toEqual(
      missionIn(tasks({ temp_id: 'a', task_type: 'x', capabilities: ['go'] })),
    )
  })

  test('with a field given in two spellings as a problem', () => {
    const plan = tasks({
      tempId: 'a',
      id: 'a',
      max_retries: 1,
      maxRetries: 1,
      budget: { max_usd: 1, maxUsd: 1 },
    })
    expect(problemsOf(plan)).toEqual([
      '/tasks/0/id is the same field as tempId at /tasks/0/tempId; give it once',
      '/tasks/0/maxRetries is the same field as max_retries at /tasks/0/max_retries; give it once',
      '/tasks/0/budget/maxUsd is the same field as max_usd at /tasks/0/budget/max_usd; give it once',
    ])
    expect(problemsOf('tasks:\n  - id: a\n    tempId: a')).toEqual([
      '3:5 /tasks/0/tempId is the same field as id on line 2; give it once',
    ])
  })

  test('with dollars as exact decimals', () => {
    const limitOf = (maxUsd: unknown) => taskWith({ budget: { maxUsd } }).budget?.maxUsd
    expect([limitOf('2.50'), limitOf(2.5), limitOf(0), limitOf(1e-7), limitOf(0.1 + 0.2)]).toEqual([
      '2.5',
      '2.5',
      '0',
      '0.0000001',
      '0.3',
    ])
    for (const wrong of ['-1', '1e3', '$2', '', -1, true, '0.1234567891', 1e10])
      expect(problemsWith({ budget: { maxUsd: wrong } })).toEqual([
        'budget/maxUsd must be dollars, such as "2.50" or 2.5, with at most nine decimals',
      ])
  })

  test('without tasks: such a mission is over at once', () => {
    expect(missionIn({ tasks: [] }).tasks).toEqual([])
    expect(problemsOf({})).toEqual(['/tasks is missing'])
    expect(problemsOf({ tasks: null })).toEqual(['/tasks is missing'])
  })
})

describe('the kind of a plan', () => {
  test('is recognised by its tracks or its tasks', () => {
    expect(checkPlan(tasks({ id: 'a' }))).toMatchObject({ ok: true, kind: 'mission' })
    expect(readPlan('project: p\ntracks: {A: [{id: A-001-x}]}')).toMatchObject({ ok: true, kind: 'project' })
    const said = (plan: unknown) => {
      const reading = typeof plan === 'string' ? readPlan(plan) : checkPlan(plan)
      return reading.ok ? [] : reading.problems.map(({ message }) => message)
    }
    expect(said({ title: 'x' })).toEqual([
      "the plan has neither tracks (a project's plan) nor tasks (a mission's plan)",
    ])
    expect(said({ tracks: {}, tasks: [] })).toEqual([
      "is not a field of a mission's plan, which may have title, project, strategy, tasks",
    ])
    expect(said('- a')).toEqual(['the plan must be a mapping with tracks or tasks, not a list'])
  })

  test('must be the one that is wanted', () => {
    expect(problemsOf({ tracks: { A: [] } })).toEqual([
      '/tasks is missing',
      "/tracks is not a field of a mission's plan, which may have title, project, strategy, tasks",
    ])
    expect(checkPlan(tasks({ id: 'a' }), 'project').ok).toBe(false)
  })

  test("a project's plan is read in camelCase too, with the same meaning", () => {
    const snake =
      'project: p\ntracks: {A: [{id: A-001-x, max_retries: 1, trigger_rule: all_done, depends_on: [A-002-y]}, {id: A-002-y}]}'
    const camel = snake
      .replace('id: A-001-x', 'tempId: A-001-x')
      .replace('max_retries', 'maxRetries')
      .replace('trigger_rule', 'triggerRule')
      .replace('depends_on', 'dependsOn')
    expect(readPlan(camel)).toEqual(readPlan(snake))
    expect(readPlan(camel).ok).toBe(true)
  })
})

describe('problems of fields', () => {
  test('have a JSON pointer even where names have slashes and tildes', () => {
    expect(problemsOf({ tasks: [], 'a/b~c': 1 })).toEqual([
      "/a~1b~0c is not a field of a mission's plan, which may have title, project, strategy, tasks",
    ])
  })

  test('have their place, in a value and in a text', () => {
    const plan = { title: '', tasks: [{ tempId: 'a', budget: { maxTokens: 0 }, tags: ['x', 7] }, 'b'] }
    expect(problemsOf(plan)).toEqual([
      '/title must not be empty',
      '/tasks/0/budget/maxTokens must be at least 1, not the number 0',
      '/tasks/0/tags/1 must be text, not the number 7; quotes make it text',
      '/tasks/1 must be a mapping with a tempId, not "b"',
    ])
    expect(problemsOf(JSON.stringify(plan, null, 1))).toEqual([
      '2:2 /title must not be empty',
      '7:5 /tasks/0/budget/maxTokens must be at least 1, not the number 0',
      '11:5 /tasks/0/tags/1 must be text, not the number 7; quotes make it text',
      '14:3 /tasks/1 must be a mapping with a tempId, not "b"',
    ])
  })

  test.each<[fields: object, said: string]>([
    [{ colour: 1 }, 'colour is not a field of a task, which may have tempId, title, '],
    [{ tempId: 7 }, 'tempId must be text, not the number 7; quotes make it text'],
    [{ tempId: '' }, 'tempId must not be empty'],
    [{ tempId: 'a\nb' }, 'tempId must be one line without control characters'],
    [{ tempId: 'task:a' }, 'tempId must not begin with task:, which names tasks outside the plan'],
    [{ complexity: 11 }, 'complexity must be at most 10, not the number 11'],
    [{ complexity: 0 }, 'complexity must be at least 1, not the number 0'],
    [{ estimatedTokens: 1.5 }, 'estimatedTokens must be a whole number, not the number 1.5'],
    [
      { triggerRule: 'never' },
      'triggerRule must be all_success or all_done or none_failed or always or one_success, not "never"',
    ],
    [{ triggerRule: 'one_success' }, 'triggerRule is one_success, which needs at least one dependency'],
    [
      { agent: 'x', contractor: { template: 't' } },
      'contractor is given beside agent; a task has one of them',
    ],
    [{ contractor: {} }, 'contractor/template is missing'],
    [{ contractor: 'dev' }, 'contractor must be a mapping, not "dev"'],
    [{ verification: {} }, 'verification/kind is missing'],
    [
      { verification: { kind: 'vote' } },
      'verification/kind must be command or agent or human or auto, not "vote"',
    ],
    [{ verification: { kind: 'command' } }, 'verification needs the command that verifies the result'],
    [
      { verification: { kind: 'auto', command: 'x' } },
      'verification has a command, which is only for kind command, not auto',
    ],
    [
      { verification: { kind: 'human', agent: 'x' } },
      'verification has an agent, which is only for kind agent, not human',
    ],
    [
      { verification: { kind: 'agent', threshold: 1.7 } },
      'verification/threshold must be a number from 0 to 1',
    ],
    [
      { verification: { kind: 'agent', threshold: 'high' } },
      'verification/threshold must be a number from 0 to 1',
    ],
    [{ timeouts: { attemptSeconds: 0 } }, 'timeouts/attemptSeconds must be at least 1, not the number 0'],
    [
      { timeouts: { attempt: 1 } },
      'timeouts/attempt is not a field of timeouts, which may have assignSeconds, ',
    ],
    [
      { budget: { maxUsd: 1, currency: 'EUR' } },
      'budget/currency is not a field of budget, which may have maxUsd, maxTokens',
    ],
    [{ toolsRequested: 'browser' }, 'toolsRequested must be a list, not "browser"'],
    [{ optional: 'yes' }, 'optional must be true or false, not "yes"'],
    [{ dependsOn: 'b' }, 'dependsOn must be a list of tasks, not "b"'],
    [
      { dependsOn: [7] },
      'dependsOn/0 must be the id of a task or a mapping with on and kind, not the number 7',
    ],
    [{ dependsOn: [{ kind: 'data' }] }, 'dependsOn/0/on is missing'],
    [
      { dependsOn: [{ on: 'task:x' }] },
      'dependsOn/0 is "task:x"; a task outside the plan is written task: and its id',
    ],
  ])('%j', (fields, said) => {
    const found = problemsWith(fields)
    expect(found).toHaveLength(1)
    expect(found[0]!.slice(0, said.length)).toBe(said)
  })

  test.each<[schema: unknown, said: string[]]>([
    [{}, []],
    [{ type: ['string', 'null'], description: 1, 'x-any': true }, []],
    [{ properties: { a: { items: [{ type: 'number' }, false] } }, anyOf: [{}], $ref: '#/$defs/a' }, []],
    ['object', ['outputSchema must be a mapping, not "object"']],
    [
      { type: 'text' },
      [
        'outputSchema/type must be array or boolean or integer or null or number or object or string, not "text"',
      ],
    ],
    [{ properties: ['a'] }, ['outputSchema/properties must be a mapping of schemas, not a list']],
    [{ properties: { a: 'string' } }, ['outputSchema/properties/a must be a JSON Schema, not "string"']],
    [{ required: 'a' }, ['outputSchema/required must be a list, not "a"']],
    [{ required: ['a', 1] }, ['outputSchema/required/1 must be text, not the number 1']],
    [{ enum: [] }, ['outputSchema/enum must not be empty']],
    [
      { minLength: -1, maximum: '3' },
      [
        'outputSchema/minLength must be a whole number from 0, not the number -1',
        'outputSchema/maximum must be a number, not "3"',
      ],
    ],
    [{ pattern: '(' }, ['outputSchema/pattern is "(", which is not a regular expression']],
    [
      { $ref: 'https://example.com/a' },
      ['outputSchema/$ref is "https://example.com/a"; only references within the schema (#/…) are followed'],
    ],
  ])('of the output schema %j', (outputSchema, said) => {
    expect(problemsWith({ outputSchema })).toEqual(said)
  })
})

describe('dependencies', () => {
  test('name tasks of the plan or outside, each once, and not the task itself', () => {
    const outside = 'task:01890a5d-ac96-774b-bcce-b302099a8057'
    expect(
      problemsOf(
        tasks(
          { id: 'a' },
          { id: 'b', dependsOn: ['a', outside, { on: 'a', kind: 'order' }, 'c', 'b', { on: outside }] },
        ),
      ),
    ).toEqual([
      '/tasks/1/dependsOn/2 is "a" again, which is already listed at /tasks/1/dependsOn/0',
      '/tasks/1/dependsOn/3 is "c", which is not in the plan',
      '/tasks/1/dependsOn/4 is the task itself; a task cannot depend on itself',
      `/tasks/1/dependsOn/5 is "${outside}" again, which is already listed at /tasks/1/dependsOn/1`,
    ])
  })

  test('need unique ids', () => {
    expect(problemsOf(tasks({ id: 'a' }, { id: 'b' }, { tempId: 'a' }))).toEqual([
      '/tasks/2/tempId is "a", which is already used at /tasks/0/id',
    ])
    expect(problemsOf('tasks:\n  - id: a\n  - id: a')).toEqual([
      '3:5 /tasks/1/id is "a", which is already used on line 2',
    ])
  })

  test('in cycles are named in full, one for each knot', () => {
    const ring = Array.from({ length: 30 }, (_, i) => ({ id: `r${i}`, dependsOn: [`r${(i + 1) % 30}`] }))
    const names = [...ring, ring[0]!].map(({ id }) => id)
    expect(
      problemsOf(
        tasks({ id: 'x', dependsOn: [{ on: 'y', kind: 'order' }] }, { id: 'y', dependsOn: ['x'] }, ...ring),
      ),
    ).toEqual([
      '/tasks/0/dependsOn/0 closes a dependency cycle: x → y → x',
      `/tasks/2/dependsOn/0 closes a dependency cycle: ${names.join(' → ')}`,
    ])
  })

  test('of a task with a broken id are checked all the same', () => {
    expect(problemsOf(tasks({ id: 5, dependsOn: ['b'] }, { id: 'b', dependsOn: ['c'] }))).toEqual([
      '/tasks/0/id must be text, not the number 5; quotes make it text',
      '/tasks/1/dependsOn/0 is "c", which is not in the plan',
    ])
  })
})
