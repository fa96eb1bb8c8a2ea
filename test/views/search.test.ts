import { describe, expect, test } from 'vitest'
import { actOn, makeMission, submit, take } from '../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'

/** Finding tasks, missions, agents and runs by a few letters. */

const { workspace, served } = useServer()

const search = async (w: Workspace, q: string, more = ''): Promise<Json & { items: Json[] }> => {
  const answer = await w.call('GET', `/search?q=${encodeURIComponent(q)}${more}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}
const titles = async (w: Workspace, q: string) => (await search(w, q)).items.map(({ title }) => title)
describe('a search', () => {
  test('finds a task by its key, the beginning of its key, part of its title, its id and the beginning of its id', async () => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    const keyed = await w.make({ title: 'Paint the door', key: 'A-001-paint', project: 'shop' })
    const plain = await w.make({ title: 'Wash the WINDOW' })
    const task = {
      kind: 'task',
      id: keyed.id,
      key: 'A-001-paint',
      title: 'Paint the door',
      state: 'queued',
      updatedAt: keyed.updatedAt,
      path: `/tasks/${keyed.id}`,
      error: null,
      number: expect.any(Number),
      mission: null,
    }
    for (const q of ['A-001-paint', 'A-001', 'paint the', ' door ', keyed.id])
      expect((await search(w, q)).items, q).toEqual([task])
    for (const q of ['window', 'h the w', plain.id, plain.id.toUpperCase()])
      expect(await titles(w, q), q).toEqual(['Wash the WINDOW'])
    const both = (await search(w, keyed.id.slice(0, 8))).items.map(({ id }) => id)
    expect(both).toEqual(expect.arrayContaining([keyed.id]))
    expect(await titles(w, plain.id.replaceAll('-', '').slice(0, 31))).toContain('Wash the WINDOW')
  })

  test('finds open tasks in every state, and finished ones, but no archived ones except by their id', async () => {
    const w = await workspace()
    for (const title of ['blue one', 'blue two', 'blue three']) await w.make({ title })
    await submit(w, await take(w))
    await take(w)
    expect((await titles(w, 'blue')).sort()).toEqual(['blue one', 'blue three', 'blue two'])
    const states = (await search(w, 'blue')).items.map(({ state }) => state)
    expect(states.sort()).toEqual(['assigned', 'completed', 'queued'])
    const gone = await w.make({ title: 'blue four' })
    await w.on(gone, 'cancel')
    await w.on(gone, 'archive')
    expect(await titles(w, 'blue f')).toEqual([])
    expect(await titles(w, gone.id)).toEqual(['blue four'])
  })

  test('finds missions by title and id, and agents by slug and name', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }], { title: 'Move to the new office' })
    await w.call('PUT', '/agents/dev-1', { name: 'Office clerk' })
    const { items } = await search(w, 'office')
    expect(items).toMatchObject([
      { kind: 'mission', id: mission.id, title: 'Move to the new office', path: `/missions/${mission.id}` },
      { kind: 'agent', id: 'dev-1', title: 'Office clerk', state: 'idle', path: '/agents/dev-1' },
    ])
    expect((await search(w, String(mission.id))).items).toMatchObject([{ kind: 'mission', id: mission.id }])
    expect((await search(w, 'dev-')).items).toMatchObject([{ kind: 'agent', id: 'dev-1' }])
    await actOn(w, mission, 'pause')
    expect((await search(w, 'new off')).items).toMatchObject([{ kind: 'mission', state: 'paused' }])
  })

  test('finds a task by a part of its last error, a run by that of its own, and by no short part', async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Build it', maxRetries: 0 })
    const error = `${'x'.repeat(100)} Cannot find module './Missing.js' ${'y'.repeat(1_500)}`
    const failed = await w.on(task, 'fail', { ...fence('s-alpha', 1), failureClass: 'quality', error })
    expect(failed.status).toBe(200)
    await w.call('PUT', '/agents/broken', {
      adapterType: 'process',
      adapterConfig: { command: '/no/such/program' },
    })
    await w.post('/agents/broken/wakeup')
    await w.happens('run_finished')
    expect((await search(w, 'find MODULE')).items).toMatchObject([
      { kind: 'task', id: task.id, error: expect.stringContaining("Cannot find module './Missing.js'") },
    ])
    expect((await search(w, 'no/such/prog')).items).toMatchObject([
      { kind: 'run', title: 'broken', error: expect.stringContaining('/no/such/program') },
    ])
    expect((await search(w, 'xxx')).items).toEqual([])
    const [found] = (await search(w, 'build')).items
    expect(found).toMatchObject({ id: task.id, error: null })
  })

  test('finds a task by its number, which it says with the mission of the task', async () => {
    const w = await workspace()
    await makeMission(w, [{ tempId: 'a', title: 'First step' }], { title: 'Move house' })
    const [found] = (await search(w, 'First step')).items
    expect(found).toMatchObject({ kind: 'task', mission: 'Move house', number: expect.any(Number) })
    for (const q of [`#${found!.number}`, String(found!.number)])
      expect((await search(w, q)).items[0], q).toEqual(found)
  })

  test('answers with 20 at most, and no kind crowds out the others', async () => {
    const w = await workspace()
    const tasks = Array.from({ length: 40 }, (_, n) => ({ title: `green ${n}` }))
    await w.post('/tasks/batch', { tasks })
    await makeMission(w, [{ tempId: 'a' }], { title: 'The green mission' })
    const { items } = await search(w, 'g')
    expect(items).toHaveLength(20)
    expect(items.slice(0, 2)).toMatchObject([{ kind: 'task' }, { kind: 'mission' }])
    expect((await search(w, 'green', '&limit=3')).items).toHaveLength(3)
    expect((await search(w, 'green', '&limit=20')).items).toHaveLength(20)
    expect((await search(w, 'green', '&limit=0')).items).toHaveLength(1)
  })

  test('takes letters as they are: no pattern, no quote and no case changes what they mean', async () => {
    const w = await workspace()
    await w.make({ title: '100 % of "it"; ÄRGER' })
    for (const q of ['%', '100 %', '"it"', ';', 'ärger']) expect(await titles(w, q), q).toHaveLength(1)
    for (const q of ['_', '100_%', '1%it', '\\']) expect(await titles(w, q), q).toEqual([])
  })

  test('without letters finds nothing, and says up to which event it knows', async () => {
    const w = await workspace()
    await w.make()
    const { seq } = (await w.events()).at(-1)
    expect((await w.call('GET', '/search')).body).toEqual({ items: [], isBounded: false, seq })
    expect(await search(w, '   ')).toEqual({ items: [], isBounded: false, seq })
    expect(await search(w, 'Fix')).toMatchObject({ items: [{ title: 'Fix login' }], isBounded: false, seq })
  })

  test('finds nothing of another workspace, not even by a whole id or a key', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const task = await other.make({ title: 'Secret plan', key: 'A-001-secret' })
    const mission = await makeMission(other, [{ tempId: 'a' }], { title: 'Secret mission' })
    await other.call('PUT', '/agents/secret-agent', {})
    for (const q of ['secret', 'A-001', task.id, String(mission.id), task.id.slice(0, 6)])
      expect((await search(w, q)).items, q).toEqual([])
  })

  test('refuses controls, very long texts and two texts', async () => {
    const w = await workspace()
    for (const q of ['%00', 'x'.repeat(201), 'a&q=b', ''])
      expectRefusal(await w.call('GET', `/search?q=${q}`), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.call('GET', '/search?q=a&limit=x'), 400, 'VALIDATION_FAILED')
  })

  test('for one letter that thousands of tasks have is bounded, and says so', async () => {
    const w = await workspace()
    const tasks = Array.from({ length: 1_000 }, (_, n) => ({ title: `e ${n}` }))
    for (let n = 0; n < 6; n++) expect((await w.post('/tasks/batch', { tasks })).status).toBe(201)
    const { items, isBounded } = await search(w, 'e')
    expect([items.length, isBounded]).toEqual([20, true])
    expect(await search(w, 'z')).toMatchObject({ items: [], isBounded: true })
  })

  test('says when there is more than it looked through', async () => {
    const w = await workspace()
    const { id } = await w.make({ title: 'one' })
    const counted = (open: number, done: number) =>
      superuser(served().databaseUrl, (client) =>
        client.query(
          `update baton.workspace_counters set queued = $2, completed = $3
            where workspace_id = (select workspace_id from baton.tasks where uuid = $1)`,
          [id, open, done],
        ),
      )
    for (const [open, done, isBounded] of [
      [5_000, 3_000, false],
      [5_001, 0, true],
      [1, 3_001, true],
    ] as const) {
      await counted(open, done)
      expect((await search(w, 'on')).isBounded, `${open} open, ${done} done`).toBe(isBounded)
    }
    await counted(1, 0)
  })
})
