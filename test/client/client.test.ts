import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Client, createClient, NoAnswer, Problem } from '../../src/client/client.ts'
import { useServer, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { type CuttableConnection, cuttableConnectionTo } from '../support/proxy.ts'

const { served, workspace } = useServer()

let w: Workspace
let client: Client
let proxy: CuttableConnection
beforeAll(async () => {
  w = await workspace()
  client = createClient({ baseUrl: served().url, key: w.ownerKey })
})
// One for each test: a connection that another test cut may still be reused, and its request would never arrive.
beforeEach(async () => {
  proxy = await cuttableConnectionTo(served().url)
})
afterEach(() => {
  // Connections that are kept for other requests would keep it open.
  proxy.cut()
  return proxy.close()
})

const nobody = '018f0000-0000-7000-8000-000000000000'
const caught = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  )

/** A client through the connection that can be cut; `first` is what happens to its first request. */
function overProxy(first: (fetched: Promise<Response>) => Promise<Response>) {
  const keys: (string | null)[] = []
  const counted: typeof fetch = (url, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'))
    const fetched = fetch(url, init)
    // Some tests answer by themselves, and end before it does.
    fetched.catch(() => undefined)
    return keys.length === 1 ? first(fetched) : fetched
  }
  return { keys, client: createClient({ baseUrl: proxy.url, key: w.ownerKey, fetch: counted }) }
}

/** What a request looks like on the way. */
async function sentBy(ask: (client: Client) => Promise<unknown>, server: object = {}) {
  const sent: { url: string; init: RequestInit }[] = []
  const answering: typeof fetch = async (url, init = {}) => {
    sent.push({ url: String(url), init })
    return new Response('{}', { headers: { 'baton-seq': '7' } })
  }
  await ask(createClient({ baseUrl: 'http://baton.test', fetch: answering, ...server }))
  return { ...sent[0]!, headers: new Headers(sent[0]!.init.headers) }
}

describe('a call', () => {
  test('resolves to the answer, with the types of its endpoint', async () => {
    const made = await client.post('/tasks', { body: { title: 'Fix login', priority: 3 } })
    const task = await client.get('/tasks/:id', { params: { id: made.id } })
    const state: 'queued' | string = task.state
    expect([task.title, state, made.priority]).toEqual(['Fix login', 'queued', 3])
    const { items } = await client.get('/tasks', { query: { state: 'queued', limit: 1, q: undefined } })
    expect(items.map(({ id }) => id)).toEqual([made.id])
  })

  test('that the API does not know is refused by the compiler', () => {
    const unknown = () => [
      // @ts-expect-error: no such path
      client.get('/taks'),
      // @ts-expect-error: no such method
      client.delete('/tasks/:id', { params: { id: '1' } }),
      // @ts-expect-error: the parameter is missing
      client.get('/tasks/:id'),
      // @ts-expect-error: the body is missing
      client.post('/tasks'),
      // @ts-expect-error: no such field
      client.post('/tasks', { body: { title: 'a', colour: 'red' } }),
      // @ts-expect-error: no such query
      client.get('/tasks', { query: { colour: 'red' } }),
      // @ts-expect-error: it changes something
      client.readPost('/tasks', { body: { title: 'a' } }),
      // @ts-expect-error: the answer has no such field
      client.get('/tasks').then(({ tasks }) => tasks),
    ]
    expect(unknown).toBeTypeOf('function')
  })

  test('without an answer resolves to nothing', async () => {
    await client.put('/agents/:id', { params: { id: 'gone-soon' }, body: {} })
    expect(await client.delete('/agents/:id', { params: { id: 'gone-soon' } })).toBeUndefined()
  })

  test('takes a plan as text', async () => {
    const { body } = await client.readPost('/plans/check', { body: 'tasks: [{ tempId: look }]' })
    expect(body).toMatchObject({ valid: true, kind: 'mission', taskCount: 1 })
  })

  test('changes only what was read, with its ETag', async () => {
    const { id } = await w.make()
    const { etag } = await client.read('/tasks/:id', { params: { id } })
    const change = (title: string) =>
      client.patch('/tasks/:id', { params: { id }, body: { title }, ifMatch: etag! })
    expect((await change('first')).title).toBe('first')
    expect(await caught(change('second'))).toMatchObject({ status: 412, code: 'VERSION_MISMATCH' })
  })
})

describe('a request', () => {
  test('has values of paths and queries encoded, and none that are undefined', async () => {
    const get = (id: string) =>
      sentBy((one) =>
        one.get('/agents/:id/runs', { params: { id }, query: { status: 'a&b', limit: undefined } }),
      )
    expect((await get('a/b?c#d')).url).toBe('http://baton.test/api/v1/agents/a%2Fb%3Fc%23d/runs?status=a%26b')
    expect(await caught(get('..'))).toBeInstanceOf(TypeError)
    expect(await caught(get(''))).toBeInstanceOf(TypeError)
  })

  test('names its key and its workspace only if there are any', async () => {
    const get = (server?: object) => sentBy((one) => one.get('/limits'), server)
    const without = await get()
    expect([...without.headers.keys()]).toEqual(['accept'])
    expect(without.init.credentials).toBe('same-origin')
    const { headers } = await get({ key: 'k', workspace: 'w', headers: { 'x-more': '1' } })
    expect(['authorization', 'x-workspace-id', 'x-more'].map((name) => headers.get(name))).toEqual([
      'Bearer k',
      'w',
      '1',
    ])
  })

  test('that writes has a key of its own, or that of its caller; a heartbeat has none unless it is repeated', async () => {
    const post = (more: object) =>
      sentBy((one) => one.post('/tasks', { body: { title: 'a' }, ...more })).then(({ headers }) =>
        headers.get('idempotency-key'),
      )
    const [one, two] = [await post({}), await post({})]
    expect(one).toMatch(/^[0-9a-f]{32}$/)
    expect(two).not.toBe(one)
    expect(await post({ idempotencyKey: 'mine' })).toBe('mine')
    const beat = (more: object) =>
      sentBy((one) => one.post('/agents/:id/heartbeat', { params: { id: 'a' }, ...more })).then(
        ({ headers }) => headers.has('idempotency-key'),
      )
    expect([await beat({}), await beat({ retry: true }), await beat({ idempotencyKey: 'b' })]).toEqual([
      false,
      true,
      true,
    ])
    const read = await sentBy((client) => client.readPost('/tasks/cards', { body: { ids: [nobody] } }))
    expect(read.headers.has('idempotency-key')).toBe(false)
  })
})

describe('a read', () => {
  test('says which events its answer shows', async () => {
    const { id } = await w.make()
    const { body, seq } = await client.read('/tasks/:id', { params: { id } })
    expect(seq).toBeGreaterThan(0)
    const cards = await client.readPost('/tasks/cards', { body: { ids: [body.id] } })
    expect([cards.body.items.length, cards.seq]).toEqual([1, seq])
  })

  test('is repeated after a dropped connection', async () => {
    const cut = overProxy(async (fetched) => {
      proxy.cut()
      return fetched.finally(() => proxy.restore())
    })
    expect((await cut.client.get('/tasks')).items.length).toBeGreaterThan(0)
    expect(cut.keys).toHaveLength(2)
  })

  test('is repeated while the server is not available', async () => {
    const busy = overProxy(
      async () => new Response('<html>', { status: 502, headers: { 'retry-after': '0' } }),
    )
    expect((await busy.client.get('/tasks')).items.length).toBeGreaterThan(0)
    expect(busy.keys).toHaveLength(2)
  })

  test('ends with its signal, also between two tries', async () => {
    const gone = new AbortController()
    const reason = new Error('left the page')
    const tried = overProxy(async (fetched) => {
      await fetched
      gone.abort(reason)
      return new Response('', { status: 503, headers: { 'retry-after': '10' } })
    })
    expect(await caught(tried.client.get('/tasks', { signal: gone.signal }))).toBe(reason)
    expect(tried.keys).toHaveLength(1)
  })
})

describe('a refusal', () => {
  test('is a problem with its code', async () => {
    const error = await caught(client.get('/tasks/:id', { params: { id: nobody } }))
    expect(error).toBeInstanceOf(Problem)
    expect(error).toMatchObject({ status: 404, code: 'NOT_FOUND', retryAfterMs: null, errors: [] })
    const { message, detail, title } = error as Problem
    expect([message, title]).toEqual([detail, expect.any(String)])
  })

  test('says which field it is about', async () => {
    const error = await caught(client.post('/tasks', { body: { title: '' } }))
    expect(error).toMatchObject({ status: 400, errors: [{ field: 'title' }] })
  })

  test('by something in between has no code of ours', async () => {
    const odd = overProxy(
      async () => new Response('<html>', { status: 418, headers: { 'retry-after': '2' } }),
    )
    expect(await caught(odd.client.get('/tasks'))).toMatchObject({
      status: 418,
      code: 'UNKNOWN',
      retryAfterMs: 2000,
    })
  })
})

describe('a POST whose answer is lost', () => {
  /** The request is carried out, then its connection is cut. */
  const losing = (title: string) =>
    overProxy(async (fetched) => {
      proxy.loseAnswersTo(title)
      await until(async () => (await tasksCalled(title)) === 1)
      proxy.cut()
      proxy.restore()
      return fetched
    })
  const tasksCalled = async (title: string) =>
    (await client.get('/tasks', { query: { q: title } })).items.length

  test('is not repeated automatically', async () => {
    const lost = losing('lost for good')
    const error = await caught(lost.client.post('/tasks', { body: { title: 'lost for good' } }))
    expect(error).toBeInstanceOf(NoAnswer)
    expect(lost.keys).toHaveLength(1)
  })

  test('is repeated under its key if asked for, and carried out once', async () => {
    const lost = losing('lost and found')
    const task = await lost.client.post('/tasks', { body: { title: 'lost and found' }, retry: true })
    expect(task.title).toBe('lost and found')
    expect(lost.keys).toHaveLength(2)
    expect(lost.keys[0]).toBe(lost.keys[1])
    expect(await tasksCalled('lost and found')).toBe(1)
  })
})
