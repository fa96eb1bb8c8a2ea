import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import {
  bodyFor,
  PLAN_ROUTES,
  pathTo,
  type Route,
  type Schema,
  sampleOf,
  send,
  takesPlan,
} from '../support/http-routes.ts'
import { all, byTag, label, problemIn, serverUnderAttack, thingsIn } from '../support/http-under-attack.ts'
import { KEY, openWorkspace, type Workspace } from '../support/http-workspace.ts'

/**
 * What a hostile client may put into a body. The routes come from the server's own OpenAPI document, so a new one is tried
 * as well. Every wrong value is refused as a problem, by name, and leaves every table unchanged.
 */

const { server, routes, w, own, foreign, post, nothingIsWrittenBy, close } = await serverUnderAttack()
afterAll(close)
const withBody = routes.filter(({ body }) => body !== null)
const plans = routes.filter(takesPlan)
const createTask = routes.find(({ method, path }) => method === 'POST' && path === '/tasks')!

type Wrong = [json: string, field: string | RegExp]
/** Twice as many as any function that calls itself for each could have open. */
const LEVELS = 40_000
const DEEP = `${'['.repeat(LEVELS)}${']'.repeat(LEVELS)}`
const text = (value: unknown) => JSON.stringify(value)
const begins = (field: string) => new RegExp(`^${field.replace(/[.[\]]/g, '\\$&')}`)

/** An object with any fields. */
const isFree = ({ additionalProperties }: Schema) => typeof additionalProperties === 'object'

/** Everything that a value at this place must not be, as JSON. */
function wrongFor(schema: Schema, field: string, sample: unknown): Wrong[] {
  const { type, minimum = 0, maximum = 0 } = schema
  const as = (...values: string[]): Wrong[] => values.map((json) => [json, field])
  const unstorable = ['"a\\u0000b"', '"\\ud800"', '"x\\udc00x"', '"\\ude00\\ud83d"']
  // A free object may contain any JSON, except what no JSON may contain.
  switch (isFree(schema) ? 'free' : type) {
    case 'string': {
      const limit = schema.maxLength ?? 100
      const empty = schema.minLength || schema.pattern || schema.enum || schema.const ? ['""'] : []
      const form = schema.pattern || schema.enum || schema.const ? ['"\\u0001 no!"'] : []
      return as('1', 'true', '{}', '["x"]', ...unstorable, ...empty, ...form, text('x'.repeat(limit + 1)))
    }
    case 'integer':
      return as(
        '1e400',
        '-1e400',
        '9007199254740992',
        '1.5',
        '"1"',
        'true',
        '[1]',
        `${minimum - 1}`,
        `${maximum + 1}`,
      )
    case 'number':
      return as('1e400', '"1"', 'true', '[]', `${minimum - 1}`, `${maximum + 1}`)
    case 'boolean':
      return as('1', '"true"', 'null', '[]')
    case 'array': {
      const items = Array((schema.maxItems ?? 5) + 1).fill((sample as unknown[])[0])
      return [
        ...as('{}', '"x"', '1', 'null'),
        ...(schema.maxItems ? as(text(items)) : []),
        ...(schema.minItems ? as('[]') : []),
      ]
    }
    case 'object':
      return as('[]', '"x"', '1', 'null')
    default:
      return [
        ...[...unstorable, '{"\\u0000":1}', '{"a":[{"b\\ud800":1}]}', DEEP].map(
          (json): Wrong => [json, begins(field)],
        ),
        ['{"__proto__":{"polluted":1}}', '__proto__'],
        ['{"a":{"constructor":{"prototype":{"polluted":1}}}}', 'constructor'],
      ]
  }
}

type Path = readonly (string | number)[]

/** The body with this at that place. */
function placed(root: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone({ root })
  let parent = copy as unknown as Record<string | number, unknown>
  const way = ['root', ...path]
  for (const part of way.slice(0, -1)) parent = parent[part] as typeof parent
  parent[way.at(-1)!] = value
  return copy.root
}

/** One body for each wrong value at each place the schema knows, everything else being right. */
function* wrongBodies(
  schema: Schema,
  root: unknown,
  from: Path = [],
  sample = root,
): Generator<[json: string, field: string | RegExp]> {
  function* at(schema: Schema, path: Path, value: unknown): Generator<Wrong> {
    const field = path
      .map((part, i) => (typeof part === 'number' ? `[${part}]` : i ? `.${part}` : part))
      .join('')
    if (schema.oneOf) {
      for (const form of schema.oneOf) {
        const formed = sampleOf(form, own)
        yield* wrongBodies(form, placed(root, path, formed), path, formed)
      }
      return
    }
    const nullable = schema.anyOf?.some(({ type }) => type === 'null')
    const inner = schema.anyOf?.find(({ type }) => type !== 'null') ?? schema
    const place = (json: string, to = path) =>
      text(placed(root, to, json === '' ? undefined : '@here@')).replace('"@here@"', () => json)
    for (const [json, named] of wrongFor(inner, field || 'body', value))
      if (json !== 'null' || !nullable) yield [place(json), named]
    if (inner.type && !nullable && path.length > 0) yield [place('null'), field]
    if (inner.type === 'array') yield* at(inner.items!, [...path, 0], (value as unknown[])[0])
    if (inner.type !== 'object' || isFree(inner)) return
    const dot = field && `${field}.`
    yield [place('1', [...path, 'nonsense']), `${dot}nonsense`]
    for (const name of inner.required ?? []) yield [place('', [...path, name]), `${dot}${name}`]
    for (const [name, next] of Object.entries(inner.properties ?? {}))
      yield* at(next, [...path, name], (value as Record<string, unknown>)[name])
  }
  yield* at(schema, from, sample)
}

/** Acts on tasks without a holder; the one of the sample is held. */
const NOT_WHILE_HELD = /\/(discard|claim|resume|retry|reset|archive|approve|reject|answer|dependencies)$/
/** The run of the sample is over, and a key is not its token. */
const REFUSED: Record<string, number> = {
  'POST /runs/{id}/cancel': 409,
  'POST /runs/{id}/callback': 403,
  // Another digest than that of the plan; and the mission is not paused, and has no failed tasks.
  'POST /missions/{id}/approve': 409,
  'POST /missions/{id}/reject': 409,
  'POST /missions/{id}/resume': 409,
  // The task that it would continue after is not below it.
  'POST /tasks/{id}/continue': 400,
  'POST /tasks/{id}/report': 409,
  // Another version than that of the plan.
  'POST /inbox/{id}/answer': 409,
  'POST /missions/{id}/retry': 409,
  // Spending is not stopped.
  'POST /budgets/allow-all': 409,
  // With a token or with a key, and not with both; and a key has no browser session.
  'POST /session': 400,
  'POST /session/ticket': 404,
}

/** Their answers say how much time is left of a lease: to a repeat, how much there is by then. */
const SAYS_TIME_LEFT = [
  'POST /tasks/{id}/claim',
  'POST /claims/batch',
  'POST /claims/renew',
  'POST /tasks/{id}/renew',
  'POST /workers/{id}/heartbeat',
  'POST /agents/{id}/heartbeat',
  'POST /sessions/{id}/heartbeat',
]
/** It sends another test, with an id of its own. */
const TESTS = 'POST /webhooks/{id}/test'
const withoutTimes = (text: string) => text.replace(/"id":"\w+"|"durationMs":\d+/g, '""')
const withoutTimeLeft = (text: string) => text.replace(/"ttlMs":\d+/g, '"ttlMs":0')

/** Their answers have a secret in them, which is stored nowhere: a repeat is refused with the id of what was made. */
const GIVES_A_SECRET = [
  'POST /session/link',
  'POST /keys',
  'POST /webhooks',
  'POST /webhooks/{id}/rotate',
  'POST /hooks',
  'POST /hooks/{id}/rotate',
]

/** What their samples are about is as useful to others afterwards. */
const LEAVES_THE_REST = new Set([
  'POST /session/link',
  'POST /tasks/states',
  'POST /tasks/cards',
  'POST /tasks/{id}/renew',
  'POST /tasks/{id}/progress',
  'PATCH /tasks/{id}/progress',
  'POST /tasks/{id}/logs',
  'POST /tasks/{id}/usage',
  'POST /tasks/{id}/comments',
  'POST /claims/renew',
  'POST /workers',
  'POST /workers/{id}/heartbeat',
  'POST /workers/requeue-stalled',
  'POST /sessions',
  'POST /sessions/{id}/heartbeat',
  'POST /agents/{id}/test',
  'POST /adapters/{type}/test',
  'POST /runs/tails',
  'POST /prompts/preview',
  'POST /projects',
  'PUT /projects/{slug}/tracks/{track}',
  'PUT /projects/{slug}/efficiency',
  'PUT /projects/{slug}/plan',
  'POST /plans/check',
  'POST /missions',
  'PATCH /missions/{id}',
  'POST /missions/{id}/clone',
  'POST /missions/{id}/comments',
  'POST /missions/{id}/report',
  'POST /routines',
  'PATCH /routines/{id}',
  'POST /hooks',
  'PATCH /hooks/{id}',
  'POST /hooks/{id}/rotate',
  'POST /hooks/{id}/test',
  'POST /workspaces',
  'POST /keys',
  'PUT /prices/{model}',
  'PUT /model-tiers/{type}',
  'POST /webhooks',
  'PATCH /webhooks/{id}',
  'POST /webhooks/{id}/test',
  'POST /webhooks/{id}/pause',
  'POST /webhooks/{id}/resume',
  'POST /webhooks/{id}/rotate',
  'POST /webhooks/{id}/redeliver',
  'PUT /thresholds/{cause}',
  'POST /budgets/{id}/move',
  'POST /budgets/{id}/allow-model',
])

/** A workspace of its own for a route, with a run where it needs one, or for all routes. */
async function elsewhereFor(route?: Route) {
  const elsewhere = await openWorkspace(server)
  const needs = (...lists: string[]) => lists.some((list) => route?.path.startsWith(list) ?? true)
  const things = await thingsIn(elsewhere, routes, needs('/runs/'), needs('/alerts/', '/thresholds/'))
  return { elsewhere, things }
}
const shared = new Map<string, ReturnType<typeof elsewhereFor>>()

function placeFor(route: Route, isRefused: boolean): ReturnType<typeof elsewhereFor> {
  const leaves = LEAVES_THE_REST.has(label(route))
  if (!isRefused && !leaves) return elsewhereFor(route)
  // What is refused changes nothing.
  const kind = isRefused ? 'unchanged' : 'left'
  const place = shared.get(kind) ?? elsewhereFor()
  shared.set(kind, place)
  return place
}

/** What was done with keys of the workspace, and not by the coordinator or by agents in the meantime. */
async function doneByKeys(workspace: Workspace): Promise<string[]> {
  const events = await workspace.events()
  expect(events.length, 'on one page').toBeLessThan(200)
  return events
    .filter(({ actor }: { actor: string }) => KEY.test(actor))
    .map(({ type }: { type: string }) => type)
}

describe('bodies', () => {
  test('of every route are in the API document, except the plan, which is text', () => {
    const silent = routes.filter(({ method, body }) => /^(POST|PUT|PATCH)$/.test(method) && body === null)
    expect(silent.map(label).sort()).toEqual(PLAN_ROUTES.toSorted())
  })

  // The demonstration would go on writing while others look whether anything is written: demo.test.ts has it.
  test.each([...withBody, ...plans].filter(({ path }) => path !== '/demo'))(
    '$method $path accepts the sample that the others are made from, and a POST once under a key',
    async (route) => {
      const isHeld = route.path.startsWith('/tasks/{id}/') && NOT_WHILE_HELD.test(route.path)
      const refused = isHeld ? 409 : REFUSED[label(route)]
      const { elsewhere, things } = await placeFor(route, refused !== undefined)
      const once = randomUUID()
      const isOfServer = route.path.startsWith('/workspaces')
      const key = isOfServer ? server.ownerKey : elsewhere.ownerKey
      const isPost = route.method === 'POST'
      const sample = () =>
        send(server, route.method, pathTo(route, things), {
          body: bodyFor(route, things),
          key,
          ...(isPost && { headers: { 'idempotency-key': once } }),
        })
      const reply = await sample()
      expect(refused ? [refused] : [200, 201, 202], reply.text).toContain(reply.status)
      if (!isPost || isOfServer) return
      const before = await doneByKeys(elsewhere)
      const again = await sample()
      if (GIVES_A_SECRET.includes(label(route))) {
        expect([again.status, JSON.parse(again.text).code]).toEqual([409, 'ALREADY_EXISTS'])
        expect(again.text).not.toContain(reply.text.slice(1, -1))
      } else {
        const same = label(route) === TESTS ? withoutTimes : (text: string) => text
        const shown = SAYS_TIME_LEFT.includes(label(route)) ? withoutTimeLeft : same
        expect([again.status, shown(again.text)]).toEqual([reply.status, shown(reply.text)])
      }
      expect(await doneByKeys(elsewhere), 'what the repeat did').toEqual(before)
    },
  )

  test.each(byTag(withBody))(
    'of %s are refused for each wrong value at each place, by name',
    async (_, of) => {
      const wrong = of.flatMap((route) =>
        [...wrongBodies(route.body!, sampleOf(route.body!, own))].map((one) => [route, ...one] as const),
      )
      await nothingIsWrittenBy(() =>
        all(wrong, async ([route, body, field]) => {
          const reply = await post(route, { body })
          const what = `${label(route)}: ${field} in ${body.slice(0, 400)}`
          const { code, errors } = problemIn(reply, what)
          // Some routes accept only short bodies.
          if (code === 'BODY_TOO_LARGE' && body.length > DEEP.length) return
          expect([reply.status, code], what).toEqual([400, 'VALIDATION_FAILED'])
          if (typeof field === 'string') expect(errors[0].field, what).toBe(field)
          else expect(errors[0].field, what).toMatch(field)
        }),
      )
      expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    },
  )

  const WHOLE: [what: string, body: string | Buffer, codes: string[], headers?: Record<string, string>][] = [
    ['an array', '[]', ['VALIDATION_FAILED']],
    ['a text', '"text"', ['VALIDATION_FAILED']],
    ['null', 'null', ['VALIDATION_FAILED']],
    ['a number', '1', ['VALIDATION_FAILED']],
    ['half an object', '{"title":', ['MALFORMED_JSON']],
    ['an object and more', '{}}', ['MALFORMED_JSON']],
    ['single quotes', "{'title':'x'}", ['MALFORMED_JSON']],
    ['NaN', '{"title":NaN}', ['MALFORMED_JSON']],
    ['a prototype', '{"__proto__":{"polluted":1}}', ['VALIDATION_FAILED']],
    [
      'a prototype in disguise',
      '{"\\u005f_proto__":{"polluted":1}}',
      ['VALIDATION_FAILED', 'MALFORMED_JSON'],
    ],
    ['a prototype’s prototype', '{"constructor":{"prototype":{"polluted":1}}}', ['VALIDATION_FAILED']],
    ['forty thousand levels', DEEP, ['VALIDATION_FAILED', 'BODY_TOO_LARGE']],
    [
      'forty thousand objects',
      `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`,
      ['VALIDATION_FAILED', 'BODY_TOO_LARGE'],
    ],
    // As bytes: encoding them for each route would take longer than sending them.
    [
      'ten megabytes',
      Buffer.from(`{"nonsense":"${'x'.repeat(10_485_760)}"}`),
      ['VALIDATION_FAILED', 'BODY_TOO_LARGE'],
    ],
    ['ten megabytes of nothing', Buffer.alloc(10_485_760, ' '), ['MALFORMED_JSON', 'BODY_TOO_LARGE']],
    ['bytes that are no text', Buffer.from('7b22ff223a317d', 'hex'), ['VALIDATION_FAILED', 'MALFORMED_JSON']],
    ['no content type', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': '' }],
    ['plain text', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'text/plain' }],
    [
      'a form',
      'title=x',
      ['UNSUPPORTED_MEDIA_TYPE'],
      { 'content-type': 'application/x-www-form-urlencoded' },
    ],
    [
      'a multipart form',
      '--x--',
      ['UNSUPPORTED_MEDIA_TYPE'],
      { 'content-type': 'multipart/form-data; boundary=x' },
    ],
    ['almost JSON', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'application/jsonp' }],
    ['a nonsense type', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'json' }],
  ]
  test.each(WHOLE)('a body that is %s is refused by every route', async (what, body, codes, headers) => {
    await nothingIsWrittenBy(() =>
      all(withBody, async (route) => {
        const reply = await post(route, { body, headers })
        expect(codes, `${what} to ${label(route)}: ${reply.text}`).toContain(
          problemIn(reply, label(route)).code,
        )
      }),
    )
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
  test('that are empty are refused by every route that needs a field', async () => {
    const needy = withBody.filter(({ body }) => (body!.required ?? []).length > 0)
    expect(needy.length).toBeGreaterThan(10)
    await nothingIsWrittenBy(() =>
      all(needy, async (route) => {
        for (const headers of [undefined, { 'content-type': '' }])
          expect(problemIn(await post(route, { body: '', headers }), label(route)).errors[0].field).toBe(
            'body',
          )
      }),
    )
  })

  // As long as the replacement character of decoders, and not; by length, and in chunks.
  test.each(['f09f98', 'ff', 'eda080'])(
    'with the broken UTF-8 %s in a text are refused, not repaired',
    async (hex) => {
      const broken = (json: string) => {
        const [before, after] = json.split('@here@')
        return Buffer.concat([Buffer.from(before!), Buffer.from(hex, 'hex'), Buffer.from(after!)])
      }
      await nothingIsWrittenBy(async () => {
        for (const json of ['{"title":"a@here@b"}', '{"title":"x","input":{"@here@":1}}'])
          for (const headers of [undefined, { 'content-length': '', 'transfer-encoding': 'chunked' }])
            problemIn(await post(createTask, { body: broken(json), headers }), `${hex} in ${json}`)
      })
    },
  )

  test('may hold any text that can be stored, and return it unchanged', async () => {
    const odd = { '\\u0000': '\\u0000 \\ud800', constructor: 'x', prototype: { a: '😀\u2028\u007f' } }
    const task = {
      title: '😀 {"}\\ NULL',
      input: { ...odd, '': [0, -0.5, 1e300] },
      tags: ['{}', 'null', '"', '\\'],
    }
    const made = await w.post('/tasks', task)
    expect(made.status).toBe(201)
    expect(await w.read(made.body)).toMatchObject(task)
  })

  test('whose numbers cannot be represented are refused, not turned into null', async () => {
    const body = '{"title":"x","input":{"a":1e400}}'
    await nothingIsWrittenBy(async () => problemIn(await post(createTask, { body }), body))
  })
})

describe('a plan, which is read as text', () => {
  const PLAN_INVALID = ['PLAN_INVALID']
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const withInput = (json: string) =>
    `{"project":"${own.project}","tracks":{"A":[{"id":"A-001-x","input":${json}}]}}`
  const WHOLE: [what: string, body: string | Buffer, codes: string[], headers?: Record<string, string>][] = [
    ['nothing', '', PLAN_INVALID],
    ['an array', '[]', PLAN_INVALID],
    ['a text', '"text"', PLAN_INVALID],
    ['null', 'null', PLAN_INVALID],
    ['a number', '1', PLAN_INVALID],
    ['half an object', '{"project":', PLAN_INVALID],
    ['two documents', 'project: a\n---\nproject: b\n', PLAN_INVALID],
    ['another project’s', `project: ${foreign.project}\ntracks: {A: [{id: A-001-x}]}\n`, PLAN_INVALID],
    ['an anchor and its aliases', `a: &a [x]\nb: [*a, *a]\n`, PLAN_INVALID],
    ['a prototype', withInput('{"__proto__":{"polluted":1}}'), PLAN_INVALID],
    ['a prototype’s prototype', withInput('{"constructor":{"prototype":{"polluted":1}}}'), PLAN_INVALID],
    ['a NUL', withInput('"a\\u0000b"'), PLAN_INVALID],
    ['half a surrogate pair', withInput('{"\\ud800":1}'), PLAN_INVALID],
    ['a number beyond all bounds', withInput('1e400'), PLAN_INVALID],
    ['201 levels', withInput(deep(201)), PLAN_INVALID],
    ['forty thousand levels', DEEP, PLAN_INVALID],
    ['bytes that are no text', Buffer.from('7b22ff223a317d', 'hex'), PLAN_INVALID],
    ['ten megabytes', `project: "${'x'.repeat(10_485_760)}"`, ['BODY_TOO_LARGE']],
    ['no content type', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': '' }],
    ['plain text', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'text/plain' }],
    ['a form', 'a=b', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'application/x-www-form-urlencoded' }],
    ['almost JSON', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'application/jsonp' }],
    ['almost YAML', '{}', ['UNSUPPORTED_MEDIA_TYPE'], { 'content-type': 'application/yamlish' }],
  ]
  test.each(WHOLE)('is refused when it is or has %s', async (what, body, codes, headers) => {
    const TYPES = ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']
    await nothingIsWrittenBy(async () => {
      // For a dry run any project will do.
      const routes = what === 'another project’s' ? plans.filter(({ method }) => method === 'PUT') : plans
      for (const [route, type] of routes.flatMap((route) => TYPES.map((type) => [route, type] as const))) {
        const reply = await post(route, { body, headers: { 'content-type': type, ...headers } })
        const problem = problemIn(reply, `${what} as ${type} to ${label(route)}`)
        expect(codes, what).toContain(problem.code)
        if (problem.code === 'PLAN_INVALID')
          expect(problem.errors, what).toEqual(
            expect.arrayContaining([
              expect.objectContaining({ line: expect.any(Number), message: expect.any(String) }),
            ]),
          )
      }
    })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })
})
