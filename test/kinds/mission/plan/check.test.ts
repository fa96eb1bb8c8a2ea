import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LARGEST_PLAN_TASKS } from '../../../../src/kinds/mission/plan/plan.ts'
import { shortestCycles } from '../../../../src/pure/graph.ts'
import { problemsIn, WHAT_A_KEY_IS, withFields, withTasks } from '../../../support/plan-texts.ts'
import { rounds } from '../../../support/rounds.ts'

describe('keys', () => {
  test('that are malformed get a description of a valid key', () => {
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
      bad.map((key, i) => `${4 + i}: tracks.A[${i}].id is "${key}", not a task key; ${WHAT_A_KEY_IS}`),
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
      '5: tracks.A[1].id has a description part of 51 characters; at most 50 are allowed',
    ])
  })

  test('belong to their own track', () => {
    expect(
      problemsIn(
        'project: p\ntracks:\n  B:\n    - id: A-001-x\n    - id: B-001-y\n      depends_on: [A-001-x]',
      ),
    ).toEqual(['4: tracks.B[0].id is A-001-x, which belongs to track A, not B'])
  })

  test('are used once, and so is each place of a track', () => {
    expect(problemsIn(withTasks('- id: A-001-x', '- id: A-002-x', '- id: A-001-x', '- id: A-002-y'))).toEqual(
      [
        '6: tracks.A[2].id is A-001-x, which is already used on line 4',
        '7: tracks.A[3].id has the sequence A-002, which A-002-x already has on line 5',
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
      '3: tracks.b is "b"; a track name has 1 to 8 capital letters',
      '4: tracks.ABCDEFGHI is "ABCDEFGHI"; a track name has 1 to 8 capital letters',
      '5: tracks.1 is "1"; a track name has 1 to 8 capital letters',
      '6: tracks. is ""; a track name has 1 to 8 capital letters',
    ])
  })

  test('of subtasks follow their place in the list', () => {
    expect(
      problemsIn(withFields('subtasks:', '  - id: A-001-x::2', '  - id: A-002-x::2', '  - id: A-001-x::3')),
    ).toEqual([
      '6: tracks.A[0].subtasks[0].id must be A-001-x::1, by its position in the list, or be left out',
      '7: tracks.A[0].subtasks[1].id must be A-001-x::2, by its position in the list, or be left out',
    ])
    expect(problemsIn(withTasks('- id: A-001-x::1'))).toEqual([
      '4: tracks.A[0].id is the key of a subtask; subtasks go into the list `subtasks` of their task',
    ])
  })
})

describe('dependencies', () => {
  test('must be keys of the plan', () => {
    expect(problemsIn(withFields('depends_on: [A-002-y,', '  nonsense, A-000-y, 7,', '  A-001-z]'))).toEqual([
      '5: tracks.A[0].depends_on[0] is A-002-y, which is not in the plan',
      `6: tracks.A[0].depends_on[1] is "nonsense", not a task key; ${WHAT_A_KEY_IS}`,
      '6: tracks.A[0].depends_on[2] has the sequence 000; sequence must be 001 to 999',
      '6: tracks.A[0].depends_on[3] must be text, not the number 7; quotes make it text',
      '7: tracks.A[0].depends_on[4] is A-001-z, which is not in the plan',
    ])
  })

  test('are listed once', () => {
    expect(
      problemsIn(withTasks('- id: A-001-x', '- id: A-002-y', '  depends_on: [A-001-x,', '    A-001-x]')),
    ).toEqual(['7: tracks.A[1].depends_on[1] is A-001-x again, which is already listed on line 6'])
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
      '6: tracks.A[0].depends_on[0] is the task itself; a task cannot depend on itself',
      '7: tracks.A[0].depends_on[1] is A-001-x::1, its own subtask; a task always waits for its subtasks',
      '9: tracks.A[0].subtasks[0].depends_on[0] is A-001-x, its own parent, which waits for its subtasks',
      '10: tracks.A[0].subtasks[1].depends_on[0] is the task itself; a task cannot depend on itself',
    ])
  })
})

describe('cycles', () => {
  const cycle = (where: string, names: string) => `${where} closes a dependency cycle: ${names}`

  test('are named in full, one for each strongly connected part, the shortest', () => {
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

  test('may include the order of a sequential track', () => {
    const text = (sequential: boolean) =>
      `project: p\ntracks:\n  A:\n    sequential: ${sequential}\n    tasks:\n` +
      '      - {id: A-003-x}\n      - {id: A-001-x, depends_on: [A-003-x]}\n      - {id: A-002-x}'
    expect(problemsIn(text(true))).toEqual([
      cycle('6: tracks.A.tasks[0]', 'A-003-x → A-002-x → A-001-x → A-003-x'),
    ])
    expect(problemsIn(text(false))).toEqual([])
  })

  test('may include subtasks, for which their parent waits', () => {
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

  test('are closed by dependencies that parts inherit from their parent', () => {
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

  test('are real, shortest, and one for each strongly connected part, in any graph', () => {
    const graphs = fc
      .integer({ min: 1, max: 9 })
      .chain((size) =>
        fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }),
      )
    fc.assert(
      fc.property(graphs, (graph) => {
        // Length of the shortest path from each to each, by Floyd and Warshall.
        const nodes = graph.map((_, i) => i)
        const distance = graph.map((edges, i) =>
          nodes.map((j) => (i !== j && edges.includes(j) ? 1 : Infinity)),
        )
        for (const k of nodes)
          for (const i of nodes)
            for (const j of nodes)
              distance[i]![j] = Math.min(distance[i]![j]!, distance[i]![k]! + distance[k]![j]!)
        const components = new Map<string, number>()
        for (const i of nodes) {
          const component = nodes.filter((j) => j === i || distance[i]![j]! + distance[j]![i]! < Infinity)
          if (component.length > 1)
            components.set(component.join(), Math.min(...component.map((j) => distance[j]![j]!)))
        }
        const cycles = shortestCycles(graph)
        expect(cycles.map((found) => found.length).sort()).toEqual([...components.values()].sort())
        for (const found of cycles) {
          expect(new Set(found).size).toBe(found.length)
          expect(found[0]).toBe(Math.min(...found))
          found.forEach((node, i) => {
            expect(graph[node]).toContain(found[(i + 1) % found.length])
          })
        }
      }),
      { numRuns: rounds(300, 2000) },
    )
  })

  test('are searched for within a time limit', () => {
    const graph = [[1], [2], [0, 3], [2]]
    expect(shortestCycles(graph)).toEqual([[2, 3]])
    expect(shortestCycles(graph, 0)).toEqual([[0, 1, 2]])
  })

  test('of ten thousand tasks do not overflow the stack', () => {
    const size = LARGEST_PLAN_TASKS
    expect(shortestCycles(Array.from({ length: size }, (_, i) => (i === 0 ? [] : [i - 1])))).toEqual([])
    const ring = shortestCycles(Array.from({ length: size }, (_, i) => [(i + 1) % size]))
    expect(ring).toEqual([Array.from({ length: size }, (_, i) => i)])
    // Each depends on a hundred others, and the shortest cycle is long.
    const tangle = Array.from({ length: size }, (_, i) =>
      Array.from({ length: 100 }, (_, j) => (i + 3 + j) % size),
    )
    expect(shortestCycles(tangle)[0]).toHaveLength(Math.ceil(size / 102))
  })
})
