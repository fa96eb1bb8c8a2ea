import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nothingIsWrittenBy, openProject, putPlan, tasksByKey } from '../../../support/http-plans.ts'
import { send } from '../../../support/http-routes.ts'
import { expectRefusal, type Json, type Workspace } from '../../../support/http-workspace.ts'
import { type ServerUnderTest, startServer } from '../../../support/server.ts'

/** Plans that are refused: with all errors, by line, and without a trace. And how large one may be. */

let server: ServerUnderTest
let w: Workspace
beforeAll(async () => {
  server = await startServer()
  w = await openProject(server)
  await w.make()
})
afterAll(() => server.close())

const inTrackA = (...tasks: string[]) =>
  `project: shop\ntracks:\n  A:\n${tasks.map((task) => `    - ${task}\n`).join('')}`
type Reported = [line: number, field: string, message: string | RegExp]

const WRONG: [what: string, plan: string, reported: Reported[]][] = [
  [
    'a cycle',
    inTrackA(
      '{id: A-001-a, depends_on: [A-003-c]}',
      '{id: A-002-b, depends_on: [A-001-a]}',
      '{id: A-003-c, depends_on: [A-002-b]}',
    ),
    [[4, 'tracks.A[0].depends_on[0]', 'A-001-a → A-003-c → A-002-b → A-001-a']],
  ],
  [
    'a cycle across tracks, beside one of two',
    `project: shop
tracks:
  A:
    - {id: A-001-a, depends_on: [B-001-b]}
    - {id: A-002-c, depends_on: [A-003-d]}
    - {id: A-003-d, depends_on: [A-002-c]}
  B:
    - {id: B-001-b, depends_on: [C-001-c]}
  C:
    - {id: C-001-c, depends_on: [A-001-a]}
`,
    [
      [4, 'tracks.A[0].depends_on[0]', 'A-001-a → B-001-b → C-001-c → A-001-a'],
      [5, 'tracks.A[1].depends_on[0]', 'A-002-c → A-003-d → A-002-c'],
    ],
  ],
  [
    'a cycle that only the order of a sequential track closes',
    'project: shop\ntracks:\n  A:\n    sequential: true\n    tasks:\n      - {id: A-001-a, depends_on: [A-002-b]}\n      - {id: A-002-b}\n',
    [[6, 'tracks.A.tasks[0].depends_on[0]', 'A-001-a → A-002-b → A-001-a']],
  ],
  [
    'a task that waits for itself',
    inTrackA('{id: A-001-a, depends_on: [A-001-a]}'),
    [[4, 'tracks.A[0].depends_on[0]', 'itself']],
  ],
  [
    'a duplicate key',
    inTrackA('{id: A-001-a}', '{id: A-002-b}', '{id: A-001-a}'),
    [[6, 'tracks.A[2].id', 'A-001-a, which is already used on line 4']],
  ],
  [
    'a duplicate place',
    inTrackA('{id: A-001-a}', '{id: A-001-b}'),
    [[5, 'tracks.A[1].id', 'A-001, which A-001-a already has on line 4']],
  ],
  [
    'keys that are none',
    inTrackA(
      ...[
        '{id: a-001-x}',
        '{id: A-1-x}',
        '{id: A-001}',
        '{id: A-001-}',
        '{id: "A-001-x y"}',
        '{id: TOOLONGTR-001-x}',
      ],
      ...['{id: ""}', '{id: 7}', '{title: no key}', '{id: A-002-x::1}'],
    ),
    Array.from({ length: 10 }, (_, i): Reported => [4 + i, `tracks.A[${i}].id`, /./]),
  ],
  [
    'sequences beyond 999 and below 1',
    inTrackA('{id: A-1000-x}', '{id: A-000-x}'),
    [
      [4, 'tracks.A[0].id', 'sequence must be 001 to 999'],
      [5, 'tracks.A[1].id', 'sequence must be 001 to 999'],
    ],
  ],
  [
    'a description beyond 50 characters',
    inTrackA(`{id: A-001-${'x'.repeat(51)}}`),
    [[4, 'tracks.A[0].id', '51 characters']],
  ],
  ['a key in another track', inTrackA('{id: B-001-x}'), [[4, 'tracks.A[0].id', 'belongs to track B, not A']]],
  [
    'unknown dependencies',
    inTrackA('{id: A-001-a, depends_on: [A-002-b, B-001-c]}'),
    [
      [4, 'tracks.A[0].depends_on[0]', 'A-002-b, which is not in the plan'],
      [4, 'tracks.A[0].depends_on[1]', 'B-001-c, which is not in the plan'],
    ],
  ],
  [
    'a dependency that is listed twice',
    inTrackA('{id: A-001-a}', '{id: A-002-b, depends_on: [A-001-a, A-001-a]}'),
    [[5, 'tracks.A[1].depends_on[1]', 'again']],
  ],
  [
    'a track that is none',
    'project: shop\ntracks:\n  a1:\n    - {id: A-001-a}\n',
    [[3, 'tracks.a1', '1 to 8 capital letters']],
  ],
  ['no tasks', 'project: shop\ntracks:\n  A: []\n', [[2, 'tracks', 'at least one']]],
  ['no tracks', 'project: shop\n', [[1, 'tracks', 'is missing']]],
  ['no project', 'tracks:\n  A:\n    - {id: A-001-a}\n', [[1, 'project', 'is missing']]],
  ['another project', inTrackA('{id: A-001-a}').replace('shop', 'other'), [[1, 'project', 'is "other"']]],
  [
    'fields that no task has, and values that no field has',
    inTrackA('{id: A-001-a, nonsense: 1, priority: 11, tags: 1, max_retries: -1, trigger_rule: maybe}'),
    [
      [4, 'tracks.A[0].nonsense', 'is not a field of a task'],
      [4, 'tracks.A[0].priority', 'at most 10'],
      [4, 'tracks.A[0].tags', 'a list'],
      [4, 'tracks.A[0].max_retries', 'at least 0'],
      [4, 'tracks.A[0].trigger_rule', 'all_success or all_done'],
    ],
  ],
  [
    'subtasks under other keys than their places',
    inTrackA('{id: A-001-a, subtasks: [{id: "A-001-a::2"}]}'),
    [[4, 'tracks.A[0].subtasks[0].id', 'must be A-001-a::1']],
  ],
  ['broken YAML', 'project: shop\ntracks: {A: "x}\n', [[3, '', 'YAML syntax error']]],
  [
    'a mistake on every line, reported with the others',
    `project: "a b"
name: ""
tracks:
  A:
    - {id: A-001-a, depends_on: [Z-001-z]}
    - {id: A-001-a}
    - {id: A-1000-b}
    - {id: A-002-c, depends_on: [A-003-d]}
    - {id: A-003-d, depends_on: [A-002-c]}
  b: []
`,
    [
      [1, 'project', /./],
      [2, 'name', /./],
      [5, 'tracks.A[0].depends_on[0]', 'not in the plan'],
      [6, 'tracks.A[1].id', 'used on line 5'],
      [7, 'tracks.A[2].id', '001 to 999'],
      [8, 'tracks.A[3].depends_on[0]', 'A-002-c → A-003-d → A-002-c'],
      [10, 'tracks.b', 'capital letters'],
    ],
  ],
]

describe('a plan is refused, with all errors by line and nothing written, when it has', () => {
  test.each(WRONG)('%s', async (_what, plan, reported) => {
    await nothingIsWrittenBy(server, async () => {
      const answer = await putPlan(w, 'shop', plan)
      expectRefusal(answer, 422, 'PLAN_INVALID')
      const errors = answer.body.errors.toSorted((a: Json, b: Json) => Number(a.line) - Number(b.line))
      expect(errors.map(({ line, field }: Json) => [line, field])).toEqual(
        reported.map(([line, field]) => [line, field]),
      )
      for (const [i, [, , message]] of reported.entries())
        expect(errors[i].message).toMatch(
          typeof message === 'string' ? new RegExp(escaped(message)) : message,
        )
      expect(answer.body.detail).toMatch(/^Line \d+: /)
    })
  })
  const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
})

describe('the size of a plan', () => {
  /** A chain in each of as many tracks as are needed, and a dependency across from time to time. */
  const planOf = (count: number) => {
    const tracks: Record<string, Json[]> = {}
    const keyOf = (i: number) =>
      `${'ABCDEFGHIJKLMNOP'[Math.floor(i / 990)]}-${String((i % 990) + 1).padStart(3, '0')}-a-step-on-the-way`
    for (let i = 0; i < count; i++) {
      const depends_on = [
        ...(i % 990 ? [keyOf(i - 1)] : []),
        ...(i > 990 && i % 7 === 0 ? [keyOf(i - 990)] : []),
      ]
      const description = `Step ${i} of a large plan, with some words to say what it is about.`
      const track = keyOf(i).slice(0, 1)
      tracks[track] = [...(tracks[track] ?? []), { id: keyOf(i), description, depends_on }]
    }
    return JSON.stringify({ project: 'shop', tracks })
  }

  test('may be ten thousand tasks, which are then all created with their dependencies', async () => {
    const large = await openProject(server)
    const plan = planOf(10_000)
    const began = performance.now()
    const answer = await putPlan(large, 'shop', plan, { 'content-type': 'application/json' })
    const tookMs = performance.now() - began
    console.log(
      `a plan of 10,000 tasks (${(plan.length / 2 ** 20).toFixed(1)} MiB) was imported in ${Math.round(tookMs)} ms`,
    )
    expect(answer.body).toMatchObject({ created: 10_000 })
    const { tracks } = (await large.call('GET', '/projects/shop')).body
    const pending = tracks.map((track: { pending: number }) => track.pending)
    expect(pending.reduce((a: number, b: number) => a + b)).toBe(10_000)
    expect((await large.call('GET', '/tasks?state=queued&limit=200')).body.items).toHaveLength(10)
    const again = await putPlan(large, 'shop', plan, { 'content-type': 'application/json' })
    console.log(`and imported again in ${Math.round(performance.now() - began - tookMs)} ms`)
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 10_000 })
  })

  test('may not be ten thousand and one, nor subtasks beyond that', async () => {
    const divided = `project: shop\ntracks: {A: [{id: A-001-a, subtasks: [${'{}, '.repeat(10_000)}]}]}\n`
    await nothingIsWrittenBy(server, async () => {
      for (const plan of [planOf(10_001), divided]) {
        const answer = await putPlan(w, 'shop', plan)
        expectRefusal(answer, 422, 'PLAN_INVALID', {
          errors: [
            { field: 'tracks', line: expect.any(Number), message: expect.stringContaining('10001 tasks') },
          ],
        })
      }
    })
  })

  test.each([
    ['spaces', ' '.repeat(50 * 2 ** 20)],
    ['brackets', '['.repeat(50 * 2 ** 20)],
    ['tasks', '- {id: A-001-a}\n'.repeat((50 * 2 ** 20) / 16)],
  ])('may not be fifty megabytes, as here of %s', async (_what, body) => {
    await nothingIsWrittenBy(server, async () => {
      for (const headers of [
        { 'content-type': 'application/yaml' },
        { 'content-type': 'application/json', 'content-length': '', 'transfer-encoding': 'chunked' },
      ] as Record<string, string>[]) {
        const reply = await send(server, 'PUT', '/projects/shop/plan', { body, headers, key: w.ownerKey })
        expect([reply.status, JSON.parse(reply.text).code]).toEqual([413, 'BODY_TOO_LARGE'])
      }
    })
  })

  test('and its errors, if there are thousands, are listed up to a limit', async () => {
    const plan = inTrackA(...Array.from({ length: 5_000 }, () => '{id: nonsense}'))
    const answer = await putPlan(w, 'shop', plan)
    expectRefusal(answer, 422, 'PLAN_INVALID')
    expect(answer.body.errors).toHaveLength(1_001)
    expect(answer.body.errors.at(-1).message).toBe('4000 more problems are not listed')
    expect((await tasksByKey(w)).size, 'and nothing came of it').toBe(1)
  })
})
