import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { EVENTS } from '../../src/kinds/catalogue.ts'
import { PROMPT_VARIABLES } from '../../src/kinds/run/prompts/variables.ts'
import { RUN_ERRORS } from '../../src/kinds/run/rules/outcomes.ts'
import { SKIP_REASONS } from '../../src/kinds/run/rules/wakeups.ts'
import { ERRORS } from '../../src/pure/errors.ts'
import { AGENT_STATES, CLAIM_ENDS, SESSION_STATES, TASK_STATES } from '../../src/pure/states.ts'
import { useServer } from '../support/http-workspace.ts'

/**
 * What clients rely on, compared with copies in test/contract. Clients may be given more than the copies say, never less:
 * adding a field needs no change there; removing or renaming one fails here. They hold no text for people, which may change.
 */

const { served } = useServer()
const copyOf = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../contract', `${name}.json`), 'utf8'))

/** Text for people, which may change. */
const ANNOTATIONS = new Set(['description', 'summary', 'title', 'example', 'examples', 'info'])

/** What is in the copy and no longer holds, by path. */
function* broken(copy: unknown, now: unknown, path: string): Generator<string> {
  if (Array.isArray(copy)) {
    if (!Array.isArray(now)) return yield `${path} is no list`
    const isSet = copy.every((one) => typeof one !== 'object' || one === null)
    if (isSet) {
      for (const one of copy) if (!now.includes(one)) yield `${path} lacks ${one}`
      // A request that was complete must stay complete.
      if (path.includes('requestBody') && path.endsWith('.required'))
        for (const one of now) if (!copy.includes(one)) yield `${path} now demands ${one}`
    } else
      for (const [i, one] of copy.entries()) yield* broken(one, counterpart(one, now, i), `${path}[${i}]`)
  } else if (typeof copy === 'object' && copy !== null) {
    if (typeof now !== 'object' || now === null) return yield `${path} is gone`
    if (isStillAccepted(copy, now, path)) return
    for (const [key, value] of Object.entries(copy)) {
      if (ANNOTATIONS.has(key) && typeof value === 'string') continue
      if (key === 'info' || key === 'tags') continue
      yield* broken(value, (now as Record<string, unknown>)[key], `${path}.${key}`)
    }
  } else if (copy !== now && !isHigherLimit(copy, now, path)) yield `${path} was ${copy}, is ${now}`
}

/** A request may be what it was, or something else as well. */
const isStillAccepted = (
  copy: object,
  { anyOf, oneOf }: { anyOf?: unknown[]; oneOf?: unknown[] },
  path: string,
) =>
  path.includes('requestBody') &&
  !('anyOf' in copy || 'oneOf' in copy) &&
  (anyOf ?? oneOf ?? []).some((one) => [...broken(copy, one, path)].length === 0)

const isHigherLimit = (copy: unknown, now: unknown, path: string) =>
  path.includes('requestBody') &&
  /\.(maxItems|maxLength|maximum)$/.test(path) &&
  typeof now === 'number' &&
  now > (copy as number)

/** Parameters have names; alternatives have places. */
function counterpart(one: unknown, among: readonly unknown[], place: number): unknown {
  const { name, in: where } = one as { name?: string; in?: string }
  if (name === undefined || where === undefined) return among[place]
  return among.find((other) => {
    const its = other as { name?: string; in?: string }
    return its.name === name && its.in === where
  })
}

const breaks = (copy: unknown, now: unknown) => [...broken(copy, now, '')]

describe('what clients rely on is still there', () => {
  test('paths, parameters, bodies, answers and their fields', async () => {
    const now = await (await fetch(`${served().url}/openapi.json`)).json()
    expect(breaks(copyOf('openapi'), now)).toEqual([])
  })

  test('event types and the fields of their payloads', () => {
    expect(breaks(copyOf('events'), eventSchemas())).toEqual([])
  })

  test('codes, reasons, states, prompt variables and settings', () => {
    expect(breaks(copyOf('names'), names())).toEqual([])
  })

  test('what the package exports', async () => {
    const [queue, adapter, client, store] = await Promise.all([
      import('../../src/queue/queue.ts'),
      import('../../src/adapters/protocol.ts'),
      import('../../src/client/client.ts'),
      import('../../src/kernel/store/store.ts'),
    ])
    const exported = {
      baton: Object.keys(queue),
      adapter: Object.keys(adapter),
      client: Object.keys(client),
      store: Object.keys(store),
    }
    expect(breaks(copyOf('exports'), exported)).toEqual([])
  })
})

describe('money and tokens have one name in all answers', () => {
  test.each(['the copy', 'the document'])('in %s', async (which) => {
    const { paths } =
      which === 'the copy' ? copyOf('openapi') : await (await fetch(`${served().url}/openapi.json`)).json()
    const answers: [string, unknown][] = Object.entries<Record<string, { responses: object }>>(paths).flatMap(
      ([path, methods]) =>
        Object.values(methods).map(({ responses }): [string, unknown] => [path, responses]),
    )
    const fields = answers.flatMap(([path, answer]) => [...fieldsIn(answer, path)])
    expect(fields.filter(([, name]) => LOST.test(name))).toEqual([])
    const tokens = fields
      .filter(([, name]) => name === 'tokens')
      .map(([path, , shape]) => [path, namesOf(shape)])
    expect(tokens.length).toBeGreaterThan(0)
    for (const [path, names] of tokens)
      expect(names, path as string).toEqual(
        expect.arrayContaining(['input', 'cachedInput', 'cacheWrite', 'output']),
      )
    // Those of limits are no runs.
    expect(fields.filter(([path, name]) => name === 'usage' && !path.endsWith('/limits'))).toEqual([])
  })
})

const LOST =
  /^(cost|usd|limit(Usd|Tokens)|total(Cost|Usd|Tokens)|total\w+(Usd|Tokens)|actual(Usd|Tokens)|(input|cachedInput|output)Tokens)$/

type SchemaPart = { properties?: Record<string, SchemaPart>; anyOf?: SchemaPart[] }
const namesOf = ({ properties, anyOf = [] }: SchemaPart): string[] =>
  properties ? Object.keys(properties) : anyOf.flatMap(namesOf)

function* fieldsIn(part: unknown, path: string): Generator<[path: string, name: string, shape: SchemaPart]> {
  if (typeof part !== 'object' || part === null) return
  for (const [key, value] of Object.entries(part)) {
    if (key === 'properties')
      for (const [name, shape] of Object.entries(value as Record<string, SchemaPart>))
        yield [path, name, shape]
    yield* fieldsIn(value, path)
  }
}

test('a field that is gone, a code that changed and a request that demands more are noticed', () => {
  const copy = {
    requestBody: { required: ['a'], properties: { a: { type: 'string' } } },
    parameters: [{ name: 'q', in: 'query' }],
    codes: { GONE: 404 },
  }
  expect(breaks(copy, structuredClone(copy))).toEqual([])
  expect(breaks(copy, { ...copy, more: 1, description: 'new' })).toEqual([])
  expect(breaks(copy, { ...copy, codes: { GONE: 410 } })).toEqual(['.codes.GONE was 404, is 410'])
  expect(breaks(copy, { ...copy, parameters: [] })).toEqual(['.parameters[0] is gone'])
  const demanding = { requestBody: { required: ['a', 'b'], properties: {} } }
  expect(breaks(copy, { ...copy, ...demanding })).toEqual([
    '.requestBody.required now demands b',
    '.requestBody.properties.a is gone',
  ])
})

test('a request that may be more than before breaks nothing; an answer that may be does', () => {
  const list = (most: number, items: object) => ({ schema: { maxItems: most, items } })
  const before = list(10, { type: 'string' })
  const after = list(20, { anyOf: [{ type: 'string' }, { type: 'object' }] })
  expect(breaks({ requestBody: before }, { requestBody: after })).toEqual([])
  expect(breaks({ requestBody: after }, { requestBody: before })).not.toEqual([])
  expect(breaks({ requestBody: before }, { requestBody: list(20, { anyOf: [{ type: 'object' }] }) })).toEqual(
    ['.requestBody.schema.items.type was string, is undefined'],
  )
  expect(breaks({ answer: before }, { answer: after })).toHaveLength(2)
})

function eventSchemas() {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([type, shape]) => [type, z.toJSONSchema(shape, { io: 'input' })]),
  )
}

/** Those that Baton reads, and those that it gives to agents. */
function environmentVariables(): string[] {
  const src = join(import.meta.dirname, '../../src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const found = files.flatMap(
    (name) => readFileSync(join(src, name), 'utf8').match(/\bBATON_[A-Z_]+[A-Z]\b/g) ?? [],
  )
  return [...new Set(found)].sort()
}

function names() {
  return {
    errors: Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
    runErrors: Object.fromEntries(
      Object.entries(RUN_ERRORS).map(([code, { task, stopsAgent }]) => [code, { task, stopsAgent }]),
    ),
    skipReasons: Object.keys(SKIP_REASONS),
    claimEnds: CLAIM_ENDS,
    taskStates: TASK_STATES,
    agentStates: AGENT_STATES,
    sessionStates: SESSION_STATES,
    promptVariables: PROMPT_VARIABLES.map(({ path }) => path),
    environment: environmentVariables(),
  }
}
