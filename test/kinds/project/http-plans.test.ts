import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { CODITECT_PLAN } from '../../support/coditect-plan.ts'
import {
  nothingIsWrittenBy as nothingIsWritten,
  openProject,
  type Planned,
  putPlan as put,
  tasksByKey as tasksOf,
} from '../../support/http-plans.ts'
import { expectRefusal, fence, type Json, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../../support/server.ts'

/** Project plans (Coditect 3.7): imported as a whole or not at all, and exported unchanged. */

let server: ServerUnderTest
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.close())

const project = (slug?: string) => openProject(server, slug)
const nothingIsWrittenBy = (act: () => Promise<unknown>) => nothingIsWritten(server, act)

async function exported(w: Workspace, slug: string, format: 'yaml' | 'json'): Promise<string> {
  const headers = { authorization: `Bearer ${w.ownerKey}` }
  const answer = await fetch(`${server.api}/projects/${slug}/plan?format=${format}`, { headers })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    `application/${format}; charset=utf-8`,
  ])
  return answer.text()
}

const FORMATS: [format: 'yaml' | 'json', plan: string | Json][] = [
  ['yaml', CODITECT_PLAN],
  ['json', parse(CODITECT_PLAN)],
]

describe('the plan of Coditect 3.7', () => {
  test.each(FORMATS)(
    'as %s becomes tasks with their texts, tracks and dependencies',
    async (_format, plan) => {
      const w = await project('ecommerce-rebuild')
      const answer = await put(w, 'ecommerce-rebuild', plan)
      expect(answer).toMatchObject({
        status: 200,
        body: {
          project: 'ecommerce-rebuild',
          created: 6,
          updated: 0,
          unchanged: 0,
          notInPlan: [],
          notTaken: [],
        },
      })
      const tasks = await tasksOf(w)
      const keys = new Map([...tasks.values()].map(({ id, key }) => [id, key]))
      const seen = [...tasks.values()].map(
        ({ key, track, project, title, description, state, dependsOn }) => [
          ...[key, track, project, title === description && title, state],
          dependsOn.map((id) => keys.get(id)).sort(),
        ],
      )
      const of = 'ecommerce-rebuild'
      expect(seen).toEqual([
        ['A-001-core-framework', 'A', of, 'Initialize core application framework', 'queued', []],
        [
          'A-002-di-container',
          'A',
          of,
          'Setup dependency injection container',
          'pending',
          ['A-001-core-framework'],
        ],
        [
          'A-003-event-bus',
          'A',
          of,
          'Implement event bus for async communication',
          'pending',
          ['A-002-di-container'],
        ],
        ['B-001-schema-design', 'B', of, 'Design database schema', 'queued', []],
        [
          'B-002-entity-models',
          'B',
          of,
          'Create entity models from schema',
          'pending',
          ['A-001-core-framework', 'B-001-schema-design'],
        ],
        [
          'B-003-repositories',
          'B',
          of,
          'Implement repository pattern',
          'pending',
          ['A-002-di-container', 'B-002-entity-models'],
        ],
      ])
      expect(await w.happens('project_planned')).toMatchObject([{ payload: { created: 6, updated: 0 } }])
    },
  )

  test('is worked off in the order it specifies', async () => {
    const w = await project('ecommerce-rebuild')
    await put(w, 'ecommerce-rebuild', CODITECT_PLAN)
    const done: string[] = []
    while (done.length < 6) {
      for (const agent of ['alpha', 'beta']) {
        const { claims } = await w.next({ agent, session: `s-${agent}`, waitMs: 2_000 })
        for (const { taskId, generation, task } of claims) {
          await w.on({ id: taskId }, 'submit', { ...fence(`s-${agent}`, generation), result: task.key })
          done.push(task.key)
        }
      }
    }
    for (const { key, dependsOn } of (await tasksOf(w)).values())
      for (const before of dependsOn) {
        const other = [...(await tasksOf(w)).values()].find(({ id }) => id === before)!
        expect(done.indexOf(other.key), `${other.key} before ${key}`).toBeLessThan(done.indexOf(key))
      }
  })

  test.each(FORMATS)('exported as %s and imported again changes nothing at all', async (format, plan) => {
    const w = await project('ecommerce-rebuild')
    await put(w, 'ecommerce-rebuild', plan)
    const text = await exported(w, 'ecommerce-rebuild', format)
    await nothingIsWrittenBy(async () => {
      for (const again of [text, plan]) {
        const headers = { 'content-type': `application/${format}` }
        expect((await put(w, 'ecommerce-rebuild', again, headers)).body).toEqual({
          ...{
            project: 'ecommerce-rebuild',
            created: 0,
            updated: 0,
            unchanged: 6,
            notInPlan: [],
            notTaken: [],
          },
        })
      }
    })
  })
})

/** A plan with every field a plan can have. */
const RICH = `
project: shop
name: The Shop
tracks:
  A:
    agents: 3
    sequential: true
    tasks:
      - id: A-001-first
        title: "Yes: #1"
        description: |
          More than
          one line.
        type: coding
        priority: 9
        tags: [no, "2", "😀"]
        capabilities: [rust, go]
        agent: beta
        max_retries: 0
        input: { a: [1, null, { b: "x" }], "": -0.5, yes: no }
      - id: A-002-whole
        depends_on: [B-001-base]
        merge: task
        subtasks:
          - description: the first half
            priority: 7
          - id: A-002-whole::2
            depends_on: [B-002-more]
            trigger_rule: all_done
      - id: A-005-last
        trigger_rule: none_failed
  B:
    - id: B-001-base
    - id: B-002-more
      depends_on: [B-001-base]
      trigger_rule: all_done
      subtasks:
        - tags: [x]
        - {}
        - capabilities: [sql]
`

describe('a plan with every field', () => {
  test.each(['yaml', 'json'] as const)(
    'is the same after an export as %s and an import, here and elsewhere',
    async (format) => {
      const w = await project()
      expect((await put(w, 'shop', RICH)).body).toMatchObject({ created: 10 })
      const text = await exported(w, 'shop', format)
      const type = { 'content-type': `application/${format}` }
      await nothingIsWrittenBy(async () => {
        expect((await put(w, 'shop', text, type)).body).toMatchObject({
          created: 0,
          updated: 0,
          unchanged: 10,
        })
        expect((await put(w, 'shop', RICH)).body).toMatchObject({ created: 0, updated: 0, unchanged: 10 })
      })
      const elsewhere = await project()
      expect((await put(elsewhere, 'shop', text, type)).body).toMatchObject({ created: 10 })
      expect(await exported(elsewhere, 'shop', format)).toBe(text)
      const plain = (one: Planned) => ({ ...one, ...ALWAYS_NEW, dependsOn: one.dependsOn.length })
      const [here, there] = [await tasksOf(w), await tasksOf(elsewhere)]
      for (const [key, task] of here) expect(plain(there.get(key)!), key).toEqual(plain(task))
    },
  )
  // Whether people have been told yet that its agent is not there is a matter of seconds.
  const TOLD = { awaits: null, version: null }
  const ALWAYS_NEW = { id: null, createdAt: null, createdBy: null, updatedAt: null, parentId: null, ...TOLD }

  test('keeps every field of it', async () => {
    const w = await project()
    await put(w, 'shop', RICH)
    const tasks = await tasksOf(w)
    expect(tasks.get('A-001-first')).toMatchObject({
      title: 'Yes: #1',
      description: 'More than\none line.\n',
      taskType: 'coding',
      priority: 9,
      tags: ['no', '2', '😀'],
      requiredCapabilities: ['go', 'rust'],
      agent: 'beta',
      maxRetries: 0,
      input: { a: [1, null, { b: 'x' }], '': -0.5, yes: 'no' },
      state: 'queued',
    })
    const whole = tasks.get('A-002-whole')!
    expect(whole).toMatchObject({ merge: 'task', state: 'pending' })
    expect(tasks.get('A-002-whole::1')).toMatchObject({ parentId: whole.id, priority: 7, state: 'pending' })
    const waitsFor = (key: string) =>
      tasks
        .get(key)!
        .dependsOn.map((id) => [...tasks.values()].find((one) => one.id === id)!.key)
        .sort()
    expect(waitsFor('A-002-whole')).toEqual(['A-002-whole::1', 'A-002-whole::2'])
    expect(waitsFor('A-002-whole::1')).toEqual(['A-001-first', 'B-001-base'])
    expect(waitsFor('A-002-whole::2')).toEqual(['A-001-first', 'B-001-base', 'B-002-more'])
    expect(waitsFor('A-005-last')).toEqual(['A-002-whole'])
    expect((await w.call('GET', '/projects/shop')).body).toMatchObject({
      name: 'The Shop',
      tracks: [
        { track: 'A', maxAgents: 3, sequential: true, pending: 3 },
        { track: 'B', maxAgents: 1, sequential: false, pending: 2 },
      ],
    })
  })
})

test('a plan that is imported concurrently exists once', async () => {
  const w = await project('ecommerce-rebuild')
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => put(w, 'ecommerce-rebuild', CODITECT_PLAN)),
  )
  const made = answers.filter(({ status, body }) => status === 200 && body.created > 0)
  expect(made).toHaveLength(1)
  for (const { status, body } of answers)
    if (status === 200) expect([0, 6]).toContain(body.created)
    else expect([status, body.code]).toEqual([409, 'ALREADY_EXISTS'])
  expect((await tasksOf(w)).size).toBe(6)
  expect((await put(w, 'ecommerce-rebuild', CODITECT_PLAN)).body).toMatchObject({ created: 0, unchanged: 6 })
})

describe('a plan that is imported again', () => {
  const plan = (...tasks: string[]) =>
    `project: shop\ntracks:\n  A:\n${tasks.map((task) => `    - ${task}\n`).join('')}`

  test('creates its new tasks, applies its new texts, and leaves what it does not name', async () => {
    const w = await project()
    await put(w, 'shop', plan('{id: A-001-a}', '{id: A-002-b}', '{id: A-003-c, depends_on: [A-001-a]}'))
    const words = 'title: New, description: words, tags: [x], priority: 9, max_retries: 1, agent: beta'
    const again = await put(
      w,
      'shop',
      plan(`{id: A-001-a, ${words}}`, '{id: A-002-b}', '{id: A-004-d, depends_on: [A-001-a]}'),
    )
    expect(again.body).toEqual({
      project: 'shop',
      created: 1,
      updated: 1,
      unchanged: 1,
      notInPlan: ['A-003-c'],
      notTaken: [],
    })
    const tasks = await tasksOf(w)
    expect(tasks.get('A-001-a')).toMatchObject({
      ...{
        title: 'New',
        description: 'words',
        tags: ['x'],
        priority: 9,
        maxRetries: 1,
        agent: 'beta',
        version: 2,
      },
    })
    expect(tasks.get('A-002-b')).toMatchObject({ version: 1 })
    expect(tasks.get('A-003-c')).toMatchObject({ state: 'pending' })
    expect(tasks.get('A-004-d')).toMatchObject({ state: 'pending', dependsOn: [tasks.get('A-001-a')!.id] })
  })

  test('does not touch what is done, and lets new tasks depend on it or not', async () => {
    const w = await project()
    await put(w, 'shop', plan('{id: A-001-a}'))
    const task = (await tasksOf(w)).get('A-001-a')!
    await w.claim(task)
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    const { blocks, ...done } = await w.read(task)
    expect(blocks).toEqual([])
    const again = await put(
      w,
      'shop',
      plan('{id: A-001-a, title: New}', '{id: A-002-b, depends_on: [A-001-a]}'),
    )
    expect(again.body).toMatchObject({ created: 1, updated: 0, unchanged: 1 })
    expect(await w.read(task)).toMatchObject(done)
    expect((await tasksOf(w)).get('A-002-b')).toMatchObject({ state: 'queued' })
  })

  test('may divide a task that waits, and not one that is running', async () => {
    const w = await project()
    await put(w, 'shop', plan('{id: A-001-a}', '{id: A-002-b}'))
    const held = (await tasksOf(w)).get('A-002-b')!
    await w.claim(held)
    const divided = plan('{id: A-001-a, subtasks: [{}, {}]}', '{id: A-002-b}')
    expect((await put(w, 'shop', divided)).body).toMatchObject({ created: 2, unchanged: 2 })
    const whole = (await tasksOf(w)).get('A-001-a')!
    expect(whole).toMatchObject({ state: 'pending', merge: 'object' })
    // Upkeep looks for a cycle among its parts, and notes that it did.
    await until(async () => (await w.read(whole)).dueAt === null)
    await nothingIsWrittenBy(async () => {
      const late = await put(
        w,
        'shop',
        plan('{id: A-001-a, subtasks: [{}, {}]}', '{id: A-002-b, subtasks: [{}, {}]}'),
      )
      expectRefusal(late, 409, 'PLAN_CONFLICT')
      expect(late.body.errors.map(({ field, line }: Json) => [field, line])).toEqual([
        ['A-002-b::1', 5],
        ['A-002-b::2', 5],
      ])
    })
  })

  test('is refused as a whole when it has other dependencies, and every one of them is named', async () => {
    const w = await project()
    await put(w, 'shop', plan('{id: A-001-a}', '{id: A-002-b, depends_on: [A-001-a]}', '{id: A-003-c}'))
    await nothingIsWrittenBy(async () => {
      const changed = plan(
        ...[
          '{id: A-001-a, title: New words}',
          '{id: A-002-b}',
          '{id: A-003-c, depends_on: [A-004-d]}',
          '{id: A-004-d}',
        ],
      )
      const refused = await put(w, 'shop', changed)
      expectRefusal(refused, 409, 'PLAN_CONFLICT')
      expect(refused.body.errors).toMatchObject([
        { field: 'A-002-b', line: 5, message: expect.stringContaining('has other dependencies') },
        { field: 'A-003-c', line: 6, message: expect.stringContaining('has other dependencies') },
      ])
    })
  })

  test('as it was exported is unchanged, however its tracks were set and whatever its tasks depend on', async () => {
    const w = await project()
    await put(w, 'shop', plan('{id: A-001-a}'))
    await w.call('PUT', '/projects/shop/tracks/A', { maxAgents: null })
    const outside = await w.make()
    await w.make({ project: 'shop', key: 'A-002-b', dependsOn: [outside.id] })
    for (const format of ['yaml', 'json'] as const) {
      const text = await exported(w, 'shop', format)
      await nothingIsWrittenBy(async () => {
        const again = await put(w, 'shop', text, { 'content-type': `application/${format}` })
        expect(again.body, text).toMatchObject({ created: 0, updated: 0, unchanged: 2 })
      })
    }
    expect((await w.call('GET', '/projects/shop')).body.tracks).toMatchObject([
      { track: 'A', maxAgents: null },
    ])
  })
})
