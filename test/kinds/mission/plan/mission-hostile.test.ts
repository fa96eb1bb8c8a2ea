import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { graphOfMission, layersOf } from '../../../../src/kinds/mission/plan/layers.ts'
import { checkPlan, readPlan } from '../../../../src/kinds/mission/plan/read.ts'
import { missionIn, problemsOf, problemsWith, RICH_MISSION, tasks } from '../../../support/mission-plans.ts'
import { rounds } from '../../../support/rounds.ts'

const nested = (levels: number): unknown => {
  let inner: unknown = 1
  for (let i = 0; i < levels; i++) inner = [inner]
  return inner
}

describe('a value that is no JSON, or cannot be stored,', () => {
  const unstorable = 'contains a NUL or half a surrogate pair, which cannot be stored'
  test.each<[what: string, input: unknown, said: string]>([
    ['a date', new Date(0), 'input is not a JSON value'],
    ['a map', new Map(), 'input is not a JSON value'],
    ['a function', { f: () => 1 }, 'input/f is not a JSON value'],
    ['a big number', 10n, 'input is not a JSON value'],
    ['infinity', [Number.POSITIVE_INFINITY], 'input/0 is not a number that can be stored'],
    ['a NUL', ['a\u0000'], `input/0 ${unstorable}`],
    ['half a pair', '\ud800', `input ${unstorable}`],
    ['a NUL in a name', { 'a\u0000': 1 }, `/tasks/0/input has a field whose name ${unstorable}`],
    ['a prototype', JSON.parse('{"__proto__": {"x": 1}}'), 'input/__proto__ is not a valid field name'],
    ['a prototype’s', { constructor: { prototype: 1 } }, 'input/constructor is not a valid field name'],
    ['201 levels', nested(201), 'input is nested deeper than 200 levels'],
  ])('is refused: %s', (_, input, said) => {
    const found = problemsWith({ input }).map((one) => one.replace('/tasks/0/input', 'input'))
    expect(found).toEqual([said.replace('/tasks/0/', '')])
  })

  test('is refused however deep it is, without an overflow', () => {
    expect(problemsWith({ input: nested(100_000) })).toEqual([
      expect.stringMatching(/^input(\/0)+…? is nested deeper than 200 levels$/),
    ])
    expect(problemsOf(nested(100_000)).at(-1)).toContain('is nested deeper than 200 levels')
    expect(problemsOf(JSON.stringify(tasks({ id: 'a', input: nested(1000) })))).toEqual([
      expect.stringContaining('the plan is nested deeper than 200 levels (line 1, column'),
    ])
  })

  test('an undefined field is a missing one', () => {
    expect(missionIn(tasks({ id: 'a', title: undefined }))).toEqual(missionIn(tasks({ id: 'a' })))
  })
})

describe('size', () => {
  const chain = (count: number) =>
    tasks(
      ...Array.from({ length: count }, (_, i) => ({ id: `t${i}`, dependsOn: i > 0 ? [`t${i - 1}`] : [] })),
    )

  test('ten thousand tasks with ten edges each are read, and layered', () => {
    const plan = tasks(
      ...Array.from({ length: 10_000 }, (_, i) => ({
        tempId: `t${i}`,
        dependsOn: Array.from({ length: Math.min(i, 10) }, (_, j) => `t${i - 1 - j}`),
      })),
    )
    for (const given of [plan, JSON.stringify(plan)]) {
      const read = missionIn(given)
      expect(read.tasks).toHaveLength(10_000)
      expect(layersOf(graphOfMission(read)).at(-1)).toBe(9_999)
    }
  })

  test('one task more is refused, and so is one edge more', () => {
    expect(problemsOf(chain(10_000))).toEqual([])
    expect(problemsOf(chain(10_001))).toEqual(['/tasks has 10001 tasks; a plan may have at most 10000'])
    const ids = Array.from({ length: 9_999 }, (_, i) => `t${i}`)
    const join = (...more: string[]) =>
      tasks(...ids.map((id) => ({ id })), { id: 'join', dependsOn: [...ids, ...more] })
    const outside = (n: number) => `task:01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`
    expect(problemsOf(join(outside(1)))).toEqual([])
    expect(problemsOf(join(outside(1), outside(2)))).toEqual([
      '/tasks/9999/dependsOn must not have more than 10000 entries',
    ])
  })

  test('a ring of ten thousand is named in full', () => {
    const ring = chain(10_000) as { tasks: { id: string; dependsOn: string[] }[] }
    ring.tasks[0]!.dependsOn = ['t9999']
    const [problem] = problemsOf(ring)
    expect(problem!.split(' → ')).toHaveLength(10_001)
  })

  test('a knot of a thousand tasks that all wait for each other is one short problem', () => {
    const ids = Array.from({ length: 700 }, (_, i) => `t${i}`)
    const knot = tasks(...ids.map((id) => ({ id, dependsOn: ids.filter((other) => other !== id) })))
    expect(problemsOf(knot)).toEqual(['/tasks/0/dependsOn/0 closes a dependency cycle: t0 → t1 → t0'])
  })

  test('more values than any plan has are refused as such', () => {
    expect(problemsWith({ input: new Array(1_000_001).fill(0) })).toEqual(['the plan has too many values'])
  })

  test('a field with an endless name does not make endless answers', () => {
    const name = 'x'.repeat(1_000_000)
    const found = problemsOf(tasks({ id: 'a', input: { [name]: new Array(5000).fill(Number.NaN) } }))
    expect(found).toHaveLength(1001)
    expect(found.join('').length).toBeLessThan(500_000)
  })
})

describe('one checker', () => {
  const junk = fc.oneof(
    fc.constantFrom(null, true, 0, -1, 1.5, '', 'a', 'b', 'task:x', [], {}, ['a', 'a'], [{ on: 'b' }], {
      kind: 'auto',
    }),
    fc.jsonValue({ maxDepth: 2 }),
  )
  const field = fc.constantFrom(
    ...[
      'id',
      'tempId',
      'dependsOn',
      'depends_on',
      'budget',
      'maxUsd',
      'verification',
      'outputSchema',
      'tags',
      'title',
      'x/~y',
    ],
  )
  const task = fc.dictionary(field, junk, { maxKeys: 5 })
  const plan = fc.oneof(
    fc.record({ tasks: fc.array(fc.oneof(task, junk), { maxLength: 4 }) }),
    fc.record({
      project: junk,
      tracks: fc.dictionary(fc.constantFrom('A', 'b'), fc.array(task, { maxLength: 3 })),
    }),
    junk,
  )

  test('finds the same in a value, in JSON and in YAML, each with its place', () => {
    fc.assert(
      fc.property(plan, fc.constantFrom(0, 1), (value, space) => {
        const json = JSON.stringify(value, null, space)
        const same = JSON.parse(json)
        const inValue = checkPlan(same)
        const inJson = readPlan(json)
        // Not JSON any more, and two lines later.
        const inYaml = readPlan(`%YAML 1.2\n---\n${json}`)
        expect([inJson.ok, inYaml.ok]).toEqual([inValue.ok, inValue.ok])
        if (inValue.ok || inJson.ok || inYaml.ok) return
        const said = ({ at, message }: { at: string; message: string }) =>
          `${at} ${message.replace(/ (on line \d+|at \/[^\s;]*)/g, '')}`
        expect(inJson.problems.map(said).sort()).toEqual(inValue.problems.map(said).sort())
        expect(
          inYaml.problems.map(({ at, line, column, path }) => ({ at, path, column, line: line - 2 })),
        ).toEqual(inJson.problems.map(({ at, line, column, path }) => ({ at, path, column, line })))
        for (const { at } of inValue.problems) expect(hasPlace(same, at), at).toBe(true)
      }),
      { numRuns: rounds(100, 500) },
    )
  })

  /** The pointer leads somewhere, or to a field that is missing from something. */
  function hasPlace(value: unknown, pointer: string): boolean {
    const steps = pointer
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    let found = value
    for (const [i, step] of steps.entries()) {
      if (typeof found !== 'object' || found === null) return false
      if (!Object.hasOwn(found, step)) return i === steps.length - 1
      found = (found as Record<string, unknown>)[step]
    }
    return true
  }

  test('finds problems of a broken plan, whatever is broken', () => {
    const places = fc.constantFrom(...Object.keys(RICH_MISSION.tasks[1]!))
    fc.assert(
      fc.property(
        places,
        fc.constantFrom(Symbol('x'), () => 1, new Date(0)),
        (name, broken) => {
          const [first, second, third] = RICH_MISSION.tasks
          const reading = checkPlan({ tasks: [first, { ...second, [name]: broken }, third] })
          expect(reading.ok).toBe(false)
        },
      ),
    )
  })
})
