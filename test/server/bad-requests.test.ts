import { connect } from 'node:net'
import { afterAll, describe, expect, test } from 'vitest'
import { allOf, namedIn, pathTo, type Route, send, type Things, takesSigned } from '../support/http-routes.ts'
import { all, byTag, label, problemIn, serverUnderAttack } from '../support/http-under-attack.ts'

/** What a hostile client may put anywhere but into a body: ids, queries, headers, methods. */

const { server, routes, w, own, other, foreign, post, isOfServer, nothingIsWrittenBy, close } =
  await serverUnderAttack()
afterAll(close)
const withId = routes.filter(({ path }) => path.includes('{'))
const closed = routes.filter(({ isOpen }) => !isOpen)

/** The price of any model can be set. */
const takesAnyModel = (route: Route) => label(route) === 'PUT /prices/{model}'

describe('ids', () => {
  const UNKNOWN = '01890000-0000-7000-8000-00000000ffff'
  /** A track that does not exist is created by setting its limit of agents, and a model may have any name, so they cannot be unknown. */
  const canBeUnknown = (route: Route, thing: keyof Things) => thing !== 'track' && !takesAnyModel(route)

  /** Adapters and causes are the same in all workspaces, and those who run the server set the limits of all. */
  const named = withId.filter(({ path }) => !/^\/(adapters|workspaces|model-tiers|thresholds)\//.test(path))
  test.each(byTag(named))(
    'of %s: another workspace’s and unknown ones are answered with 404, wherever they are',
    (_, of) =>
      nothingIsWrittenBy(() =>
        all(of, async (route) => {
          const ones = namedIn(route).filter((thing) => canBeUnknown(route, thing))
          if (ones.length === 0) return
          const wrong = [foreign, allOf(UNKNOWN)].flatMap((elsewhere) =>
            ones.map((thing) => ({ ...own, [thing]: elsewhere[thing] })),
          )
          for (const things of [foreign, ...wrong])
            expect(problemIn(await post(route, { things }), label(route)), label(route)).toMatchObject({
              status: 404,
              code: 'NOT_FOUND',
            })
        }),
      ),
  )

  const MALFORMED = ['nonsense', '1', '..%2f..', "';--", '%0a', own.task.toUpperCase(), 'x'.repeat(201)]
  /** Reads of a task take its number, too. */
  const isNumber = ({ method, path }: Route, thing: keyof Things, id: string) =>
    id === '1' && thing === 'task' && method === 'GET' && path.startsWith('/tasks/{')
  const refuse = (of: readonly Route[], idsFor: (route: Route) => readonly string[]) =>
    nothingIsWrittenBy(() =>
      all(of, async (route) => {
        for (const id of idsFor(route))
          for (const thing of namedIn(route)) {
            if (isNumber(route, thing, id)) continue
            const reply = await post(route, { things: { ...own, [thing]: id } })
            expect([400, 404], `${label(route)}: ${thing} ${id}`).toContain(problemIn(reply, id).status)
          }
      }),
    )
  /** An unused slug is one to register under. */
  const takesAnySlug = (route: Route) => label(route) === 'PUT /agents/{id}'
  const malformedFor = (route: Route): readonly string[] => {
    if (takesAnyModel(route)) return ['%0a', 'a%20b', '%C3%A9', 'x'.repeat(201)]
    return takesAnySlug(route) ? MALFORMED.slice(2).filter((id) => !/^[0-9A-F-]{36}$/.test(id)) : MALFORMED
  }
  test.each(byTag(withId))('of %s: malformed ones are refused, wherever they are', (_, of) =>
    refuse(of, malformedFor),
  )

  test.each(byTag(withId))('of %s: those with a NUL in them are refused', (_, of) =>
    refuse(of, () => ['%00', 'a%00b', `${own.task}%00`]),
  )

  test.each([
    ['half an escape', '%'],
    ['an escape that is no text', '%ff'],
    ['half a character', '%E0%A4%A'],
    ['five thousand letters', 'x'.repeat(5_000)],
  ])('paths with %s in them are refused as problems', async (what, id) => {
    for (const route of withId) problemIn(await post(route, { things: allOf(id) }), what)
  })

  test('of another workspace in a body are treated as unknown', async () => {
    const held = { taskId: foreign.task, session: 's-alpha', generation: 1 }
    const BATCHES: [path: string, body: object][] = [
      ['/claims/batch', { agent: 'alpha', session: 's-alpha', taskIds: [foreign.task] }],
      ['/dead-letters/retry', { taskIds: [foreign.task] }],
      ['/claims/renew', { renewals: [held] }],
      ['/results/batch', { results: [{ ...held, result: 1 }] }],
    ]
    const NEW: [field: string, task: object][] = [
      ['dependsOn[0]', { dependsOn: [foreign.task] }],
      ['parentId', { parentId: foreign.waiting }],
      ['project', { project: foreign.project }],
    ]
    await nothingIsWrittenBy(async () => {
      for (const [field, task] of NEW) {
        const one = await w.post('/tasks', { title: 'x', ...task })
        expect(one.body).toMatchObject({ status: 400, errors: [{ field }] })
        const batch = await w.post('/tasks/batch', { tasks: [{ title: 'good' }, { title: 'x', ...task }] })
        expect(batch.body).toMatchObject({ status: 400, errors: [{ field: `tasks[1].${field}` }] })
      }
      expect((await w.post('/tasks/states', { taskIds: [foreign.task] })).body).toEqual({ items: [] })
      expect((await w.post('/tasks/cards', { ids: [foreign.task] })).body.items).toEqual([])
      expect((await w.post('/tasks/act', { act: 'cancel', ids: [foreign.task] })).body.done).toBe(0)
      const next = await w.post('/claims/next', { agent: 'a', session: 's', project: foreign.project })
      expect(next.body).toMatchObject({ status: 404, code: 'NOT_FOUND' })
      for (const [path, body] of BATCHES)
        expect((await w.post(path, body)).body.results).toMatchObject([{ reason: 'NOT_FOUND', status: 404 }])
    })
  })

  test('that are unknown register nothing: such a claim creates no agent and no session', async () => {
    await nothingIsWrittenBy(async () => {
      const refused = await w.post(`/tasks/${UNKNOWN}/claim`, { agent: 'mallory', session: 's-mallory' })
      expect(refused.status).toBe(404)
    })
  })
})

describe('queries', () => {
  const SLUG = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/
  const known = closed.flatMap((route) => route.query.map((name) => ({ ...route, name })))
  const isText = ({ path, name }: { path: string; name: string }) =>
    (path === '/board' && name === 'type') ||
    (path !== '/alerts' && name === 'cause') ||
    /^(q|tag|agent|model|taskType|userId|reason|capability|errorCode|path|repository|cron|timeZone|scopeId)$/.test(
      name,
    )
  /** Holders choose their own names for the lines they add to a task's log. */
  const isNameOfLine = ({ path, name }: { path: string; name: string }, value: string) =>
    path === '/tasks/{id}/logs' && name === 'event' && /^[a-z]/.test(value)

  test.each(known)('$path?$name= accepts no NUL, no very long value and no second value', async (route) => {
    for (const value of ['%00', 'x%00', 'x'.repeat(10_000), `1&${route.name}=2`]) {
      const reply = await post(route, { query: `?${route.name}=${value}` })
      const { status, errors } = problemIn(reply, value.slice(0, 20))
      expect([status, errors[0].field]).toEqual([400, route.name])
    }
  })

  test.each(known.filter((route) => !isText(route)))(
    '$path?$name= accepts nothing but its own kind',
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
        if (isNameOfLine(route, value)) continue
        const { status, errors } = problemIn(await post(route, { query: `?${route.name}=${value}` }), value)
        // Some of these could be the slug of a project, but not of an existing one.
        if (route.name === 'project' && SLUG.test(value)) expect(status, value).toBe(404)
        else expect([status, errors[0].field], value).toEqual([400, route.name])
      }
    },
  )

  const NO_CARDS = /^\{"columns":(?!.*"items":\[\{)/
  const emptyOf = ({ path, tag }: { path: string; tag: string }) => {
    if (path === '/board') return NO_CARDS
    if (path === '/usage') return /^\{"groupBy":"day",.*"items":\[\],"groupsLeftOut":0\}$/
    if (path === '/schedules/next') return /^\{"nextTimes":\[\],"problem":\{"field":/
    return tag === 'insight' ? /^\{"items":\[\],/ : /^\{"items":\[\],"nextCursor":null(,"upTo":\d+)?\}$/
  }
  const TEXTS = ['%25', "'%3B--", '__proto__', '%F0%9F%98%80', '%5C', '{}']
  // Streams do not end: their filters are in http-event-filters.
  // So are the log and the changes of a run, which are in http-run-logs and http-changes.
  const isList = ({ path, method }: { path: string; method: string }) =>
    method === 'GET' && !/^\/events\/(stream|ws)$|^\/runs\/\{id\}\/|\/changes$/.test(path)
  test.each(known.filter((route) => isText(route) && isList(route)))(
    '$path?$name= is text, whatever it looks like',
    async (route) => {
      for (const value of TEXTS)
        expect(await post(route, { query: `?${route.name}=${value}` })).toMatchObject({
          status: 200,
          text: expect.stringMatching(emptyOf(route)),
        })
    },
  )

  test('the reason why a worker is unregistered is text, whatever it looks like', async () => {
    const others = known.filter((route) => isText(route) && route.method !== 'GET')
    expect(others.map((route) => `${label(route)} ${route.name}`)).toEqual(['DELETE /workers/{id} reason'])
    for (const value of TEXTS) {
      const worker = (await w.post('/workers', { capacity: 1 })).body
      expect(
        (await post(others[0]!, { query: `?reason=${value}`, things: { ...own, worker: worker.session } }))
          .status,
      ).toBe(204)
      const { endReason } = (await w.call('GET', `/workers/${worker.session}`)).body
      expect(endReason).toBe(decodeURIComponent(value))
    }
  })

  const encoded = (insides: string[]) => insides.map((inside) => Buffer.from(inside).toString('base64url'))
  const UUIDS: [string[], string[]] = [
    ['', 'x', '1', 't0', own.run.toUpperCase(), `${own.run}0`, own.run.replace(/-7(?=.{3}-[89ab])/, '-4')],
    ['00000000-0000-7000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-ffffffffffff'],
  ]
  const NUMBERED = ['', 't', 't-1', 't1 or 1=1', 't1.5', 'T1', 't99999999999999999', '\u0000']
  const PLACES: [wrong: string[], right: string[]] = [
    ['1-1-1', '1-1-1-x', '1-1-1-a-b', '-1-1-1-a', '1-1-2147483648-a', '1-1-9999999999-a', '1.5-1-1-a'],
    ['0-0-0-0', '999999999999999-4503599627370495-2147483647-f'],
  ]
  const INBOX_PLACES = [
    encoded([
      '',
      '[]',
      '{}',
      '[1,"alert",0]',
      '[-1,"alert",0,""]',
      '[1,"other",0,""]',
      '[1,"alert",0,"\\u0000"]',
    ]),
    encoded(['[0,"plan",0,""]', '[8640000000000000,"review",9007199254740991,"zzz"]']),
  ] as [string[], string[]]
  const WEIGHTED = encoded(['', '[]', '[1]', '[1,-1]', '[1.5,1]', '["1",1]', '{}'])
  /** Where the first page of a list ends, once it has two items. */
  async function ownCursor(route: Route): Promise<string> {
    const making = routes.find(({ method, path }) => method === 'POST' && path === route.path)!
    for (const _ of ['first', 'second']) expect((await post(making)).status).toBe(201)
    const { items, nextCursor } = JSON.parse((await post(route, { query: '?limit=1' })).text)
    expect([items.length, typeof nextCursor]).toEqual([1, 'string'])
    return nextCursor
  }
  /** For the lists of older kinds: cursors that are not its own, and those at both ends of its range. */
  const CURSORS: Record<string, [wrong: string[], right: string[]]> = {
    '/tasks': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/dead-letters': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/projects': [encoded([...NUMBERED, 't2147483648', 't9999999999999999']), encoded(['t0', 't2147483647'])],
    '/agents': [encoded(['', '-x', 'a b', '\u0000', 'x'.repeat(101)]), encoded(['a', 'zzz'])],
    '/missions': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/webhooks/{id}/deliveries': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/reports': [
      encoded(['', '[]', '[1]', '[1,-1]', '[-1,1]', '[1.5,1]', '{}']),
      encoded(['[0,0]', '[8640000000000000,9007199254740991]']),
    ],
    '/missions/{id}/reports': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/routines': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/routines/{id}/runs': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/missions/{id}/tasks': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/agents/{id}/tasks': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/sessions': [
      encoded(['', '[]', '[1]', '["a",1]', '[-1,"a"]', '[1,"\\u0000"]']),
      encoded(['[0,"a"]', '[8640000000000000,"zzz"]']),
    ],
    '/usage/rows': [
      encoded([
        '',
        '[]',
        '[1]',
        `["0","${own.run}",0,"m",1,"priced"]`,
        `[0,"${own.run}",0,"m\\u0000",1,"priced"]`,
        `[0,"x",0,"m",1,"priced"]`,
        `[0,"${own.run}",0,"m",1,"free"]`,
      ]),
      encoded([
        `[0,"${own.run}",0,"",0,"unknown"]`,
        `[9007199254740991,"${own.run}",2147483647,"zzz",2147483647,"priced"]`,
      ]),
    ],
    '/hooks': [encoded(['', '-x', 'a b', '\u0000', 'x'.repeat(101)]), encoded(['a', 'zzz'])],
    '/hooks/{id}/deliveries': UUIDS,
    '/runs': UUIDS,
    '/agents/{id}/runs': UUIDS,
    '/agents/{id}/wakeups': UUIDS,
    '/tasks/{id}/runs': UUIDS,
    '/inbox': INBOX_PLACES,
    '/alerts': [
      encoded(['', 'x', '1.a', '99999999999999999.00000000-0000-7000-8000-000000000000']),
      encoded([
        '0.00000000-0000-7000-8000-000000000000',
        '8640000000000000.ffffffff-ffff-7fff-bfff-ffffffffffff',
      ]),
    ],
    '/budgets': [
      encoded(['', 'x', '0.a', '9.00000000-0000-7000-8000-000000000000']),
      encoded(['1.00000000-0000-7000-8000-000000000000', '5.ffffffff-ffff-7fff-bfff-ffffffffffff']),
    ],
    // Its own need the column that they continue: http-board.
    '/board': [encoded(['', 'x', '[]', '["inbox",-1,0,0]']), []],
    '/insight/failures': [encoded(NUMBERED), encoded(['t0', 't4503599627370495'])],
    '/insight/durations': [encoded(['', '[]', '[1]', '["\\u0000"]']), encoded(['["a"]', '["zzz"]'])],
    '/insight/retries': [WEIGHTED, encoded(['[0,0]', '[9007199254740991,9007199254740991]'])],
    '/insight/slowest': [WEIGHTED, encoded(['[0,0]', '[9007199254740991,9007199254740991]'])],
    '/insight/bottlenecks': [WEIGHTED, encoded(['[-1,0]', '[9007199254740991,9007199254740991]'])],
    '/results': PLACES,
    '/tasks/{id}/results': PLACES,
  }
  test.each(known.filter(({ name }) => name === 'cursor'))(
    '$path refuses cursors of no list, and accepts its own at any distance',
    async (route) => {
      const [wrong, right] = CURSORS[route.path] ?? [['nonsense', '-1'], [await ownCursor(route)]]
      for (const cursor of wrong) {
        const reply = await post(route, { query: `?cursor=${encodeURIComponent(cursor)}` })
        expect(problemIn(reply, cursor)).toMatchObject({ status: 400, errors: [{ field: 'cursor' }] })
      }
      for (const cursor of right)
        expect((await post(route, { query: `?cursor=${cursor}` })).status, cursor).toBe(200)
    },
  )

  /** Nothing of the other workspace is in it, by id or by name. */
  const expectNothingForeign = ({ text }: { text: string }, except: string[] = []) => {
    const { track: _, adapter: __, threshold: ___, ...things } = foreign
    const theirs = Object.values(things).filter((name) => !except.includes(name))
    expect(theirs.filter((name) => text.includes(name))).toEqual([])
  }

  // Streams do not end: http-event-filters has them.
  test('no read shows anything of another workspace', () =>
    all(
      closed.filter(({ method, path }) => method === 'GET' && !/^\/events\/(stream|ws)$/.test(path)),
      async (route) => {
        const needed = route.path === '/search' ? `?q=${foreign.project}` : ''
        const reply = await post(route, { query: needed })
        expect([200, 204, 400, 404, 409], label(route)).toContain(reply.status)
        if (!isOfServer(route)) expectNothingForeign(reply, needed ? [foreign.project] : [])
      },
    ))

  test.each(known.filter(({ name, method }) => name === 'cursor' && method === 'GET'))(
    '$path shows nothing of another workspace, also with a cursor of that',
    async (route) => {
      const { body } = await other.call('GET', `${pathTo(route, foreign)}?limit=1`)
      const columns = Object.values((body.columns ?? {}) as Record<string, { nextCursor: string | null }>)
      for (const { nextCursor } of [body as { nextCursor: string | null }, ...columns]) {
        if (!nextCursor) continue
        const reply = await post(route, { query: `?cursor=${nextCursor}` })
        expect([200, 400]).toContain(reply.status)
        expectNothingForeign(reply)
      }
    },
  )

  const NAMED = {
    mission: foreign.mission,
    task: foreign.task,
    project: foreign.project,
    agent: foreign.agent,
  }
  test.each(known.filter((route) => route.name in NAMED && isList(route)))(
    '$path?$name= of another workspace is unknown, or has nothing',
    async (route) => {
      const id = NAMED[route.name as keyof typeof NAMED]
      const reply = await post(route, { query: `?${route.name}=${id}` })
      expect([200, 400, 404]).toContain(reply.status)
      expectNothingForeign(reply, [id])
      if (reply.status === 200) expect(reply.text).toMatch(/"items":\[\]/)
    },
  )
})

describe('headers and methods', () => {
  test('every POST refuses an invalid Idempotency-Key', async () => {
    await nothingIsWrittenBy(() =>
      all(
        // Signing in has no caller whose key it could be.
        closed.filter(({ method }) => method === 'POST'),
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

  test('every PATCH refuses an If-Match that matches nothing', () =>
    nothingIsWrittenBy(() =>
      all(
        routes.filter(({ method }) => method === 'PATCH'),
        async (route) => {
          for (const match of ['nonsense', '1', '"x"', '"99999999999"', '"-1"', '""', '"1000"'])
            expect([400, 412], `${label(route)} ${match}`).toContain(
              problemIn(await post(route, { headers: { 'if-match': match } }), match).status,
            )
        },
      ),
    ))

  test('unknown methods are refused on every path', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH']
    const missing = [...new Set(routes.map(({ path }) => path))].flatMap((path) =>
      methods
        .filter((method) => !takesSigned({ method, path }))
        .filter((method) => !routes.some((route) => route.path === path && route.method === method))
        .map((method) => ({ method, path })),
    )
    await nothingIsWrittenBy(() =>
      all(missing, async ({ method, path }) => {
        const reply = await send(server, method, pathTo({ path }, own), { key: w.ownerKey })
        // A path such as /tasks/batch may also be read as an invalid id.
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

// Last: a route that accepts them executes the request.
test('no route accepts a query parameter it does not know', async () => {
  const taking: string[] = []
  for (const route of closed) {
    const { status, text } = await post(route, { query: '?nonsense=1' })
    if (status !== 400 || JSON.parse(text).errors?.[0].field !== 'nonsense') taking.push(label(route))
  }
  expect(taking).toEqual([])
})
