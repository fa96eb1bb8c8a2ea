import { describe, expect, test } from 'vitest'
import { TaskCreate } from '../../../../src/kinds/task/shapes/tasks.ts'
import { CODITECT_PLAN } from '../../../support/coditect-plan.ts'
import {
  firstTask,
  planIn,
  problemsIn,
  WHAT_A_SLUG_IS,
  withFields,
  withTasks,
} from '../../../support/plan-texts.ts'

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
      maxContinuations: 10,
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
      maxContinuations: 10,
      input: { yes: ['no', 1, 1.5, true, null] },
      merge: 'task',
      line: 8,
    })
    expect(second!.subtasks.map(({ key, title, dependsOn, line }) => [key, title, dependsOn, line])).toEqual([
      ['B-002-b::1', 'part one', [], 22],
      ['B-002-b::2', 'B-002-b::2', ['B-002-b::1'], 23],
    ])
  })

  test('with its tasks by sequence and its tracks in their order', () => {
    const { tracks } = planIn(
      'project: p\ntracks: {Z: [{id: Z-010-x}, {id: Z-002-x}, {id: Z-001-x}], A: [], C: [{id: C-001-x}]}',
    )
    expect(tracks.map(({ track, tasks }) => [track, tasks.map(({ key }) => key)])).toEqual([
      ['Z', ['Z-001-x', 'Z-002-x', 'Z-010-x']],
      ['A', []],
      ['C', ['C-001-x']],
    ])
  })

  test('from JSON, however it is formatted', () => {
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

  test('with an empty field as if it were missing', () => {
    expect(firstTask(withFields('title:', 'priority: null', 'depends_on:', 'agent: ~', 'subtasks:'))).toEqual(
      firstTask(withFields()),
    )
  })

  test('with a title from the first line of the description, if that is a valid one', () => {
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

  test('and special words of older YAML stay words', () => {
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
  test('gets line and column of its syntax errors, all of them', () => {
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

  test('is refused as no mapping', () => {
    const said = (what: string) => [`1: the plan must be a mapping with project and tracks, not ${what}`]
    expect(problemsIn('')).toEqual(said('nothing'))
    expect(problemsIn('# nothing\n')).toEqual(said('nothing'))
    expect(problemsIn('- a')).toEqual(said('a list'))
    expect(problemsIn('just text')).toEqual(said('"just text"'))
    expect(problemsIn('42')).toEqual(said('the number 42'))
  })

  test('is refused as more than one document, or another YAML', () => {
    expect(problemsIn(`${CODITECT_PLAN}---\nproject: q`)).toEqual([
      '24: a second document begins here; a plan is a single document (line 24, column 1)',
    ])
    expect(problemsIn(`%YAML 1.1\n---\n${CODITECT_PLAN}`)).toEqual([
      '1: only YAML 1.2 is supported, not YAML 1.1',
    ])
    expect(problemsIn(`%YAML 1.2\n---\n${CODITECT_PLAN}...\n`)).toEqual([])
  })

  test('gets what is missing', () => {
    expect(problemsIn('name: x')).toEqual(['1: project is missing', '1: tracks is missing'])
    expect(problemsIn('project: p\ntracks:')).toEqual(['2: tracks is missing'])
    expect(problemsIn(withTasks('- title: x', '- id:'))).toEqual([
      '4: tracks.A[0].id is missing',
      '5: tracks.A[1].id is missing',
    ])
    for (const tracks of ['{}', '{A: []}', '{A: {agents: 1}}'])
      expect(problemsIn(`project: p\ntracks: ${tracks}`)).toEqual([
        '2: tracks has no tasks; a plan needs at least one',
      ])
  })

  test('gets its unknown fields', () => {
    expect(
      problemsIn(
        'project: p\nversion: 1\ntracks:\n  A:\n    agent: 1\n    tasks:\n      - {id: A-001-x, needs: []}',
      ),
    ).toEqual([
      '2: version is not a field of a plan, which may have project, name, tracks',
      '5: tracks.A.agent is not a field of a track, which may have agents, sequential, purpose, tasks',
      '7: tracks.A.tasks[0].needs is not a field of a task, which may have id, title, description, type, priority, ' +
        'depends_on, trigger_rule, tags, capabilities, agent, max_retries, max_continuations, input, merge, subtasks',
    ])
    expect(
      problemsIn(withFields('subtasks:', '  - subtasks: []', '    merge: task')).map((said) =>
        said.slice(0, 70),
      ),
    ).toEqual([
      '6: tracks.A[0].subtasks[0].subtasks is not a field of a subtask, which',
      '7: tracks.A[0].subtasks[0].merge is not a field of a subtask, which ma',
    ])
  })

  test('gets what has the wrong type', () => {
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

  test('gets the values that are out of bounds', () => {
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
      '9: tracks.A[0].trigger_rule must be all_success or all_done or none_failed or always or one_success, not "never"',
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

  test('is refused if merge is on a task without subtasks', () => {
    for (const subtasks of ['', 'subtasks: []'])
      expect(problemsIn(withFields('merge: object', subtasks))).toEqual([
        '5: tracks.A[0].merge is only for tasks with subtasks',
      ])
  })
})

describe('dependencies are as many as a new task may have', () => {
  test.each([
    [10_000, true],
    [10_001, false],
  ])('%i: %s', (count, allowed) => {
    const ids = Array.from({ length: count }, () => '00000000-0000-4000-8000-000000000000')
    expect(TaskCreate.safeParse({ title: 'x', dependsOn: ids }).success).toBe(allowed)
    const depends_on = Array.from(
      { length: count },
      (_, i) => `B-${String(1 + (i % 999)).padStart(3, '0')}-x${i}`,
    )
    const problems = problemsIn(
      JSON.stringify({ project: 'p', tracks: { A: [{ id: 'A-001-x', depends_on }] } }),
    )
    const tooMany = '1: tracks.A[0].depends_on must not have more than 10000 entries'
    expect(problems.includes(tooMany)).toBe(!allowed)
  })
})
