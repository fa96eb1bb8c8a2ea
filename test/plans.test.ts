import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cyclesIn } from '../src/core/plans/cycles.ts'
import { defaultTitle, LARGEST_PLAN_TASKS, type Plan, type PlanTask } from '../src/core/plans/plan.ts'
import { readPlan } from '../src/core/plans/read.ts'
import { writePlan } from '../src/core/plans/write.ts'
import { Slug, Tag, Title } from '../src/core/shapes/common.ts'
import { TaskCreate } from '../src/core/shapes/tasks.ts'
import { CODITECT_PLAN } from './support/coditect-plan.ts'

function planIn(text: string): Plan {
  const reading = readPlan(text)
  if (!reading.ok) throw new Error(reading.problems.map(inWords).join('\n'))
  return reading.plan
}

const inWords = ({ line, path, message }: { line: number; path: string; message: string }) =>
  `${line}: ${path}${path && ' '}${message}`

function problemsIn(text: string): string[] {
  const reading = readPlan(text)
  return reading.ok ? [] : reading.problems.map(inWords)
}

/** A plan whose track A begins on line 4. */
const withTasks = (...lines: string[]) =>
  ['project: p', 'tracks:', '  A:', ...lines.map((line) => `    ${line}`)].join('\n')
/** Fields of a task, from line 5 on. */
const withFields = (...lines: string[]) => withTasks('- id: A-001-x', ...lines.map((line) => `  ${line}`))
const firstTask = (text: string) => planIn(text).tracks[0]!.tasks[0]!

/** Without lines: they are where the text has them. */
const withoutLines = (plan: Plan): Plan => {
  const strip = (task: PlanTask): PlanTask => ({ ...task, line: 0, subtasks: task.subtasks.map(strip) })
  return { ...plan, tracks: plan.tracks.map((track) => ({ ...track, tasks: track.tasks.map(strip) })) }
}

const WHAT_A_KEY_IS =
  'a key looks like B-003-implement-dashboard: a track of 1 to 8 capital letters, a sequence of three digits and ' +
  'a description of letters, digits, _ and -'
const WHAT_A_SLUG_IS = 'must be of letters, digits and . _ @ -, and begin with a letter or digit; it is'

describe('a plan is read', () => {
  test('as Coditect 3.7 writes it', () => {
    const plan = planIn(CODITECT_PLAN)
    expect(plan.project).toBe('ecommerce-rebuild')
    expect(plan.tracks.map(({ track, maxAgents, sequential }) => [track, maxAgents, sequential])).toEqual([
      ['A', null, false],
      ['B', null, false],
    ])
    expect(plan.tracks.flatMap(({ tasks }) => tasks.map(({ key, line }) => `${line} ${key}`))).toEqual([
      '5 A-001-core-framework',
      '8 A-002-di-container',
      '11 A-003-event-bus',
      '15 B-001-schema-design',
      '18 B-002-entity-models',
      '21 B-003-repositories',
    ])
    expect(plan.tracks[1]!.tasks[1]).toEqual({
      key: 'B-002-entity-models',
      title: 'Create entity models from schema',
      description: 'Create entity models from schema',
      taskType: 'other',
      priority: 5,
      dependsOn: ['B-001-schema-design', 'A-001-core-framework'],
      triggerRule: 'all_success',
      tags: [],
      requiredCapabilities: [],
      agent: null,
      maxRetries: 3,
      input: null,
      merge: null,
      subtasks: [],
      line: 18,
    })
  })

  test('in the long form, with every field', () => {
    const { name, tracks } = planIn(
      [
        'project: p',
        'name: A plan',
        'tracks:',
        '  B:',
        '    agents: 2',
        '    sequential: true',
        '    tasks:',
        '      - id: B-002-b',
        '        title: The title',
        '        description: The description',
        '        type: code',
        '        priority: 10',
        '        depends_on: [B-001-a]',
        '        trigger_rule: all_done',
        '        tags: [one, two]',
        '        capabilities: [sql]',
        '        agent: alpha',
        '        max_retries: 0',
        '        input: {yes: [no, 1, 1.5, true, ~]}',
        '        merge: task',
        '        subtasks:',
        '          - description: part one',
        '          - id: B-002-b::2',
        '            priority: 1',
        '            depends_on: [B-002-b::1]',
        '      - id: B-001-a',
      ].join('\n'),
    )
    expect(name).toBe('A plan')
    expect(tracks[0]).toMatchObject({ track: 'B', maxAgents: 2, sequential: true })
    const [first, second] = tracks[0]!.tasks
    expect(first).toMatchObject({ key: 'B-001-a', title: 'B-001-a', line: 26 })
    expect(second).toMatchObject({
      key: 'B-002-b',
      title: 'The title',
      description: 'The description',
      taskType: 'code',
      priority: 10,
      dependsOn: ['B-001-a'],
      triggerRule: 'all_done',
      tags: ['one', 'two'],
      requiredCapabilities: ['sql'],
      agent: 'alpha',
      maxRetries: 0,
      input: { yes: ['no', 1, 1.5, true, null] },
      merge: 'task',
      line: 8,
    })
    expect(second!.subtasks.map(({ key, title, dependsOn, line }) => [key, title, dependsOn, line])).toEqual([
      ['B-002-b::1', 'part one', [], 22],
      ['B-002-b::2', 'B-002-b::2', ['B-002-b::1'], 23],
    ])
  })

  test('with its tasks by sequence and its tracks as they come', () => {
    const { tracks } = planIn(
      'project: p\ntracks: {Z: [{id: Z-010-x}, {id: Z-002-x}, {id: Z-001-x}], A: [], C: [{id: C-001-x}]}',
    )
    expect(tracks.map(({ track, tasks }) => [track, tasks.map(({ key }) => key)])).toEqual([
      ['Z', ['Z-001-x', 'Z-002-x', 'Z-010-x']],
      ['A', []],
      ['C', ['C-001-x']],
    ])
  })

  test('out of JSON, however it is laid out', () => {
    const json = {
      project: 'p',
      tracks: { A: [{ id: 'A-001-x', input: { '<<': [1, { 'a\tb': '\u{1f600}' }] } }] },
    }
    for (const space of [0, 2, '\t']) {
      expect(firstTask(JSON.stringify(json, null, space)).input).toEqual(json.tracks.A[0]!.input)
      expect(firstTask(`\ufeff${JSON.stringify(json, null, space).replaceAll('\n', '\r\n')}`)).toMatchObject({
        input: json.tracks.A[0]!.input,
      })
    }
    expect(
      firstTask('{"project":"p","tracks":{"A":[{"id":"A-001-x","input":"\\ud83d\\ude00"}]}}').input,
    ).toBe('😀')
    expect(
      problemsIn('{"project": "p",\n "tracks": {"A": [\n  {"id": "A-001-x", "priority": "5"}]}}'),
    ).toEqual(['3: tracks.A[0].priority must be a whole number, not "5"'])
  })

  test('with an empty field as if it were not there', () => {
    expect(firstTask(withFields('title:', 'priority: null', 'depends_on:', 'agent: ~', 'subtasks:'))).toEqual(
      firstTask(withFields()),
    )
  })

  test('with a title out of the first line of the description, if that can be one', () => {
    const titleOf = (description: string) =>
      firstTask(withFields(`description: ${JSON.stringify(description)}`)).title
    expect(titleOf('One\nTwo')).toBe('One')
    expect(titleOf('One  \r\nTwo')).toBe('One')
    expect(titleOf('x'.repeat(500))).toBe('x'.repeat(500))
    expect(titleOf('x'.repeat(501))).toBe('A-001-x')
    expect(titleOf('\nTwo')).toBe('A-001-x')
    expect(titleOf('a\u0007b')).toBe('A-001-x')
  })

  test('and subtasks are merged into an object unless it says otherwise', () => {
    expect(firstTask(withFields('subtasks: [{}]')).merge).toBe('object')
    expect(firstTask(withFields('subtasks: [{}]', 'merge: task')).merge).toBe('task')
    expect(firstTask(withFields('subtasks: []')).merge).toBe(null)
  })

  test('and words of older YAML stay words', () => {
    const input = firstTask(
      withFields('input: [yes, off, 1_000, 2024-01-01, 0o17, {1: a, null: b, 0x10: c, ~: d}]'),
    ).input
    expect(input).toEqual([
      'yes',
      'off',
      '1_000',
      '2024-01-01',
      15,
      { 1: 'a', null: 'b', '0x10': 'c', '~': 'd' },
    ])
  })
})

describe('a text that is no plan', () => {
  test('is told line and column of its syntax errors, all of them', () => {
    expect(problemsIn('project: p\ntracks:\n  A: [\nname: "x')).toEqual([
      '4: YAML syntax error: Flow sequence in block collection must be sufficiently indented and end with a ] (line 4, column 1)',
      '4: YAML syntax error: Missing closing "quote (line 4, column 9)',
    ])
    expect(problemsIn('project: a: b\ntracks:\n\tA: []')).toEqual([
      '1: YAML syntax error: Nested mappings are not allowed in compact mappings (line 1, column 10)',
      '3: YAML syntax error: Tabs are not allowed as indentation (line 3, column 1)',
    ])
    expect(problemsIn('{"project": "p"\n"tracks": 1}')).toEqual([
      '2: YAML syntax error: Missing , between flow map items (line 2, column 1)',
    ])
    expect(problemsIn('[[[[')).toHaveLength(1)
  })

  test('is told that it is no mapping', () => {
    const said = (what: string) => [`1: the plan must be a mapping with project and tracks, not ${what}`]
    expect(problemsIn('')).toEqual(said('nothing'))
    expect(problemsIn('# nothing\n')).toEqual(said('nothing'))
    expect(problemsIn('- a')).toEqual(said('a list'))
    expect(problemsIn('just text')).toEqual(said('"just text"'))
    expect(problemsIn('42')).toEqual(said('the number 42'))
  })

  test('is told that it is more than one document, or another YAML', () => {
    expect(problemsIn(`${CODITECT_PLAN}---\nproject: q`)).toEqual([
      '24: a second document begins here; a plan is one document (line 24, column 1)',
    ])
    expect(problemsIn(`%YAML 1.1\n---\n${CODITECT_PLAN}`)).toEqual(['1: only YAML 1.2 is read, not YAML 1.1'])
    expect(problemsIn(`%YAML 1.2\n---\n${CODITECT_PLAN}...\n`)).toEqual([])
  })

  test('is told what is missing', () => {
    expect(problemsIn('name: x')).toEqual(['1: project is missing', '1: tracks is missing'])
    expect(problemsIn('project: p\ntracks:')).toEqual(['2: tracks is missing'])
    expect(problemsIn(withTasks('- title: x', '- id:'))).toEqual([
      '4: tracks.A[0].id is missing',
      '5: tracks.A[1].id is missing',
    ])
    for (const tracks of ['{}', '{A: []}', '{A: {agents: 1}}'])
      expect(problemsIn(`project: p\ntracks: ${tracks}`)).toEqual([
        '2: tracks has no tasks; a plan has at least one',
      ])
  })

  test('is told which fields it does not know', () => {
    expect(
      problemsIn(
        'project: p\nversion: 1\ntracks:\n  A:\n    agent: 1\n    tasks:\n      - {id: A-001-x, needs: []}',
      ),
    ).toEqual([
      '2: version is no field of a plan, which may have project, name, tracks',
      '5: tracks.A.agent is no field of a track, which may have agents, sequential, tasks',
      '7: tracks.A.tasks[0].needs is no field of a task, which may have id, title, description, type, priority, ' +
        'depends_on, trigger_rule, tags, capabilities, agent, max_retries, input, merge, subtasks',
    ])
    expect(
      problemsIn(withFields('subtasks:', '  - subtasks: []', '    merge: task')).map((said) =>
        said.slice(0, 70),
      ),
    ).toEqual([
      '6: tracks.A[0].subtasks[0].subtasks is no field of a subtask, which ma',
      '7: tracks.A[0].subtasks[0].merge is no field of a subtask, which may h',
    ])
  })

  test('is told what has the wrong type', () => {
    expect(problemsIn('project: [p]\nname: 1\ntracks: []')).toEqual([
      '1: project must be text, not a list',
      '2: name must be text, not the number 1; quotes make it text',
      '3: tracks must be a mapping of tracks, not a list',
    ])
    expect(
      problemsIn(
        'project: p\ntracks:\n  A: text\n  B: {tasks: {}}\n  C: [text]\n  D: [{id: D-001-x, subtasks: 1}]',
      ),
    ).toEqual([
      '3: tracks.A must be a list of tasks or a mapping with one, not "text"',
      '4: tracks.B.tasks must be a list of tasks, not a mapping',
      '5: tracks.C[0] must be a mapping with an id, not "text"',
      '6: tracks.D[0].subtasks must be a list of subtasks, not the number 1',
    ])
    expect(problemsIn(withTasks('- id: 001', '- id: true'))).toEqual([
      '4: tracks.A[0].id must be text, not the number 1; quotes make it text',
      '5: tracks.A[1].id must be text, not the boolean true; quotes make it text',
    ])
    expect(
      problemsIn('project: p\ntracks: {A: {agents: 1.5, sequential: yes, tasks: [{id: A-001-x}]}}'),
    ).toEqual([
      '2: tracks.A.agents must be a whole number, not the number 1.5',
      '2: tracks.A.sequential must be true or false, not "yes"',
    ])
  })

  test('is told which values are out of bounds', () => {
    expect(
      problemsIn(
        withFields(
          'title: "a\\tb"',
          `description: ${'x'.repeat(100_001)}`,
          'type: ""',
          'priority: 11',
          'trigger_rule: never',
          'tags: [ok,',
          `  ${'x'.repeat(101)}]`,
          'capabilities: x',
          'agent: -x',
          'max_retries: -1',
        ),
      ),
    ).toEqual([
      '5: tracks.A[0].title must be one line without control characters',
      '6: tracks.A[0].description must not be longer than 100000 characters',
      '7: tracks.A[0].type must not be empty',
      '8: tracks.A[0].priority must be at most 10, not the number 11',
      '9: tracks.A[0].trigger_rule must be all_success or all_done or none_failed or always, not "never"',
      '11: tracks.A[0].tags[1] must not be longer than 100 characters',
      '12: tracks.A[0].capabilities must be a list, not "x"',
      `13: tracks.A[0].agent ${WHAT_A_SLUG_IS} "-x"`,
      '14: tracks.A[0].max_retries must be at least 0, not the number -1',
    ])
    expect(problemsIn('project: a b\ntracks: {A: {agents: 0, tasks: [{id: A-001-x}]}}')).toEqual([
      `1: project ${WHAT_A_SLUG_IS} "a b"`,
      '2: tracks.A.agents must be at least 1, not the number 0',
    ])
  })

  test('is told that merge is for tasks with subtasks', () => {
    for (const subtasks of ['', 'subtasks: []'])
      expect(problemsIn(withFields('merge: object', subtasks))).toEqual([
        '5: tracks.A[0].merge is only for tasks with subtasks',
      ])
  })
})

describe('dependencies are as many as a new task may have', () => {
  test.each([
    [1000, true],
    [1001, false],
  ])('%i: %s', (count, allowed) => {
    const ids = Array.from({ length: count }, () => '00000000-0000-4000-8000-000000000000')
    expect(TaskCreate.safeParse({ title: 'x', dependsOn: ids }).success).toBe(allowed)
    const id = (i: number) => `${'BC'[i % 2]}-${String((i >> 1) + 1).padStart(3, '0')}-x`
    const keys = Array.from({ length: count }, (_, i) => id(i))
    const tracks = { A: [{ id: 'A-001-x', depends_on: keys }], B: [] as object[], C: [] as object[] }
    for (const key of keys) tracks[key[0] as 'B' | 'C'].push({ id: key })
    expect(problemsIn(JSON.stringify({ project: 'p', tracks }))).toEqual(
      allowed ? [] : ['1: tracks.A[0].depends_on must not have more than 1000 entries'],
    )
  })
})

describe('keys', () => {
  test('that are malformed are told what a key looks like', () => {
    const bad = [
      'foo',
      'a-001-x',
      'A-1-x',
      'A-0001-x',
      'A-001',
      'A-001-',
      'A-001-ü',
      'ABCDEFGHI-001-x',
      'A-001-x::0',
    ]
    expect(problemsIn(withTasks(...bad.map((key) => `- id: ${key}`)))).toEqual(
      bad.map((key, i) => `${4 + i}: tracks.A[${i}].id is "${key}", no task key; ${WHAT_A_KEY_IS}`),
    )
  })

  test('have a sequence from 001 to 999', () => {
    expect(
      problemsIn(withTasks('- id: A-000-x', '- id: A-1000-x', '- id: A-001-x', '- id: A-999-x')),
    ).toEqual([
      '4: tracks.A[0].id has the sequence 000; sequence must be 001 to 999',
      '5: tracks.A[1].id has the sequence 1000; sequence must be 001 to 999',
    ])
  })

  test('have a description part of 50 characters at most', () => {
    expect(problemsIn(withTasks(`- id: A-001-${'x'.repeat(50)}`, `- id: A-000-${'x'.repeat(51)}`))).toEqual([
      '5: tracks.A[1].id has the sequence 000; sequence must be 001 to 999',
      '5: tracks.A[1].id has a description part of 51 characters; it may have 50 at most',
    ])
  })

  test('stand in their own track', () => {
    expect(
      problemsIn(
        'project: p\ntracks:\n  B:\n    - id: A-001-x\n    - id: B-001-y\n      depends_on: [A-001-x]',
      ),
    ).toEqual(['4: tracks.B[0].id is A-001-x, which belongs into track A and not B'])
  })

  test('are taken once, and so is each place of a track', () => {
    expect(problemsIn(withTasks('- id: A-001-x', '- id: A-002-x', '- id: A-001-x', '- id: A-002-y'))).toEqual(
      [
        '6: tracks.A[2].id is A-001-x, which is taken on line 4 already',
        '7: tracks.A[3].id takes the place A-002, which A-002-x has on line 5',
      ],
    )
    expect(problemsIn('project: p\ntracks:\n  A: [{id: A-001-x}]\n  B: [{id: B-001-x}]')).toEqual([])
  })

  test('of tracks are 1 to 8 capital letters', () => {
    expect(
      problemsIn(
        'project: p\ntracks:\n  b: [{id: B-001-x}]\n  ABCDEFGHI: []\n  1: []\n  "": []\n  ABCDEFGH: []',
      ),
    ).toEqual([
      '3: tracks.b is "b"; a track is named by 1 to 8 capital letters',
      '4: tracks.ABCDEFGHI is "ABCDEFGHI"; a track is named by 1 to 8 capital letters',
      '5: tracks.1 is "1"; a track is named by 1 to 8 capital letters',
      '6: tracks. is ""; a track is named by 1 to 8 capital letters',
    ])
  })

  test('of subtasks follow their place in the list', () => {
    expect(
      problemsIn(withFields('subtasks:', '  - id: A-001-x::2', '  - id: A-002-x::2', '  - id: A-001-x::3')),
    ).toEqual([
      '6: tracks.A[0].subtasks[0].id must be A-001-x::1, after its place in the list, or be left out',
      '7: tracks.A[0].subtasks[1].id must be A-001-x::2, after its place in the list, or be left out',
    ])
    expect(problemsIn(withTasks('- id: A-001-x::1'))).toEqual([
      '4: tracks.A[0].id is the key of a subtask; those stand in the list `subtasks` of their task',
    ])
  })
})

describe('dependencies', () => {
  test('must be keys of the plan', () => {
    expect(problemsIn(withFields('depends_on: [A-002-y,', '  nonsense, A-000-y, 7,', '  A-001-z]'))).toEqual([
      '5: tracks.A[0].depends_on[0] is A-002-y, and the plan has no such task',
      '6: tracks.A[0].depends_on[3] must be text, not the number 7; quotes make it text',
      `6: tracks.A[0].depends_on[1] is "nonsense", no task key; ${WHAT_A_KEY_IS}`,
      '6: tracks.A[0].depends_on[2] has the sequence 000; sequence must be 001 to 999',
      '7: tracks.A[0].depends_on[4] is A-001-z, and the plan has no such task',
    ])
  })

  test('are listed once', () => {
    expect(
      problemsIn(withTasks('- id: A-001-x', '- id: A-002-y', '  depends_on: [A-001-x,', '    A-001-x]')),
    ).toEqual(['7: tracks.A[1].depends_on[1] is A-001-x again, which is listed on line 6 already'])
  })

  test('are neither the task itself nor its subtask nor its parent', () => {
    expect(
      problemsIn(
        withFields(
          'depends_on:',
          '  - A-001-x',
          '  - A-001-x::1',
          'subtasks:',
          '  - depends_on: [A-001-x]',
          '  - depends_on: [A-001-x::2]',
          '  - depends_on: [A-001-x::1]',
        ),
      ),
    ).toEqual([
      '6: tracks.A[0].depends_on[0] is the task itself; a task cannot wait for itself',
      '7: tracks.A[0].depends_on[1] is A-001-x::1, its own subtask; a task waits for its subtasks without being told',
      '9: tracks.A[0].subtasks[0].depends_on[0] is A-001-x, its own parent, which waits for its subtasks',
      '10: tracks.A[0].subtasks[1].depends_on[0] is the task itself; a task cannot wait for itself',
    ])
  })
})

describe('cycles', () => {
  const cycle = (where: string, names: string) =>
    `${where} closes a cycle, in which each waits for the next: ${names}`

  test('are named in full, one for each knot, the shortest', () => {
    const text = [
      'project: p',
      'tracks:',
      '  A:',
      '    - {id: A-001-x, depends_on: [A-002-x]}',
      '    - {id: A-002-x, depends_on: [B-001-x]}',
      '    - {id: A-003-x, depends_on: [A-002-x]}',
      '  B:',
      '    - {id: B-001-x, depends_on: [A-001-x, B-002-x]}',
      '    - {id: B-002-x, depends_on: [B-001-x]}',
      '  C:',
      '    - id: C-001-x',
      '      depends_on:',
      '        - A-001-x',
      '        - C-002-x',
      '    - {id: C-002-x, depends_on: [C-001-x]}',
    ].join('\n')
    expect(problemsIn(text)).toEqual([
      cycle('8: tracks.B[0].depends_on[1]', 'B-001-x → B-002-x → B-001-x'),
      cycle('14: tracks.C[0].depends_on[1]', 'C-001-x → C-002-x → C-001-x'),
    ])
    expect(problemsIn(text)).toEqual(problemsIn(text))
  })

  test('may go through the order of a sequential track', () => {
    const text = (sequential: boolean) =>
      `project: p\ntracks:\n  A:\n    sequential: ${sequential}\n    tasks:\n` +
      '      - {id: A-003-x}\n      - {id: A-001-x, depends_on: [A-003-x]}\n      - {id: A-002-x}'
    expect(problemsIn(text(true))).toEqual([
      cycle('6: tracks.A.tasks[0]', 'A-003-x → A-002-x → A-001-x → A-003-x'),
    ])
    expect(problemsIn(text(false))).toEqual([])
  })

  test('may go through subtasks, for which their parent waits', () => {
    expect(
      problemsIn(
        withTasks(
          '- id: A-001-x',
          '  subtasks:',
          '    - {}',
          '    - depends_on: [A-002-x]',
          '- id: A-002-x',
          '  depends_on: [A-001-x]',
        ),
      ),
    ).toEqual([cycle('7: tracks.A[0].subtasks[1]', 'A-001-x → A-001-x::2 → A-002-x → A-001-x')])
  })

  test('are closed by what parts wait for because their whole does', () => {
    const plan = `project: p
tracks:
  A:
    - id: A-001-x
      depends_on: [B-001-x]
      subtasks:
        - description: one
  B:
    - id: B-001-x
      depends_on: ["A-001-x::1"]
`
    const names = 'A-001-x::1 → B-001-x → A-001-x::1'
    expect(problemsIn(plan)).toEqual([cycle('5: tracks.A[0].depends_on[0]', names)])
  })

  test('are real, shortest, and one for each knot, in any graph', () => {
    const graphs = fc
      .integer({ min: 1, max: 9 })
      .chain((size) =>
        fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }),
      )
    fc.assert(
      fc.property(graphs, (graph) => {
        // Length of the shortest way from each to each, by Floyd and Warshall.
        const nodes = graph.map((_, i) => i)
        const way = graph.map((edges, i) => nodes.map((j) => (i !== j && edges.includes(j) ? 1 : Infinity)))
        for (const k of nodes)
          for (const i of nodes)
            for (const j of nodes) way[i]![j] = Math.min(way[i]![j]!, way[i]![k]! + way[k]![j]!)
        const knots = new Map<string, number>()
        for (const i of nodes) {
          const knot = nodes.filter((j) => j === i || way[i]![j]! + way[j]![i]! < Infinity)
          if (knot.length > 1) knots.set(knot.join(), Math.min(...knot.map((j) => way[j]![j]!)))
        }
        const cycles = cyclesIn(graph)
        expect(cycles.map((found) => found.length).sort()).toEqual([...knots.values()].sort())
        for (const found of cycles) {
          expect(new Set(found).size).toBe(found.length)
          expect(found[0]).toBe(Math.min(...found))
          found.forEach((node, i) => {
            expect(graph[node]).toContain(found[(i + 1) % found.length])
          })
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('are not looked for longer than is reasonable', () => {
    const graph = [[1], [2], [0, 3], [2]]
    expect(cyclesIn(graph)).toEqual([[2, 3]])
    expect(cyclesIn(graph, 0)).toEqual([[0, 1, 2]])
  })

  test('of ten thousand tasks are no deeper than others', () => {
    const size = LARGEST_PLAN_TASKS
    expect(cyclesIn(Array.from({ length: size }, (_, i) => (i === 0 ? [] : [i - 1])))).toEqual([])
    const ring = cyclesIn(Array.from({ length: size }, (_, i) => [(i + 1) % size]))
    expect(ring).toEqual([Array.from({ length: size }, (_, i) => i)])
    // Each waits for a hundred others, and the shortest way round is long.
    const tangle = Array.from({ length: size }, (_, i) =>
      Array.from({ length: 100 }, (_, j) => (i + 3 + j) % size),
    )
    expect(cyclesIn(tangle)[0]).toHaveLength(Math.ceil(size / 102))
  })
})

describe('what YAML can say and a plan must not', () => {
  test('is refused where it stands', () => {
    expect(
      problemsIn(
        withTasks(
          '- id: A-001-x',
          '  tags: &tags',
          '    - a',
          '- id: A-002-x',
          '  tags: *tags',
          '  <<: {priority: 3}',
          '  description: !!js/function x',
          '  title: !!str 001',
          '  input: &i !thing {a: !<x> 1}',
          '- id: A-003-x',
          '  ? [a]',
          '  : b',
          '  *tags : c',
        ),
      ),
    ).toEqual([
      '5: tracks.A[0].tags has an anchor (&tags): a plan says every value in full',
      '8: tracks.A[1].tags is an alias (*tags): a plan says every value in full',
      '9: tracks.A[1] has a merge key (<<): a plan says every value in full',
      '10: tracks.A[1].description has a tag (!!js/function), and a plan has none; text goes into quotes',
      '11: tracks.A[1].title has a tag (!!str), and a plan has none; text goes into quotes',
      '12: tracks.A[1].input has an anchor (&i): a plan says every value in full',
      '12: tracks.A[1].input has a tag (!thing), and a plan has none; text goes into quotes',
      '12: tracks.A[1].input.a has a tag (x), and a plan has none; text goes into quotes',
      '14: tracks.A[2] has a field whose name is not text',
      '16: tracks.A[2] has an alias (*tags) as the name of a field: a plan says every value in full',
    ])
  })

  test('so a bomb of aliases does not go off', () => {
    const levels = Array.from(
      { length: 30 },
      (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}, *l${i}]`,
    )
    expect(problemsIn(['l0: &l0 [x]', ...levels].join('\n'))).toContain(
      '2: l1[0] is an alias (*l0): a plan says every value in full',
    )
  })

  test('names of fields given twice are refused, in YAML and JSON, at any depth', () => {
    expect(problemsIn(withFields('priority: 1', 'input: {a: {b: 1,', '  b: 2}}', 'priority: 2'))).toEqual([
      '7: tracks.A[0].input.a.b is given twice, first on line 6',
      '8: tracks.A[0].priority is given twice, first on line 5',
    ])
    expect(problemsIn('{"project": "p",\n"tracks": {"A": [{"id": "A-001-x"}]},\n"project": "p"}')).toEqual([
      '3: project is given twice, first on line 1',
    ])
    // The tasks of both are known to the others.
    expect(problemsIn(`${CODITECT_PLAN}  A: [{id: A-004-x, depends_on: [A-001-core-framework]}]\n`)).toEqual([
      '24: tracks.A is given twice, first on line 4',
    ])
  })

  test('NUL, halves of surrogate pairs and names of prototypes are refused, as in requests', () => {
    const unstorable = 'contains a NUL or half a surrogate pair, which cannot be stored'
    expect(
      problemsIn(
        withFields(
          'description: "a\\0b"',
          'tags: ["\\ud800"]',
          'input:',
          '  "\\u0000": 1',
          '  a: ["\\udc00"]',
          '  __proto__: 1',
          '  constructor: {prototype: 1}',
          '  b: {constructor: fine, prototype: fine}',
        ),
      ),
    ).toEqual([
      `5: tracks.A[0].description ${unstorable}`,
      `6: tracks.A[0].tags[0] ${unstorable}`,
      `8: tracks.A[0].input has a field whose name ${unstorable}`,
      `9: tracks.A[0].input.a[0] ${unstorable}`,
      '10: tracks.A[0].input.__proto__ is not a name a field can have',
      '11: tracks.A[0].input.constructor is not a name a field can have',
    ])
    expect(problemsIn('project: p\u0000 # \ud800\n# \u001f')).toEqual([
      '1: U+0000, a control character, cannot be in a text (line 1, column 11)',
      '1: U+D800, half a surrogate pair, cannot be in a text (line 1, column 15)',
      '2: U+001F, a control character, cannot be in a text (line 2, column 3)',
    ])
  })

  test('numbers beyond all bounds are refused', () => {
    expect(problemsIn(withFields('input: [1e308,', '  1e309,', '  -.inf,', '  .nan]'))).toEqual([
      '6: tracks.A[0].input[1] is no number that can be stored',
      '7: tracks.A[0].input[2] is no number that can be stored',
      '8: tracks.A[0].input[3] is no number that can be stored',
    ])
    expect(Object.is(firstTask(withFields('input: -0')).input, 0)).toBe(true)
  })

  test('an input may have 200 levels, in a subtask too', () => {
    const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
    expect(problemsIn(withFields(`input: ${deep(200)}`))).toEqual([])
    const inSubtask = (levels: number) =>
      `project: p\ntracks: {A: {tasks: [{id: A-001-x, subtasks: [{input: ${deep(levels)}}]}]}}`
    expect(problemsIn(inSubtask(200))).toEqual([])
    expect(problemsIn(inSubtask(201))).toEqual([
      '2: tracks.A.tasks[0].subtasks[0].input is nested deeper than 200 levels',
    ])
    expect(problemsIn(withFields(`input: ${deep(201)}`, 'priority: 0'))).toEqual([
      '5: tracks.A[0].input is nested deeper than 200 levels',
      '6: tracks.A[0].priority must be at least 1, not the number 0',
    ])
  })

  test.each([
    ['brackets', '['.repeat(100_000)],
    ['dashes', `${'- '.repeat(100_000)}\nx: 1`],
    ['question marks', `${'? '.repeat(100_000)}\nx: 1`],
    ['braces', '{a: '.repeat(100_000)],
    ['indentation', `${Array.from({ length: 2000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')}\nb: 1`],
  ])('a text far deeper does not take the stack with it: %s', (_, text) => {
    expect(problemsIn(text)).toEqual([
      expect.stringContaining('the plan is nested deeper than 200 levels (line'),
    ])
  })
})

describe('many problems', () => {
  test('are listed all at once, by line', () => {
    const found = problemsIn(
      [
        'tracks:',
        '  A:',
        '    - {id: A-001-x, depends_on: [A-002-x, Z-001-x]}',
        '    - {id: A-002-x, depends_on: [A-001-x], priority: 0}',
        '    - {id: B-001-x, colour: red}',
        '    - {id: A-002-x}',
        'name: 1',
        'project: no slug',
      ].join('\n'),
    )
    expect(found.map((said) => said.split(' ').slice(0, 3).join(' '))).toEqual([
      '3: tracks.A[0].depends_on[1] is',
      '3: tracks.A[0].depends_on[0] closes',
      '4: tracks.A[1].priority must',
      '5: tracks.A[2].colour is',
      '5: tracks.A[2].id is',
      '6: tracks.A[3].id is',
      '7: name must',
      '8: project must',
    ])
  })

  test.each([1000, 1001, 25_000])('of %i, the first thousand are listed and the others counted', (count) => {
    const text = withTasks(
      '- id: A-001-x',
      ...Array.from({ length: count - 1 }, (_, i) => `  field${i}: 1`),
      '  title: ""',
    )
    const found = problemsIn(text)
    expect(found).toHaveLength(Math.min(count, 1001))
    expect(found[999]).toMatch(
      count === 1000 ? /^1004: .* must not be empty/ : /^1004: .*field999 is no field/,
    )
    if (count > 1000)
      expect(found[1000]).toBe(
        `1004: ${count - 1000} more ${count === 1001 ? 'problem is' : 'problems are'} not listed`,
      )
  })

  test('of syntax do not fill the memory either', () => {
    const found = problemsIn(`[${','.repeat(100_000)}]`)
    expect(found).toHaveLength(1001)
    expect(found[1000]).toMatch(/^1: 9\d{4} more problems are not listed$/)
  })

  test('a plan of ten thousand tasks is read, one more is not', () => {
    const text = (count: number) => {
      const tracks = Array.from({ length: 11 }, (_, i) => String.fromCharCode(65 + i))
      const keys = Array.from(
        { length: count },
        (_, i) => `${tracks[i % 11]}-${String(((i / 11) | 0) + 1).padStart(3, '0')}-x`,
      )
      const lines = tracks.map((track) => {
        const tasks = keys.flatMap((key, i) =>
          key[0] === track ? [`    - {id: ${key}, depends_on: [${i ? keys[i - 1] : ''}]}`] : [],
        )
        return [`  ${track}:`, ...tasks].join('\n')
      })
      return ['project: p', 'tracks:', ...lines].join('\n')
    }
    // A chain through all of them.
    expect(planIn(text(LARGEST_PLAN_TASKS)).tracks.flatMap(({ tasks }) => tasks)).toHaveLength(
      LARGEST_PLAN_TASKS,
    )
    const withSubtasks = text(9_998).replace('A-001-x,', 'A-001-x, subtasks: [{}, {}, {}],')
    for (const tooMany of [text(10_001), withSubtasks])
      expect(problemsIn(tooMany)).toEqual([
        '2: tracks has 10001 tasks with their subtasks; a plan may have 10000 at most',
      ])
  })

  test('whatever the text, reading it gives a plan or problems', () => {
    const crumbs = fc.constantFrom(
      ...'{}[],:-?&*!|>\'"%@`#<=~ \t\n\r\\',
      '<<: ',
      '- ',
      '\n  ',
      '---\n',
      '...\n',
      'id: A-001-x',
    )
    const text = fc.oneof(
      fc.string({ unit: crumbs, maxLength: 60 }),
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc
        .tuple(fc.nat(CODITECT_PLAN.length), fc.nat(20), fc.string({ unit: crumbs, maxLength: 5 }))
        .map(
          ([at, length, instead]) => CODITECT_PLAN.slice(0, at) + instead + CODITECT_PLAN.slice(at + length),
        ),
    )
    fc.assert(
      fc.property(text, (any) => {
        const reading = readPlan(any)
        if (reading.ok) return
        expect(reading.problems).not.toEqual([])
        const lines = reading.problems.map(({ line }) => line)
        expect(lines).toEqual(lines.toSorted((one, other) => one - other))
        expect(lines[0]).toBeGreaterThanOrEqual(1)
        expect(lines.at(-1)).toBeLessThanOrEqual(any.split('\n').length)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('a plan written down', () => {
  const tricky = fc.constantFrom(
    ...[
      'yes',
      'No',
      'null',
      '~',
      'true',
      '001',
      '1e3',
      '0x1f',
      '.inf',
      '-0',
      '<<',
      '=',
      '- a',
      'a: b',
      'a #b',
      '#b',
    ],
    ...[
      '|',
      '>',
      '---',
      '...',
      '%x',
      '@x',
      '`x',
      '!x',
      '&a',
      '*a',
      '{',
      '[',
      ',',
      "'",
      '"',
      '\\',
      ' a',
      'a ',
      '\t',
    ],
    ...[
      'a\nb',
      'a\n',
      '\na',
      '\n',
      'a\n\n b\n',
      ' a\n b',
      'a\r\nb',
      '\r',
      '\u0085',
      '\u2028',
      '\ufeff',
      '\u007f',
      '\u001b',
    ],
    ...[
      'A-001-x',
      '2024-01-01',
      '1_000',
      'constructor',
      'toString',
      'x'.repeat(200),
      'word '.repeat(40),
      '😀',
    ],
  )
  const words = fc
    .oneof(
      tricky,
      fc.string({ unit: 'binary' }),
      fc.array(tricky, { maxLength: 4 }).map((parts) => parts.join('')),
    )
    .filter((text) => !text.includes('\0'))
  const titles = words.filter((text) => Title.safeParse(text).success)
  const tags = words.filter((text) => Tag.safeParse(text).success)
  const slugs = fc
    .oneof(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,9}$/), tricky)
    .filter((text) => Slug.safeParse(text).success)
  const { input } = fc.letrec<{ input: unknown }>((tie) => ({
    input: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0),
      words,
      fc.array(tie('input'), { maxLength: 3 }),
      fc.dictionary(
        words.filter((key) => key !== '__proto__'),
        tie('input'),
        { maxKeys: 3 },
      ),
    ),
  }))
  const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })

  const fields = fc.record({
    title: orNull(titles),
    description: orNull(words),
    taskType: fc.oneof(fc.constant('other'), tags),
    priority: fc.integer({ min: 1, max: 10 }),
    triggerRule: fc.constantFrom('all_success', 'all_done', 'none_failed', 'always'),
    tags: fc.array(tags, { maxLength: 3 }),
    requiredCapabilities: fc.array(tags, { maxLength: 3 }),
    agent: orNull(slugs),
    maxRetries: fc.integer({ min: 0, max: 100 }),
    input,
    /** Which of the tasks before it it waits for. */
    waits: fc.array(fc.nat(), { maxLength: 3 }),
  })
  const tasks = fc.uniqueArray(
    fc.record({
      sequence: fc.integer({ min: 1, max: 999 }),
      name: fc.stringMatching(/^[a-zA-Z0-9_-]{1,50}$/),
      merge: fc.constantFrom('object', 'task'),
      subtasks: fc.array(fields, { maxLength: 3 }),
      fields,
    }),
    { minLength: 1, maxLength: 4, selector: ({ sequence }) => sequence },
  )
  const tracks = fc.uniqueArray(
    fc.record({
      track: fc.stringMatching(/^[A-Z]{1,8}$/),
      maxAgents: orNull(fc.integer({ min: 1, max: 10_000 })),
      sequential: fc.boolean(),
      tasks,
    }),
    { minLength: 1, maxLength: 4, selector: ({ track }) => track },
  )

  /** Valid plans: each task waits only for tasks before it, so there is no cycle. */
  const plans = fc
    .record({ project: slugs, name: orNull(titles.filter((name) => name.length <= 200)), tracks })
    .map((drawn): Plan => {
      const before: string[] = []
      const taskOf = (
        key: string,
        { waits, title, ...rest }: typeof fields extends fc.Arbitrary<infer F> ? F : never,
      ): PlanTask => ({
        ...rest,
        key,
        title: title ?? defaultTitle(key, rest.description),
        dependsOn: [...new Set(waits.flatMap((wait) => before[wait % Math.max(before.length, 1)] ?? []))],
        merge: null,
        subtasks: [],
        line: 0,
      })
      return {
        ...drawn,
        tracks: drawn.tracks.map((track) => ({
          ...track,
          tasks: track.tasks
            .toSorted((one, other) => one.sequence - other.sequence)
            .map(({ sequence, name, merge, subtasks, fields }) => {
              const key = `${track.track}-${String(sequence).padStart(3, '0')}-${name}`
              const parts = subtasks.map((part, i) => taskOf(`${key}::${i + 1}`, part))
              const task = { ...taskOf(key, fields), subtasks: parts, merge: parts.length > 0 ? merge : null }
              before.push(...parts.map((part) => part.key), key)
              return task
            }),
        })),
      }
    })

  test.each(['yaml', 'json'] as const)('as %s is read back as it was', (format) => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(withoutLines(planIn(writePlan(plan, format)))).toEqual(plan)
      }),
      { numRuns: 200 },
    )
  })

  test('leaves out what tasks have anyway', () => {
    expect(writePlan(planIn(CODITECT_PLAN), 'yaml').split('\n').slice(0, 9)).toEqual([
      'project: ecommerce-rebuild',
      'tracks:',
      '  A:',
      '    - id: A-001-core-framework',
      '      description: Initialize core application framework',
      '    - id: A-002-di-container',
      '      description: Setup dependency injection container',
      '      depends_on: [ A-001-core-framework ]',
      '    - id: A-003-event-bus',
    ])
    expect(JSON.parse(writePlan(planIn(withFields()), 'json'))).toEqual({
      project: 'p',
      tracks: { A: [{ id: 'A-001-x' }] },
    })
  })

  test('says in full what several tasks share', () => {
    const plan = planIn(withTasks('- id: A-001-x', '- id: A-002-x'))
    const shared = { list: [1] }
    for (const task of plan.tracks[0]!.tasks) task.input = [shared, shared.list]
    expect(withoutLines(planIn(writePlan(plan, 'yaml')))).toEqual(withoutLines(plan))
  })

  test('quotes what older readers of YAML would take for something else', () => {
    expect(writePlan(planIn(withFields('input: {"<<": "no"}')), 'yaml')).toContain('"<<": "no"')
  })
})
