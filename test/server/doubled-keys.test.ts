import { describe, expect, test } from 'vitest'
import { doubledKey, pathText } from '../../src/server/doubled-keys.ts'
import { expectRefusal, useServer } from '../support/http-workspace.ts'

const found = (text: string) => {
  const path = doubledKey(text, JSON.parse(text))
  return path && pathText(path)
}

describe('a key that an object has twice', () => {
  test.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"a":1}', 'a'],
    ['{"a":{"b":1,"c":2,"b":3}}', 'a.b'],
    ['[{"x":1},{"x":1,"y":[0,{"z":1,"z":2}]}]', '[1].y[1].z'],
    ['{"tasks":[{"title":"a"},{"title":"b","title":"c"}]}', 'tasks[1].title'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"\\"":1,"\\u0022":2}', '"'],
    ['{"\\\\":1,"\\u005c":2}', '\\'],
    ['{"":1,"":2}', '""'],
    ['{"é":1,"\\u00e9":2}', 'é'],
    ['{"😀":1,"\\ud83d\\ude00":2}', '😀'],
    ['{ "a" : 1 ,\n\t"a"\r\n: 2 }', 'a'],
    ['{"1":1,"1":2}', '1'],
    ['{"a":"{\\"b\\":1,\\"b\\":2}","a":2}', 'a'],
    ['{"toString":1,"toString":2}', 'toString'],
  ])('is found in %s', (text, path) => expect(found(text)).toBe(path))

  test.each([
    '1',
    'null',
    '"a"',
    '{}',
    '[]',
    '{"a":1,"A":2}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":"\\\\","b":"\\\\\\"","c":":"}',
    '{"a":["a","a",":"],"b":"a:"}',
    '["a" , "a"]',
    '{"toString":1,"hasOwnProperty":2}',
  ])('is not in %s', (text) => expect(found(text)).toBe(null))

  test('is found in any text, however it is written, and nowhere else', () => {
    let state = 1
    const chance = (of: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % of
    }
    const blanks = () => ['', '', ' ', '\n\t '][chance(4)]
    const KEYS = ['a', 'b', '"', '\\', ':', '{', 'é', '1', 'a"b']
    const written = (key: string) =>
      chance(2) === 0
        ? JSON.stringify(key)
        : `"${[...key].map((sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
    let planted = 0
    const value = (depth: number): string => {
      const kind = depth > 4 ? chance(3) : chance(6)
      if (kind < 3) return ['12.5e3', written(KEYS[chance(KEYS.length)]!), 'null'][kind]!
      const size = chance(4)
      if (kind === 3) return `[${Array.from({ length: size }, () => blanks() + value(depth + 1)).join(',')}]`
      const keys = [...KEYS].sort(() => chance(3) - 1).slice(0, size)
      if (size > 0 && chance(12) === 0) {
        planted++
        keys.push(keys[chance(size)]!)
      }
      const members = keys.map(
        (key) => `${blanks()}${written(key)}${blanks()}:${blanks()}${value(depth + 1)}`,
      )
      return `{${members.join(',')}${blanks()}}`
    }
    let doubled = 0
    for (let i = 0; i < 5_000; i++) {
      planted = 0
      const text = value(0)
      if (planted > 0) doubled++
      expect(found(text) !== null, text).toBe(planted > 0)
    }
    expect(doubled).toBeGreaterThan(300)
    expect(doubled).toBeLessThan(4_700)
  })
})

describe('over HTTP', () => {
  const { workspace } = useServer()

  test('a body with a doubled key is refused, the key is named, and nothing is written', async () => {
    const w = await workspace()
    const refused = (body: string, path: string, field: string) =>
      w.call('POST', path, body).then((answer) =>
        expectRefusal(answer, 400, 'VALIDATION_FAILED', {
          errors: [{ field, message: 'is given twice' }],
        }),
      )
    await refused('{"title":"harmless","title":"other"}', '/tasks', 'title')
    await refused('{"title":"harmless","\\u0074itle":"other"}', '/tasks', 'title')
    await refused('{"title":"a","input":{"n":[{"x":1,"x":2}]}}', '/tasks', 'input.n[0].x')
    await refused('{"tasks":[{"title":"a"},{"title":"b","title":"c"}]}', '/tasks/batch', 'tasks[1].title')
    await refused('{"agent":"a","session":"s","agent":"b"}', '/claims/next', 'agent')
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])
  })

  test.each([
    ['application/json', '{"project":"shop","project":"shop","tracks":{}}'],
    ['application/json', '{"project":"shop","tracks":{"A":[{"id":"A-001-x","input":{"k":1,"\\u006b":2}}]}}'],
    ['application/yaml', 'project: shop\nproject: shop\ntracks: {}\n'],
    ['application/yaml', 'project: shop\ntracks:\n  A:\n    - {id: A-001-x, input: {k: 1, "k": 2}}\n'],
  ])('so is a plan: %s %s', async (type, plan) => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    const answer = await w.call('PUT', '/projects/shop/plan', plan, { 'content-type': type })
    expectRefusal(answer, 422, 'PLAN_INVALID')
    expect(answer.body.detail).toContain('is given twice')
  })
})
