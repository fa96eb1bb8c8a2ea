import { describe, expect, test } from 'vitest'
import { type ActRequests, TaskActs } from '../src/requests/acts.ts'
import { LivePage, Refused } from './support/live-page.ts'
import { seeded } from './support/manual-clock.ts'
import { ModelServer } from './support/model-server.ts'

/** Acts show at once. The answer, or the event, confirms them. */

async function withTask(answer: Partial<ActRequests> = {}) {
  const server = new ModelServer(seeded(1))
  const task = server.create({ purpose: 'work', priority: 5, key: 'B-014', agent: null })
  const page = new LivePage(server)
  await page.start()
  const board = page.board()
  await page.clock.pass(10)
  const keys: string[] = []
  const requests: ActRequests = {
    actOnMany: async ({ act, fields, items }, key) => {
      keys.push(key)
      if (fields) Object.assign(task, fields, { version: task.version + 1 })
      if (act === 'pause') server.move(task, 'task_paused')
      const { state, generation, version } = task
      return {
        items: items.map(({ id }) => ({
          id,
          done: true,
          state,
          generation,
          version,
          code: null,
          detail: null,
        })),
      }
    },
    judge: async () => ({ version: task.version }),
    startOver: async () => ({ version: task.version }),
    ...answer,
  }
  const acts = new TaskActs(page.live, requests)
  const shown = () => page.live.world.shown(task.id)!
  const columnOf = () =>
    (['inbox', 'assigned', 'in_progress', 'review', 'done'] as const).find((name) =>
      board.column(name).ids.includes(task.id),
    )
  return { server, task, page, board, acts, keys, shown, columnOf }
}

const never = () => new Promise<never>(() => undefined)
const refusedItem = (id: string, detail: string) => ({
  ...{ id, done: false, state: 'completed' as const, generation: 4, version: 9, code: 'WRONG_STATE', detail },
})

describe('an act on a task', () => {
  test('moves its card at once, marked as unconfirmed, until its event comes', async () => {
    const { server, task, page, acts, shown, columnOf } = await withTask({ actOnMany: never })
    void acts.run({ act: 'cancel' }, [task.id])
    expect(shown()).toMatchObject({ state: 'cancelled', pending: { act: 'cancel', column: 'done' } })
    expect(columnOf()).toBe('done')
    const last = server.seq
    server.move(task, 'task_cancelled')
    page.deliver(last)
    await page.clock.pass(500)
    expect(shown().pending).toBeUndefined()
    expect(columnOf()).toBe('done')
  })

  test('that was answered stays marked until the event comes, or the card is read', async () => {
    const { task, page, acts, shown } = await withTask()
    const outcome = await acts.run({ act: 'pause' }, [task.id])
    expect(outcome).toMatchObject({ kind: 'done', words: 'B-014 paused', offer: { words: 'Undo' } })
    expect(shown().pending?.act).toBe('pause')
    await page.clock.pass(3_000)
    expect(shown()).toMatchObject({ state: 'paused' })
    expect(shown().pending).toBeUndefined()
  })

  test('that is refused goes back, and shows the present state of the task and what can be done', async () => {
    const { server, task, page, acts, columnOf, shown } = await withTask({
      // Somebody was faster, and that event is still on its way.
      actOnMany: async ({ items }) => {
        server.move(task, 'task_cancelled')
        return { items: [refusedItem(items[0]!.id, 'It is over.')] }
      },
    })
    const reads = page.calls.filter((call) => call === 'cards').length
    const outcome = await acts.run({ act: 'pause' }, [task.id])
    expect(outcome).toMatchObject({
      kind: 'refused',
      refused: [{ id: task.id, allowed: expect.arrayContaining(['reset']) }],
    })
    expect(outcome.words).toMatch(/^It is over\. B-014 is cancelled since \d+ (s|min)\.$/)
    expect(shown().pending).toBeUndefined()
    expect(columnOf()).toBe('done')
    expect(page.calls.filter((call) => call === 'cards').length).toBe(reads + 1)
  })

  test('that is refused by a server that then stops answering goes back to what was known', async () => {
    const { task, page, acts, columnOf } = await withTask({
      actOnMany: async ({ items }) => {
        page.failing = new Refused(503)
        return { items: [refusedItem(items[0]!.id, 'It is over.')] }
      },
    })
    const outcome = await acts.run({ act: 'pause' }, [task.id])
    expect(outcome.words).toMatch(/^It is over\. B-014 is queued/)
    expect(columnOf()).toBe('inbox')
    page.failing = null
    task.title = 'Read later'
    await page.clock.pass(5_000)
    expect(page.live.world.shown(task.id)!.title).toBe('Read later')
  })

  test('without an answer is not known to be done, and is sent again only by hand, under the same key', async () => {
    let failing: Error | null = new Refused(503)
    const keys: string[] = []
    const { task, acts, shown, columnOf } = await withTask({
      actOnMany: async ({ items }, key) => {
        keys.push(key)
        if (failing) throw failing
        const done = {
          done: true,
          state: 'cancelled' as const,
          generation: 0,
          version: 1,
          code: null,
          detail: null,
        }
        return { items: items.map(({ id }) => ({ id, ...done })) }
      },
    })
    const outcome = await acts.run({ act: 'cancel' }, [task.id])
    expect(outcome).toMatchObject({
      kind: 'unknown',
      words: expect.stringContaining('not known whether it was done'),
    })
    expect(shown().pending).toMatchObject({ act: 'cancel', column: null, isUnknown: true })
    expect(columnOf()).toBe('inbox')
    failing = null
    if (outcome.kind !== 'unknown') throw new Error(outcome.kind)
    expect(await outcome.askAgain()).toMatchObject({
      kind: 'done',
      offer: { words: 'Put back in the queue' },
    })
    expect(keys).toEqual([keys[0], keys[0]])
  })

  test('while there is no connection is refused in words, and nothing is sent', async () => {
    const { task, page, acts, keys, shown } = await withTask()
    page.isOnline = false
    page.live.online(false)
    expect(await acts.run({ act: 'pause' }, [task.id])).toMatchObject({
      kind: 'offline',
      words: expect.stringContaining('Nothing was sent'),
    })
    expect(keys).toEqual([])
    expect(shown().pending).toBeUndefined()
  })

  test('that changes the priority shows it at once, and undo restores the old one', async () => {
    const { task, page, acts, shown } = await withTask()
    const done = await acts.run({ act: 'priority', priority: 9 }, [task.id])
    expect(shown()).toMatchObject({ priority: 9, pending: { act: 'priority' } })
    await page.clock.pass(3_000)
    expect(shown().priority).toBe(9)
    expect(shown().pending).toBeUndefined()
    if (done.kind !== 'done') throw new Error(done.kind)
    await done.offer!.run()
    await page.clock.pass(3_000)
    expect(shown().priority).toBe(5)
  })

  test('is bound to the generation that was seen', async () => {
    let seen: unknown
    const { task, acts } = await withTask({
      actOnMany: async ({ items }) => {
        seen = items
        return { items: [] }
      },
    })
    await acts.run({ act: 'cancel' }, [task.id])
    expect(seen).toEqual([{ id: task.id, generation: 0 }])
  })
})

test('an act on many tasks reports the outcome of each', async () => {
  const { server, task, page, acts } = await withTask({
    actOnMany: async ({ items }) => ({
      items: items.map(({ id }, n) =>
        n === 0
          ? { ...refusedItem(id, 'No.'), done: true, detail: null, code: null }
          : refusedItem(id, 'No.'),
      ),
    }),
  })
  const last = server.seq
  const other = server.create({ purpose: 'work' })
  page.deliver(last)
  await page.clock.pass(500)
  const outcome = await acts.run({ act: 'retry' }, [task.id, other.id])
  expect(outcome).toMatchObject({
    kind: 'done',
    words: 'B-014 queued for a retry',
    refused: [{ id: other.id }],
  })
})
