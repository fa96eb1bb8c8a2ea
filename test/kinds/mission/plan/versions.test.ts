import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { z } from 'zod'
import { planDigest } from '../../../../src/kinds/mission/acts/plan-digest.ts'
import { canonicalJson } from '../../../../src/kinds/mission/plan/canonical.ts'
import { comparePlans } from '../../../../src/kinds/mission/plan/compare.ts'
import { checkPlan } from '../../../../src/kinds/mission/plan/read.ts'
import { planSchema } from '../../../../src/kinds/mission/plan/schema.ts'
import { writePlan } from '../../../../src/kinds/mission/plan/write.ts'
import { missionIn, RICH_MISSION, tasks } from '../../../support/mission-plans.ts'
import { planIn } from '../../../support/plan-texts.ts'

describe('two versions of a plan', () => {
  test('that are the same have no changes', () => {
    expect(comparePlans(missionIn(RICH_MISSION), missionIn(stringify(RICH_MISSION)))).toEqual({
      fields: [],
      added: [],
      removed: [],
      changed: [],
      edges: { added: [], removed: [] },
    })
  })

  test('are compared by tempId: tasks, fields and edges', () => {
    const before = missionIn({
      title: 'One',
      tasks: [
        { id: 'a', title: 'A', tags: ['x'], budget: { maxUsd: '1' } },
        { id: 'b', dependsOn: ['a'] },
        { id: 'gone', dependsOn: ['a', 'b'] },
      ],
    })
    const after = missionIn({
      title: 'Two',
      tasks: [
        { id: 'new', dependsOn: ['b'] },
        { id: 'b', dependsOn: [{ on: 'a', kind: 'order' }] },
        { id: 'a', title: 'A', tags: ['x', 'y'], budget: { maxUsd: 1.0 }, model: 'opus' },
      ],
    })
    expect(comparePlans(before, after)).toEqual({
      fields: [{ field: 'title', before: 'One', after: 'Two' }],
      added: ['new'],
      removed: ['gone'],
      changed: [
        {
          tempId: 'a',
          fields: [
            { field: 'tags', before: ['x'], after: ['x', 'y'] },
            { field: 'model', before: null, after: 'opus' },
          ],
        },
      ],
      edges: {
        added: [
          { from: 'b', to: 'new', kind: 'data' },
          { from: 'a', to: 'b', kind: 'order' },
        ],
        removed: [
          { from: 'a', to: 'b', kind: 'data' },
          { from: 'a', to: 'gone', kind: 'data' },
          { from: 'b', to: 'gone', kind: 'data' },
        ],
      },
    })
  })

  test('differ by an input in its values, not in the order of its keys', () => {
    const withInput = (input: unknown) => missionIn(tasks({ id: 'a', input }))
    const changes = (one: unknown, other: unknown) => comparePlans(withInput(one), withInput(other)).changed
    expect(changes({ x: 1, y: { a: 1, b: 2 } }, { y: { b: 2, a: 1 }, x: 1 })).toEqual([])
    expect(changes([1, 2], [2, 1])).toHaveLength(1)
  })
})

describe('the digest of a plan', () => {
  const digest = planDigest(missionIn(RICH_MISSION))
  const reversed = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(reversed)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(
            Object.entries(value)
              .reverse()
              .map(([key, inside]) => [key, reversed(inside)]),
          )
        : value

  test('is a sha-256 in hex that this plan always had', () => {
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    // Approvals name digests: another text for the same plan would make them all stale.
    expect(planDigest(missionIn({ tasks: [{ id: 'a' }] }))).toBe(
      'e46dde1e5bb6f67096bf6cdba4388495cddf6e432bec94c4505a230c5359ac45',
    )
  })

  test('does not depend on the order of keys, the spelling, the format or defaults written out', () => {
    expect(planDigest(missionIn(reversed(RICH_MISSION)))).toBe(digest)
    expect(planDigest(missionIn(stringify(RICH_MISSION)))).toBe(digest)
    const short = tasks({ id: 'a' }, { id: 'b', dependsOn: ['a'] })
    const long = tasks(
      { temp_id: 'a', title: 'a', optional: false, tags: [], description: null, timeouts: {} },
      {
        tempId: 'b',
        depends_on: [{ kind: 'data', on: 'a' }],
        trigger_rule: 'all_success',
        task_type: 'other',
      },
    )
    expect(planDigest(missionIn(long))).toBe(planDigest(missionIn(short)))
  })

  test('depends on everything else', () => {
    const [first, ...rest] = RICH_MISSION.tasks
    const others = [
      { ...RICH_MISSION, title: 'Another' },
      { ...RICH_MISSION, tasks: [{ ...first, complexity: 4 }, ...rest] },
      { ...RICH_MISSION, tasks: [...rest, first] },
      ...Object.keys(RICH_MISSION.tasks[1]!)
        .filter((field) => field !== 'tempId')
        .map((field) => ({
          ...RICH_MISSION,
          tasks: RICH_MISSION.tasks.map((task, i) =>
            i === 1
              ? { ...task, [field]: undefined, ...(field === 'dependsOn' ? { triggerRule: 'all_done' } : {}) }
              : task,
          ),
        })),
    ]
    const digests = others.map((plan) => planDigest(missionIn(plan)))
    expect(new Set([digest, ...digests]).size).toBe(others.length + 1)
  })

  test("is there for a project's plan, and no line counts in it", () => {
    const plan = 'project: p\ntracks: {A: [{id: A-001-x, depends_on: []}]}'
    expect(planDigest(planIn(plan))).toBe(planDigest(planIn(`\n\n${plan}`)))
  })

  test('is made from JSON without an order of keys', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value))
      }),
    )
  })
})

describe("a mission's plan that is written", () => {
  test.each(['json', 'yaml'] as const)('as %s is read as the same plan', (format) => {
    for (const plan of [
      RICH_MISSION,
      { tasks: [] },
      tasks({ id: 'a', input: [] }, { id: 'b', input: false }),
    ]) {
      const read = missionIn(plan)
      expect(missionIn(writePlan(read, format))).toEqual(read)
    }
  })

  test('has camelCase names, and no defaults', () => {
    expect(JSON.parse(writePlan(missionIn(RICH_MISSION), 'json'))).toEqual(RICH_MISSION)
    expect(writePlan(missionIn(tasks({ id: 'a', max_retries: 2, tags: ['yes', 'no'] })), 'yaml')).toBe(
      'tasks:\n  - tempId: a\n    tags: [ "yes", "no" ]\n    maxRetries: 2\n',
    )
  })
})

describe('the JSON Schema of a plan', () => {
  const schema = planSchema()
  const fits = (plan: unknown) => z.fromJSONSchema(schema as never).safeParse(plan).success

  test('is small enough for a prompt, and the same each time', () => {
    const text = JSON.stringify(schema)
    expect(text.length).toBeLessThan(7_000)
    expect(planSchema()).toEqual(schema)
  })

  test('names every field that the reader knows', () => {
    const { tasks: list } = schema.properties as { tasks: { items: { properties: object } } }
    expect(Object.keys(list.items.properties).sort()).toEqual(
      Object.keys(missionIn(RICH_MISSION).tasks[1]!).sort(),
    )
  })

  test.each<[what: string, plan: unknown]>([
    ['every field', RICH_MISSION],
    ['no tasks', { tasks: [] }],
    ['an id alone', tasks({ tempId: 'a' })],
    ['dollars as a number', tasks({ tempId: 'a', budget: { maxUsd: 2.5 } })],
    [
      'edges of both forms',
      tasks(
        { tempId: 'a' },
        { tempId: 'b', dependsOn: ['a', { on: 'task:01890a5d-ac96-774b-bcce-b302099a8057' }] },
      ),
    ],
    ['a human verifier', tasks({ tempId: 'a', verification: { kind: 'human' } })],
  ])('accepts what the reader accepts: %s', (_, plan) => {
    expect(checkPlan(plan, 'mission').ok).toBe(true)
    expect(fits(plan)).toBe(true)
  })

  test.each<[what: string, plan: unknown]>([
    ['no id', tasks({ title: 'x' })],
    ['an unknown field', tasks({ tempId: 'a', colour: 'red' })],
    ['complexity 11', tasks({ tempId: 'a', complexity: 11 })],
    ['a rule that is none', tasks({ tempId: 'a', triggerRule: 'never' })],
    ['a score beyond 1', tasks({ tempId: 'a', verification: { kind: 'agent', threshold: 1.7 } })],
    ['dollars that are none', tasks({ tempId: 'a', budget: { maxUsd: '$2' } })],
    [
      'an edge of another kind',
      tasks({ tempId: 'a' }, { tempId: 'b', dependsOn: [{ on: 'a', kind: 'loose' }] }),
    ],
    ['prose', 'First do a, then b.'],
  ])('refuses what the reader refuses: %s', (_, plan) => {
    expect(checkPlan(plan, 'mission').ok).toBe(false)
    expect(fits(plan)).toBe(false)
  })
})
