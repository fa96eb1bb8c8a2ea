import { isUtf8 } from 'node:buffer'
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify'
import type { SignedBody } from '../pure/endpoint.ts'
import { Refused } from '../pure/errors.ts'
import { DEEPEST_JSON, JsonStructure } from '../pure/json-structure.ts'
import type { BodyPermits } from './body-permits.ts'
import { deeperThan, doubledKey, pathText } from './doubled-keys.ts'
import { GivenTwice, type PieceAt, parsedInPieces } from './json-pieces.ts'
import type { ReceivedBodies } from './received-bodies.ts'
import { whyNotStorable } from './storable.ts'

/**
 * Turns of long work on the event loop: one in each round, whoever asks. With `setImmediate` alone, the parts of all bodies that
 * are under way would run in the same round, one after the other, and hold it for as long as they take together.
 */
const waiting: (() => void)[] = []

const nextTurn = (): Promise<void> =>
  new Promise((begin) => {
    if (waiting.push(begin) === 1) setImmediate(beginOne)
  })

function beginOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(beginOne)
}

/**
 * As many values as a body may have, names not counted: ten thousand tasks with all their fields have half of that. Each takes up to
 * a hundred bytes of memory, so that one body cannot use up the memory of the server.
 */
const MOST_VALUES = 2_000_000

/** What is longer is counted and parsed in parts, with pauses in which other requests are served. */
const AT_ONCE_BYTES = 64 * 1024
/** To name a field that is too deep, so much is looked at. */
const NAMED_WITHIN_BYTES = 256 * 1024
const COUNTED_AT_ONCE_BYTES = 2 * 1024 * 1024

export interface BodyLimits {
  received: ReceivedBodies
  permits: BodyPermits
}

type Done = (error: Error | null, body?: unknown) => void

type ReadJson = (request: FastifyRequest, bytes: Buffer, done: Done) => void

export function installJsonParser(app: FastifyInstance, limits: BodyLimits): void {
  const read = jsonReader(app)
  app.removeAllContentTypeParsers()
  installParser(app, ['application/json'], limits, valuesIn, read)
}

/** Bodies are signed here: their bytes are kept, and are read when it is known who sent them. */
export function takeSigned(app: FastifyInstance, limits: BodyLimits): void {
  const read = jsonReader(app)
  app.removeAllContentTypeParsers()
  installParser(app, ['application/json'], limits, valuesIn, (request, bytes, done) => {
    const json = () =>
      new Promise((resolve, reject) =>
        read(request, bytes, (error, body) => (error ? reject(error) : resolve(body))),
      )
    done(null, { bytes, read: json } satisfies SignedBody)
  })
}

function jsonReader(app: FastifyInstance): ReadJson {
  const secureParse = app.getDefaultJsonParser('error', 'error')
  const parse = (request: FastifyRequest, text: string): unknown => {
    let outcome: { error: FastifyError | Error | null; body?: unknown } | undefined
    secureParse(request, text, (error, body) => {
      outcome = { error, body }
    })
    if (outcome!.error) throw poisonIn(text) ?? outcome!.error
    return outcome!.body
  }
  return (request, bytes, done) => {
    // Some clients send a content type without a body. The schema decides whether a body is required.
    if (bytes.length === 0) return done(null, undefined)
    // Decoding would silently replace broken characters and change what the client sent.
    if (!isUtf8(bytes)) return done(new Refused('MALFORMED_JSON', 'The body is not UTF-8.'))
    const checked = (text: string, at: PieceAt) => checkedPiece(parse(request, text), text, at)
    if (bytes.length <= AT_ONCE_BYTES) return parseAtOnce(bytes, checked, done)
    parseInPieces(bytes, checked).then((body) => done(null, body), done)
  }
}

/**
 * A parser that gets bodies within the limits of the process. What it does to a long one, and what is done with that later, counts
 * until the answer is there.
 */
export function installParser(
  app: FastifyInstance,
  types: string[],
  { received, permits }: BodyLimits,
  /** How many values it makes of a long body; it may refuse it. */
  count: (bytes: Buffer) => Promise<number>,
  parse: (request: FastifyRequest, bytes: Buffer, done: Done) => void,
): void {
  app.addContentTypeParser(types, (request, payload, done) => {
    received.receive(request, payload, (error, bytes) => {
      if (!bytes) return done(error, undefined)
      const admitted = permits.admit(request, bytes, count)
      if (!admitted) return parse(request, bytes, done)
      admitted.then(() => parse(request, bytes, done)).catch(done)
    })
  })
}

const WHOLE: PieceAt = { within: [], first: 0 }

function parseAtOnce(bytes: Buffer, checked: (text: string, at: PieceAt) => unknown, done: Done): void {
  let body: unknown
  try {
    const structure = new JsonStructure()
    structure.take(bytes)
    refuseTooDeep(structure, bytes)
    body = checked(bytes.toString(), WHOLE)
  } catch (error) {
    done(error as Error)
    return
  }
  done(null, body)
}

async function parseInPieces(
  bytes: Buffer,
  checked: (text: string, at: PieceAt) => unknown,
): Promise<unknown> {
  await nextTurn()
  const text = bytes.toString().replace(/^\ufeff/, '')
  try {
    const pieces = parsedInPieces(text, checked)
    for (let next = pieces.next(); ; next = pieces.next()) {
      if (next.done) return next.value
      await nextTurn()
    }
  } catch (error) {
    if (error instanceof GivenTwice) throw givenTwice(pathText(error.path))
    if (error instanceof SyntaxError) throw new Refused('MALFORMED_JSON', 'The body is not valid JSON.')
    throw error
  }
}

/** How many values a body has, counted with pauses. Refused if they are more than any request needs. */
async function valuesIn(bytes: Buffer): Promise<number> {
  const structure = new JsonStructure()
  for (let at = 0; at < bytes.length; at += COUNTED_AT_ONCE_BYTES) {
    await nextTurn()
    structure.take(bytes, at, Math.min(at + COUNTED_AT_ONCE_BYTES, bytes.length))
    refuseTooDeep(structure, bytes)
    if (structure.values > MOST_VALUES)
      throw new Refused(
        'BODY_TOO_LARGE',
        `The body has more than ${MOST_VALUES.toLocaleString('en')} values. Send it in several requests.`,
      )
  }
  return structure.values
}

/** What a body contains may have that many levels; the body itself is one more. */
function refuseTooDeep({ depth }: JsonStructure, bytes: Buffer): void {
  if (depth <= DEEPEST_JSON + 1) return
  const field = deepFieldIn(bytes.toString('utf8', 0, NAMED_WITHIN_BYTES))
  throw Refused.field('VALIDATION_FAILED', field, `is nested deeper than ${DEEPEST_JSON} levels`)
}

function deepFieldIn(text: string): string {
  try {
    return pathText(deeperThan(DEEPEST_JSON + 1, text) ?? []) || 'body'
  } catch {
    // The text is no JSON, or was cut.
    return 'body'
  }
}

/** Keys that would change object prototypes. Fastify's parser rejects them but does not name the field. */
function poisonIn(text: string): Refused | null {
  const [, field] = /"(__proto__|constructor)"\s*:/.exec(text) ?? []
  return field === undefined ? null : poison(field)
}

const poison = (field: string) => Refused.field('VALIDATION_FAILED', field, 'is not a field of any request')

const givenTwice = (field: string) => Refused.field('VALIDATION_FAILED', field, 'is given twice')

function checkedPiece(value: unknown, text: string, { within, first }: PieceAt): unknown {
  if (within.at(-1) === 'constructor' && Object.hasOwn(Object(value), 'prototype'))
    throw poison('constructor')
  const placed = ([name, ...below]: (string | number)[]) =>
    pathText([
      ...within,
      ...(name === undefined ? [] : [typeof name === 'number' ? name + first : name]),
      ...below,
    ])
  const doubled = doubledKey(text, value)
  if (doubled) throw givenTwice(placed(doubled))
  const found = whyNotStorable(text, value)
  if (found) throw Refused.field('VALIDATION_FAILED', placed(found.path) || 'body', found.message)
  return value
}
