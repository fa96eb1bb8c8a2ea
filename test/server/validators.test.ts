import type { Ajv } from '@fastify/ajv-compiler'
import { expect, test, vi } from 'vitest'
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
