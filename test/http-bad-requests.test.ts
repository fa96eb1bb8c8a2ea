import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { pathTo, send } from './support/http-routes.ts'
import { all, besiege, label, problemIn } from './support/http-siege.ts'

/** What a hostile client may put anywhere but into a body: ids, queries, headers, methods. */

const { server, routes, w, own, foreign, post, nothingIsWrittenBy, close } = await besiege()
afterAll(close)
const withId = routes.filter(({ path }) => path.includes('{id}'))
const closed = routes.filter(({ isOpen }) => !isOpen)

describe('ids', () => {
  const UNKNOWN = '01890000-0000-7000-8000-00000000ffff'
  test.each(withId)(
    '$method $path answers 404 to another workspace’s id and to an unknown one',
    async (route) => {
      await nothingIsWrittenBy(async () => {
        for (const things of [foreign, { task: UNKNOWN, session: UNKNOWN, key: UNKNOWN }])
          expect(problemIn(await post(route, { things }), label(route))).toMatchObject({
            status: 404,
            code: 'NOT_FOUND',
          })
      })
    },
  )

  const MALFORMED = ['nonsense', '1', '..%2f..', "';--", '%0a', own.task.toUpperCase(), 'x'.repeat(201)]
  test.each(withId)('$method $path refuses ids that are none', async (route) => {
    await nothingIsWrittenBy(async () => {
      for (const id of MALFORMED) {
        const reply = await post(route, { things: { task: id, session: id, key: id } })
        expect([400, 404], id).toContain(problemIn(reply, id).status)
      }
    })
  })

  test.each(withId)('$method $path refuses ids with a NUL in them', async (route) => {
    await nothingIsWrittenBy(async () => {
      for (const id of ['%00', 'a%00b', `${own.task}%00`]) {
        const reply = await post(route, { things: { task: id, session: id, key: id } })
        expect([400, 404], id).toContain(problemIn(reply, id).status)
      }
    })
  })

  test.each([
    ['half an escape', '%'],
    ['an escape that is no text', '%ff'],
    ['half a character', '%E0%A4%A'],
    ['five thousand letters', 'x'.repeat(5_000)],
  ])('paths with %s in them are refused as problems', async (what, id) => {
    for (const route of withId)
      problemIn(await post(route, { things: { task: id, session: id, key: id } }), what)
  })

  test('of another workspace in a body are as good as unknown', async () => {
    const held = { taskId: foreign.task, session: 's-alpha', generation: 1 }
    const BATCHES: [path: string, body: object][] = [
      ['/claims/batch', { agent: 'alpha', session: 's-alpha', taskIds: [foreign.task] }],
      ['/claims/renew', { renewals: [held] }],
      ['/results/batch', { results: [{ ...held, result: 1 }] }],
    ]
    await nothingIsWrittenBy(async () => {
      const depends = await w.post('/tasks', { title: 'x', dependsOn: [foreign.task] })
      expect(depends.body).toMatchObject({ status: 400, errors: [{ field: 'dependsOn[0]' }] })
      for (const [path, body] of BATCHES)
        expect((await w.post(path, body)).body.results).toMatchObject([{ reason: 'NOT_FOUND', status: 404 }])
    })
  })

  test('that are unknown make nobody known: such a claim registers no agent and no session', async () => {
    await nothingIsWrittenBy(async () => {
      const refused = await w.post(`/tasks/${UNKNOWN}/claim`, { agent: 'mallory', session: 's-mallory' })
      expect(refused.status).toBe(404)
    })
  })
})

describe('queries', () => {
  const known = closed.flatMap((route) => route.query.map((name) => ({ ...route, name })))
  const isText = (name: string) => /^(q|tag|agent)$/.test(name)

  test.each(known)('$path?$name= takes no NUL, no novel and no second value', async (route) => {
    for (const value of ['%00', 'x%00', 'x'.repeat(10_000), `1&${route.name}=2`]) {
      const reply = await post(route, { query: `?${route.name}=${value}` })
      const { status, errors } = problemIn(reply, value.slice(0, 20))
      expect([status, errors[0].field]).toEqual([400, route.name])
    }
  })

  test.each(known.filter(({ name }) => !isText(name)))(
    '$path?$name= takes nothing but its own kind',
    async (route) => {
      for (const value of [
        '',
        '-1',
        '1.5',
        '1e3',
        '9'.repeat(16),
        'x',
        '__proto__',
        'toString',
        'constructor',
        '[]',
        '%F0%9F%98%80',
      ]) {
        const { status, errors } = problemIn(await post(route, { query: `?${route.name}=${value}` }), value)
        expect([status, errors[0].field], value).toEqual([400, route.name])
      }
    },
  )

  test.each(known.filter(({ name }) => isText(name)))(
    '$path?$name= is text, whatever it looks like',
    async (route) => {
      for (const value of ['%25', "'%3B--", '__proto__', '%F0%9F%98%80', '%5C', '{}'])
        expect(await post(route, { query: `?${route.name}=${value}` })).toMatchObject({
          status: 200,
          text: '{"items":[],"nextCursor":null}',
        })
    },
  )

  test('cursors of nobody’s list are refused', async () => {
    const list = routes.find(({ method, path }) => method === 'GET' && path === '/tasks')!
    for (const inside of ['', 't', 't-1', 't1 or 1=1', 't1.5', 'T1', 't99999999999999999', '\u0000']) {
      const reply = await post(list, { query: `?cursor=${Buffer.from(inside).toString('base64url')}` })
      expect(problemIn(reply, inside)).toMatchObject({ status: 400, errors: [{ field: 'cursor' }] })
    }
  })
})

describe('headers and methods', () => {
  test('every POST refuses an Idempotency-Key that is none', async () => {
    await nothingIsWrittenBy(() =>
      all(
        routes.filter(({ method }) => method === 'POST'),
        async (route) => {
          for (const key of ['a b', 'é', '\u0080', 'x'.repeat(201)]) {
            const { errors } = problemIn(
              await post(route, { headers: { 'idempotency-key': key } }),
              label(route),
            )
            expect(errors[0].field).toBe('Idempotency-Key')
          }
        },
      ),
    )
  })

  test.each(routes.filter(({ method }) => method === 'PATCH'))(
    '$method $path refuses an If-Match that matches nothing',
    async (route) => {
      await nothingIsWrittenBy(async () => {
        for (const match of ['nonsense', '1', '"x"', '"99999999999"', '"-1"', '""', '"1000"'])
          expect([400, 412], match).toContain(
            problemIn(await post(route, { headers: { 'if-match': match } }), match).status,
          )
      })
    },
  )

  test('methods that are not there are refused on every path', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH']
    const missing = [...new Set(routes.map(({ path }) => path))].flatMap((path) =>
      methods
        .filter((method) => !routes.some((route) => route.path === path && route.method === method))
        .map((method) => ({ method, path })),
    )
    await nothingIsWrittenBy(() =>
      all(missing, async ({ method, path }) => {
        const reply = await send(server, method, pathTo({ path }, own), { key: w.ownerKey })
        // A path such as /tasks/batch may also be read as an id that is none.
        expect([400, 404, 405], `${method} ${path}`).toContain(problemIn(reply, `${method} ${path}`).status)
      }),
    )
  })

  const START = 'GET /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\n'
  test.each([
    ['a giant header', `${START}X-Giant: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a thousand headers', `${START}${'X: y\r\n'.repeat(3_000)}\r\n`],
    ['a giant path', `GET /api/v1/tasks/${'x'.repeat(100_000)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`],
    ['a header without a name', `${START}nonsense\r\n\r\n`],
    ['a length that is none', `${START}Content-Length: -1\r\n\r\n`],
    ['a body with two lengths', `${START}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['no HTTP at all', '\u0016\u0003\u0001 hello\r\n\r\n'],
  ])('%s is answered with a problem', async (what, bytes) => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.on('error', () => undefined).write(bytes.replace('Host:', 'Connection: close\r\nHost:'))
    let answer = ''
    for await (const chunk of socket.setEncoding('utf8')) answer += chunk
    const [head, body] = answer.split('\r\n\r\n')
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(head!) ?? []
    const [, type = ''] = /^content-type: (.*)$/im.exec(head!) ?? []
    problemIn({ status: Number(status), type, text: body! }, what)
  })
})

// Last: a route that takes them does what it was asked for.
test('no route takes a query parameter it does not know', async () => {
  const taking: string[] = []
  for (const route of closed) {
    const { status, text } = await post(route, { query: '?nonsense=1' })
    if (status !== 400 || JSON.parse(text).errors?.[0].field !== 'nonsense') taking.push(label(route))
  }
  expect(taking).toEqual([])
})
