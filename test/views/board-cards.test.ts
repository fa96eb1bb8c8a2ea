import { describe, expect, test } from 'vitest'
import { submit, take } from '../support/http-missions.ts'
import { expectRefusal, type Json, useServer, type Workspace } from '../support/http-workspace.ts'

/** What a card says beside its state: why nobody takes the task, and what it came to. */

const { workspace } = useServer()

const cardOf = async (w: Workspace, { id }: { id: string }): Promise<Json> => {
  const { columns } = (await w.call('GET', '/board')).body
  const all = Object.values(columns as Record<string, { items: Json[] }>).flatMap(({ items }) => items)
  return all.find((card) => card.id === id)!
}
const agent = (w: Workspace, slug: string, more: Json = {}) =>
  w.call('PUT', `/agents/${slug}`, { name: slug, adapterType: 'external', ...more })

describe('a queued task that nobody can take', () => {
  test('says which agents could, and how they stand', async () => {
    const w = await workspace()
    for (const slug of ['dev-1', 'dev-2']) await agent(w, slug, { capabilities: ['python'] })
    const [any, python, reserved, unknown] = [
      await w.make(),
      await w.make({ requiredCapabilities: ['python'] }),
      await w.make({ agent: 'dev-2' }),
      await w.make({ agent: 'dev-9', requiredCapabilities: [] }),
    ]
    for (const task of [any, python, reserved]) expect((await cardOf(w, task)).notTaken).toBeNull()
    expect((await cardOf(w, unknown)).notTaken).toEqual({
      requiredCapabilities: [],
      agents: [],
      agentCount: 0,
    })
    await w.post('/agents/dev-2/pause')
    expect((await cardOf(w, reserved)).notTaken).toMatchObject({
      agents: [{ slug: 'dev-2', state: 'paused' }],
      agentCount: 1,
    })
    // The other one can.
    expect((await cardOf(w, python)).notTaken).toBeNull()
    await w.post('/agents/dev-1/pause')
    expect((await cardOf(w, python)).notTaken).toMatchObject({
      requiredCapabilities: ['python'],
      agents: [{ slug: 'dev-1' }, { slug: 'dev-2' }],
      agentCount: 2,
    })
    await w.post('/agents/dev-1/resume')
    expect((await cardOf(w, any)).notTaken).toBeNull()
  })

  test('says so as the task itself does, also of a capability that only a worker has', async () => {
    const w = await workspace()
    await agent(w, 'dev-1')
    const task = await w.make({ requiredCapabilities: ['rust'] })
    expect((await cardOf(w, task)).notTaken).toMatchObject({ requiredCapabilities: ['rust'], agents: [] })
    expect((await w.read(task)).eligible).toEqual({ agents: [], workers: 0 })
    await w.post('/workers', { worker: 'w-1', agent: 'alpha', capacity: 1, capabilities: ['rust'] })
    expect((await cardOf(w, task)).notTaken).toBeNull()
  })

  test('says it only while it is queued', async () => {
    const w = await workspace()
    const task = await w.make({ agent: 'nobody' })
    expect((await cardOf(w, task)).notTaken).not.toBeNull()
    await w.post(`/tasks/${task.id}/pause`)
    expect((await cardOf(w, task)).notTaken).toBeNull()
  })
})

describe('a finished task', () => {
  test('says what it came to, who did it and how long its attempts took', async () => {
    const w = await workspace()
    const task = await w.make()
    const held = await take(w)
    expect(await cardOf(w, task)).toMatchObject({ summary: null, workMs: null, lastAgent: 'alpha' })
    const fenced = { session: 's-alpha', generation: held.generation }
    const summary = `Adds the form. ${'x'.repeat(500)}`
    await w.post(`/tasks/${task.id}/submit`, { ...fenced, result: 1, summary })
    const card = await cardOf(w, task)
    expect(card).toMatchObject({ state: 'completed', summary: summary.slice(0, 200), lastAgent: 'alpha' })
    expect(card.workMs).toBeGreaterThanOrEqual(0)
    // Done again, it has come to nothing yet.
    await w.post(`/tasks/${task.id}/reset`)
    expect(await cardOf(w, task)).toMatchObject({ state: 'queued', summary: null, workMs: null })
  })

  test('has no summary where its result has none', async () => {
    const w = await workspace()
    const task = await w.make()
    await submit(w, await take(w))
    expect(await cardOf(w, task)).toMatchObject({ state: 'completed', summary: null })
  })
})

test('a new attempt does not show the progress of the one before', async () => {
  const w = await workspace()
  const task = await w.make()
  const first = await take(w)
  const fenced = { session: 's-alpha', generation: first.generation }
  await w.post(`/tasks/${task.id}/progress`, { ...fenced, percent: 60, step: 'half' })
  expect(await cardOf(w, task)).toMatchObject({ percent: 60, step: 'half' })
  await w.post(`/tasks/${task.id}/release`, fenced)
  const again = await take(w, 'beta')
  expect(await cardOf(w, task)).toMatchObject({ percent: null, step: null })
  const anew = { session: 's-beta', generation: again.generation }
  await w.post(`/tasks/${task.id}/progress`, { ...anew, step: 'reading' })
  expect(await cardOf(w, task)).toMatchObject({ percent: null, step: 'reading' })
  await w.post(`/tasks/${task.id}/progress`, { ...anew, percent: 10 })
  expect(await cardOf(w, task)).toMatchObject({ percent: 10, step: 'reading' })
})

describe('the filter of a board', () => {
  const titles = async (w: Workspace, query: string) => {
    const { columns, counts } = (await w.call('GET', `/board?${query}`)).body
    const found = Object.values(columns as Record<string, { items: Json[]; count: number }>)
    const items = found.flatMap((column) => column.items)
    const sum = Object.values(counts as Record<string, number>).reduce((a, b) => a + b, 0)
    expect([query, sum, found.reduce((all, { count }) => all + count, 0)]).toEqual([
      query,
      items.length,
      items.length,
    ])
    return items.map(({ title }) => title).sort()
  }

  test('takes several values, and those that are not wanted, with right counts', async () => {
    const w = await workspace()
    const make = (title: string, more: Json = {}) => w.make({ title, ...more })
    await make('red', { tags: ['red'], taskType: 'build', priority: 9 })
    await make('blue', { tags: ['blue'], taskType: 'docs' })
    const both = await make('both', { tags: ['red', 'blue'], taskType: 'docs', priority: 1 })
    await make('a,b', { tags: ['a,b'] })
    await w.post(`/tasks/${both.id}/cancel`)
    expect(await titles(w, 'tag=red,blue')).toEqual(['blue', 'both', 'red'])
    expect(await titles(w, 'tag=red,!blue')).toEqual(['red'])
    expect(await titles(w, 'tag=!red')).toEqual(['a,b', 'blue'])
    expect(await titles(w, 'tag=a%5C,b')).toEqual(['a,b'])
    expect(await titles(w, 'state=cancelled,failed')).toEqual(['both'])
    expect(await titles(w, 'state=!cancelled')).toEqual(['a,b', 'blue', 'red'])
    expect(await titles(w, 'state=queued&type=docs')).toEqual(['blue'])
    expect(await titles(w, 'priority=1,9')).toEqual(['both', 'red'])
    expect(await titles(w, 'type=!docs,!build')).toEqual(['a,b'])
  })

  test('that names what cannot be is refused with the value', async () => {
    const w = await workspace()
    for (const [query, detail] of [
      ['state=broken', 'names no state: "broken"'],
      ['state=queued,', 'names no state: ""'],
      ['priority=11', 'names no priority from 1 to 10: "11"'],
      ['mission=x', 'names no mission by its id: "x"'],
      ['tag=', ''],
      [`tag=${Array.from({ length: 101 }, (_, n) => n).join(',')}`, 'has more than 100 values'],
    ] as const) {
      const refused = await w.call('GET', `/board?${query}`)
      expectRefusal(refused, 400, 'VALIDATION_FAILED')
      expect(JSON.stringify(refused.body.errors)).toContain(JSON.stringify(detail).slice(1, -1))
    }
    expectRefusal(await w.call('GET', '/board?project=!nowhere'), 404, 'NOT_FOUND')
  })

  test('is offered the tags and types that tasks have', async () => {
    const w = await workspace()
    await w.make({ tags: ['red', 'blue'], taskType: 'docs' })
    const task = await w.make({ tags: ['red'], taskType: 'build' })
    await w.post(`/tasks/${task.id}/cancel`)
    expect((await w.call('GET', '/board/values')).body).toEqual({
      tags: ['blue', 'red'],
      types: ['build', 'docs'],
    })
  })
})
