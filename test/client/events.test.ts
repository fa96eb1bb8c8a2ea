import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BatonEvent, createClient, type EventOptions } from '../../src/client/client.ts'
import { followEvents } from '../../src/client/events.ts'
import { useServer, type Workspace } from '../support/http-workspace.ts'
import { type CuttableConnection, cuttableConnectionTo } from '../support/proxy.ts'

/** The client follows the log through whatever happens to its connection. */

const { served, workspace } = useServer()

let w: Workspace
let proxy: CuttableConnection
beforeAll(async () => {
  w = await workspace()
  proxy = await cuttableConnectionTo(served().url)
})
afterAll(() => {
  // Connections that are kept for other requests would keep it open.
  proxy.cut()
  return proxy.close()
})

const through = (url: string) => createClient({ baseUrl: url, key: w.ownerKey })

/** The events up to the one about a task of this title. */
async function eventsUpTo(title: string, options: EventOptions, onEvent: (seen: number) => void = () => {}) {
  const seen: BatonEvent[] = []
  for await (const event of through(proxy.url).events(options)) {
    seen.push(event)
    if (event.payload.title === title) break
    onEvent(seen.length)
  }
  return seen
}

const seqs = (events: readonly { seq: number }[]) => events.map(({ seq }) => seq)
const inLog = async (query: { after: number; type?: string }) =>
  seqs((await through(served().url).get('/events', { query: { ...query, limit: 200 } })).items)

test('events arrive once and in order through a connection that is cut again and again', async () => {
  const after = (await through(served().url).read('/tasks')).seq
  const following = eventsUpTo('the last one', { after }, (seen) => {
    if (seen % 4 !== 0) return
    proxy.cut()
    setImmediate(() => proxy.restore())
  })
  for (let made = 0; made < 20; made++) await w.make({ title: `one of many ${made}` })
  await w.make({ title: 'the last one' })
  const seen = seqs(await following)
  expect(seen.length).toBeGreaterThan(20)
  expect(seen).toEqual((await inLog({ after })).slice(0, seen.length))
})

test('a filter holds after a cut, too', async () => {
  const after = (await through(served().url).read('/tasks')).seq
  const following = eventsUpTo('the last made', { after, type: 'task_created' }, () => {
    proxy.cut()
    setImmediate(() => proxy.restore())
  })
  for (let made = 0; made < 5; made++) await w.on(await w.make({ title: `made ${made}` }), 'cancel')
  await w.make({ title: 'the last made' })
  const seen = await following
  expect(new Set(seen.map(({ type }) => type))).toEqual(new Set(['task_created']))
  expect(seqs(seen)).toEqual(await inLog({ after, type: 'task_created' }))
})

test('following ends with its signal, connected or not', async () => {
  const gone = new AbortController()
  const events = through(proxy.url).events({ after: 0, signal: gone.signal })
  expect((await events.next()).done).toBe(false)
  proxy.cut()
  const rest = (async () => {
    for await (const _event of events);
  })()
  await expect.poll(() => proxy.inVain()).toBeGreaterThan(1)
  gone.abort()
  await rest
  proxy.restore()
  expect((await through(proxy.url).events({ after: 0, signal: gone.signal }).next()).done).toBe(true)
})

test('a connection that has gone silent is opened again', async () => {
  let connections = 0
  /** The first one is accepted and never says anything. */
  const silentFirst: typeof fetch = async (url, init) => {
    connections += 1
    if (connections > 1) return fetch(url, init)
    const silent = new ReadableStream({
      start: (stream) => init?.signal?.addEventListener('abort', () => stream.error(init.signal?.reason)),
    })
    return new Response(silent, { headers: { 'content-type': 'text/event-stream' } })
  }
  const server = { baseUrl: served().url, key: w.ownerKey, fetch: silentFirst }
  const events = followEvents(server, { after: 0 }, 100)
  expect((await events.next()).value).toMatchObject({ seq: 1 })
  expect(connections).toBeGreaterThan(1)
  await events.return()
})

test('a refusal is thrown', async () => {
  const { body: key } = await w.post('/keys', { name: 'short-lived' })
  const events = createClient({ baseUrl: served().url, key: key.key }).events({ after: 0 })
  expect((await events.next()).done).toBe(false)
  await w.call('DELETE', `/keys/${key.id}`)
  const rest = (async () => {
    for await (const _event of events);
  })()
  await expect(rest).rejects.toMatchObject({ name: 'Problem', status: 401 })
})
