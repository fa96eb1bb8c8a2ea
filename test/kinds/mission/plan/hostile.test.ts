import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LARGEST_PLAN_TASKS } from '../../../../src/kinds/mission/plan/plan.ts'
import { readPlan } from '../../../../src/kinds/mission/plan/read.ts'
import { CODITECT_PLAN } from '../../../support/coditect-plan.ts'
import { firstTask, planIn, problemsIn, withFields, withTasks } from '../../../support/plan-texts.ts'
import { rounds } from '../../../support/rounds.ts'

describe('YAML features that a plan must not use', () => {
  test('are refused where they occur', () => {
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
      '5: tracks.A[0].tags has an anchor (&tags): write every value in full',
      '8: tracks.A[1].tags is an alias (*tags): write every value in full',
      '9: tracks.A[1] has a merge key (<<): write every value in full',
      '10: tracks.A[1].description has a tag (!!js/function), which plans do not support; put text in quotes',
      '11: tracks.A[1].title has a tag (!!str), which plans do not support; put text in quotes',
      '12: tracks.A[1].input has an anchor (&i): write every value in full',
      '12: tracks.A[1].input has a tag (!thing), which plans do not support; put text in quotes',
      '12: tracks.A[1].input.a has a tag (x), which plans do not support; put text in quotes',
      '14: tracks.A[2] has a field whose name is not text',
      '16: tracks.A[2] has an alias (*tags) as the name of a field: write every value in full',
    ])
  })

  test('include aliases, so an alias bomb does no harm', () => {
    const levels = Array.from(
      { length: 30 },
      (_, i) => `l${i + 1}: &l${i + 1} [*l${i}, *l${i}, *l${i}, *l${i}]`,
    )
    expect(problemsIn(['l0: &l0 [x]', ...levels].join('\n'))).toContain(
      '2: l1[0] is an alias (*l0): write every value in full',
    )
  })

  test('duplicate field names are refused, in YAML and JSON, at any depth', () => {
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
      '10: tracks.A[0].input.__proto__ is not a valid field name',
      '11: tracks.A[0].input.constructor is not a valid field name',
    ])
    expect(problemsIn('project: p\u0000 # \ud800\n# \u001f')).toEqual([
      '1: U+0000, a control character, is not allowed in text (line 1, column 11)',
      '1: U+D800, half a surrogate pair, is not allowed in text (line 1, column 15)',
      '2: U+001F, a control character, is not allowed in text (line 2, column 3)',
    ])
  })

  test('numbers that are too large are refused', () => {
    expect(problemsIn(withFields('input: [1e308,', '  1e309,', '  -.inf,', '  .nan]'))).toEqual([
      '6: tracks.A[0].input[1] is not a number that can be stored',
      '7: tracks.A[0].input[2] is not a number that can be stored',
      '8: tracks.A[0].input[3] is not a number that can be stored',
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
  ])('a text far deeper does not overflow the stack: %s', (_, text) => {
    expect(problemsIn(text)).toEqual([
      expect.stringContaining('the plan is nested deeper than 200 levels (line'),
    ])
  })
})

describe('many problems', () => {
  test('are listed all at once, by line and column', () => {
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
      '3: tracks.A[0].depends_on[0] closes',
      '3: tracks.A[0].depends_on[1] is',
      '4: tracks.A[1].priority must',
      '5: tracks.A[2].id is',
      '5: tracks.A[2].colour is',
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
      count === 1000 ? /^1004: .* must not be empty/ : /^1004: .*field999 is not a field/,
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

  test('a plan of ten thousand tasks is read, one more is refused', () => {
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
        '2: tracks has 10001 tasks with their subtasks; a plan may have at most 10000',
      ])
  })

  test('for any text, reading it returns a plan or problems', () => {
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
        const reading = readPlan(any, 'project')
        if (reading.ok) return
        expect(reading.problems).not.toEqual([])
        const lines = reading.problems.map(({ line }) => line)
        expect(lines).toEqual(lines.toSorted((one, other) => one - other))
        expect(lines[0]).toBeGreaterThanOrEqual(1)
        expect(lines.at(-1)).toBeLessThanOrEqual(any.split('\n').length)
      }),
      { numRuns: rounds(100, 1000) },
    )
  })
})
