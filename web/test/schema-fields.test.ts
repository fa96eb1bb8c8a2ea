import { describe, expect, test } from 'vitest'
import { configOf, fieldsOf, valuesOf } from '../src/forms/schema-fields.ts'

const SCHEMA = {
  type: 'object',
  properties: {
    timeoutSec: { type: 'integer', default: 1_800 },
    url: { type: 'string' },
    method: { type: 'string', enum: ['POST', 'PUT'], default: 'POST' },
    isLoud: { type: 'boolean', default: false },
    extraArgs: { type: 'array', items: { type: 'string' }, default: [] },
    env: { type: 'object', additionalProperties: { type: 'string' }, default: {} },
    budget: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    hooks: { type: 'object', properties: { before: {} } },
    promptTemplate: { type: 'string', description: 'What it is told' },
  },
  required: ['url'],
}
const FIELDS = fieldsOf(SCHEMA, ['promptTemplate'])
const STORED = {
  url: 'http://127.0.0.1/take',
  timeoutSec: 60,
  method: 'PUT',
  isLoud: true,
  extraArgs: ['--a', '--b'],
  env: { TOKEN: '********' },
  budget: 2.5,
  hooks: { before: { command: 'true' } },
}

describe('a form from a schema', () => {
  test('has what is required first, and leaves out what another editor has', () => {
    expect(FIELDS.map(({ name, kind }) => [name, kind])).toEqual([
      ['url', 'text'],
      ['timeoutSec', 'number'],
      ['method', 'choice'],
      ['isLoud', 'switch'],
      ['extraArgs', 'list'],
      ['env', 'map'],
      ['budget', 'number'],
      ['hooks', 'json'],
    ])
  })

  test('gives back the settings that it was filled with', () => {
    expect(configOf(FIELDS, valuesOf(FIELDS, STORED))).toEqual({ config: STORED, problems: {} })
  })

  test('leaves out empty fields, so that the default counts', () => {
    const values = { ...valuesOf(FIELDS, {}), url: 'http://127.0.0.1' }
    expect(configOf(FIELDS, values)).toEqual({ config: { url: 'http://127.0.0.1' }, problems: {} })
  })

  test('says which fields cannot be read, all at once', () => {
    const values = { ...valuesOf(FIELDS, {}), timeoutSec: '1.5', budget: 'much', hooks: '{' }
    expect(Object.keys(configOf(FIELDS, values).problems)).toEqual(['url', 'timeoutSec', 'budget', 'hooks'])
  })

  test('keeps the order of rows and ignores those without a name', () => {
    const env = [
      { name: 'B', value: '1' },
      { name: ' ', value: 'lost' },
      { name: 'A', value: '' },
    ]
    const { config } = configOf(FIELDS, { ...valuesOf(FIELDS, STORED), env })
    expect(Object.entries(config.env as object)).toEqual([
      ['B', '1'],
      ['A', ''],
    ])
  })
})
