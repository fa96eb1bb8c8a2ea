import type { Ajv } from '@fastify/ajv-compiler'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { RequestSchema } from '../../src/server/schema.ts'
import { compilers } from '../../src/server/validators.ts'

const SHAPE = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }

test('a validator is compiled when it is first used, once, and says what is wrong each time', () => {
  let compile = vi.fn()
  const onCreate = (ajv: Ajv) => {
    compile = vi.spyOn(ajv, 'compile') as never
  }
  const build = compilers().buildValidator({}, { onCreate, customOptions: {} })
  const validate = build({ schema: SHAPE } as never)
  expect(compile).not.toHaveBeenCalled()
  const paths = (value: unknown) => [validate(value), validate.errors?.map(({ keyword }) => keyword)]
  expect(paths({})).toEqual([false, ['required']])
  expect(paths({ name: 'x' })).toEqual([true, undefined])
  expect(paths({ name: {} })).toEqual([false, ['type']])
  expect(compile).toHaveBeenCalledTimes(1)
})

test('servers of one process compile the shape of a request once, whichever of their routes has it', () => {
  const { buildValidator } = compilers()
  const shape = z.strictObject({ name: z.string() })
  expect(RequestSchema.of(shape)).toBe(RequestSchema.of(shape))
  const compiled = vi.fn()
  const onCreate = (ajv: Ajv) => {
    const compile = ajv.compile.bind(ajv)
    ajv.compile = ((schema: object) => compiled(schema) ?? compile(schema)) as never
  }
  const servers = [1, 2].map(() => buildValidator({}, { onCreate, customOptions: {} }))
  const validators = servers.map((build) => build({ schema: RequestSchema.of(shape) } as never))
  for (const validate of validators) expect([validate({ name: 'x' }), validate({})]).toEqual([true, false])
  expect(compiled).toHaveBeenCalledTimes(1)
})
