import { describe, expect, test } from 'vitest'
import { parseTaskName } from '../../../src/kinds/task/rules/names.ts'
import { idCarriedBy } from '../../../src/pure/ids.ts'
import { expectRefusal, useServer, type Workspace } from '../../support/http-workspace.ts'

/** Tasks by the names that people use. */

const { workspace } = useServer()
const read = (w: Workspace, name: string, below = '') =>
  w.call('GET', `/tasks/${encodeURIComponent(name)}${below}`)

describe('a task is read', () => {
  test('by its id, its key, the track and number of its key, and the number that its id carries', async () => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    const task = await w.make({ key: 'B-003-dashboard', project: 'shop' })
    await w.make({ key: 'B-003-dashboard::1', project: 'shop' })
    await w.make({ key: 'B-030-other', project: 'shop' })
    const number = idCarriedBy(task.id)
    for (const name of [task.id, 'B-003-dashboard', 'B-003', `#${number}`, `${number}`]) {
      const { status, body } = await read(w, name)
      expect([name, status, body.id]).toEqual([name, 200, task.id])
    }
    expect((await read(w, 'B-003-dashboard::1')).body.key).toBe('B-003-dashboard::1')
  })

  test('by them on all paths below it that only read', async () => {
    const w = await workspace()
    await w.make({ key: 'B-003-dashboard' })
    for (const below of ['claims', 'dependencies', 'results', 'runs', 'events', 'logs', 'comments'])
      expect([below, (await read(w, 'B-003', `/${below}`)).status]).toEqual([below, 200])
    expectRefusal(await w.post('/tasks/B-003-dashboard/cancel'), 404, 'NOT_FOUND')
    expectRefusal(await w.call('PATCH', '/tasks/B-003-dashboard', { priority: 1 }), 404, 'NOT_FOUND')
  })

  test('by no name that several have, or that none has in this workspace', async () => {
    const [w, other] = [await workspace(), await workspace()]
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    const theirs = await other.make({ key: 'C-001-theirs' })
    await w.make({ key: 'B-003-dashboard' })
    await w.make({ key: 'B-003-dashboard', project: 'shop' })
    const refused = await read(w, 'B-003-dashboard')
    expectRefusal(refused, 404, 'NOT_FOUND')
    expect(refused.body.detail).toContain('several')
    const names = ['C-001-theirs', `${idCarriedBy(theirs.id)}`, '#0', 'B-004', '9999999999999999']
    for (const name of names)
      for (const below of ['', '/runs', '/events'])
        expectRefusal(await read(w, name, below), 404, 'NOT_FOUND')
    const found = async (q: string) => (await w.call('GET', `/search?q=${q}`)).body.items
    expect(await found(`${idCarriedBy(theirs.id)}`)).toEqual([])
  })

  test('by its number in a search', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'Nameless' })
    const number = idCarriedBy(task.id)
    for (const q of [`${number}`, `%23${number}`])
      expect((await w.call('GET', `/search?q=${q}`)).body.items).toMatchObject([{ id: task.id }])
  })
})

test('what is neither a number nor a key is no name', () => {
  for (const text of ['', '#', '#x', '-1', '1.5', 'b-003', 'B-3', 'B-0003', '12345678901234567', 'B-003-'])
    expect([text, parseTaskName(text)]).toEqual([text, null])
})
