import { isUtf8 } from 'node:buffer'
import type { FastifyInstance } from 'fastify'
import { refusedPlan } from '../kinds/mission/plan/refusal.ts'
import type { Refused } from '../pure/errors.ts'
import { type BodyLimits, installParser } from './bodies.ts'

const YAML_TYPES = ['application/yaml', 'application/x-yaml', 'text/yaml', 'text/x-yaml']

/** Bodies are plans here: parsed from text, so that every problem is reported with its line. */
export function takePlans(app: FastifyInstance, bodies: BodyLimits): void {
  app.removeAllContentTypeParsers()
  // Its values are not counted here: a long plan is read by another thread, which has memory of its own.
  const uncounted = async () => 0
  installParser(app, ['application/json', ...YAML_TYPES], bodies, uncounted, (_request, bytes, done) => {
    if (isUtf8(bytes)) done(null, { text: bytes.toString() })
    else done(notUtf8(bytes))
  })
}

/** Reported with its line, like every problem of a plan. */
function notUtf8(bytes: Buffer): Refused {
  let line = 1
  for (let start = 0; ; line++) {
    const end = bytes.indexOf('\n', start)
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) break
    start = end + 1
  }
  return refusedPlan([{ line, column: 0, path: '', at: '', message: 'this is not UTF-8' }])
}
