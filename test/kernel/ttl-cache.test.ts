import { expect, test } from 'vitest'
import { TtlCache } from '../../src/kernel/ttl-cache.ts'

/** A lookup that is answered when the test says so. */
function slowly() {
  let answer: (value: string) => void = () => undefined
  const lookUp = () => new Promise<string>((resolve) => (answer = resolve))
  return { lookUp, answer: (value: string) => answer(value) }
}
const never = () => Promise.reject(new Error('it was read again'))

test('a cached value is returned at once, and concurrent lookups share one read', async () => {
  const memory = new TtlCache<string>(60_000, 10)
  const { lookUp, answer } = slowly()
  const waiting = [memory.get('key', lookUp), memory.get('key', never)]
  answer('value')
  expect(await Promise.all(waiting)).toEqual(['value', 'value'])
  expect(memory.get('key', never)).toBe('value')
})

test.each<[what: string, forget: (memory: TtlCache<string>) => void]>([
  ['forgotten', (memory) => memory.forget('key')],
  ['deleted with all else', (memory) => memory.clear()],
])('what was read before it was %s is not cached', async (_what, forget) => {
  const memory = new TtlCache<string>(60_000, 10)
  const { lookUp, answer } = slowly()
  const early = memory.get('key', lookUp)
  forget(memory)
  const late = memory.get('key', async () => 'new')
  answer('old')
  expect([await early, await late]).toEqual(['old', 'new'])
  expect(memory.get('key', never)).toBe('new')
})

test('a value set meanwhile is not overwritten by an earlier read', async () => {
  const memory = new TtlCache<string>(60_000, 10)
  const { lookUp, answer } = slowly()
  const early = memory.get('key', lookUp)
  memory.set('key', 'new')
  answer('old')
  await early
  expect(memory.get('key', never)).toBe('new')
})

test('a failed lookup is not cached', async () => {
  const memory = new TtlCache<string>(60_000, 10)
  await expect(memory.get('key', never)).rejects.toThrow()
  expect(await memory.get('key', async () => 'value')).toBe('value')
})

test('a value that was read elsewhere is cached, unless something was invalidated since', () => {
  const memory = new TtlCache<string>(60_000, 10)
  const before = memory.invalidations
  memory.keep('key', 'read', before)
  expect(memory.get('key', never)).toBe('read')
  memory.set('key', 'new')
  memory.keep('key', 'old', before)
  expect(memory.get('key', never)).toBe('new')
})
