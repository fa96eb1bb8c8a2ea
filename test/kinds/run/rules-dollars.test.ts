import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDollars, dollarsOf, picosOf, storedDollars } from '../../../src/kinds/run/rules/dollars.ts'

test('amounts keep twelve decimals, rounded half up, without trailing zeros', () => {
  const cases: [string, string][] = [
    ['0', '0'],
    ['1', '1'],
    ['1.50', '1.5'],
    ['0.0000000000004', '0'],
    ['0.0000000000005', '0.000000000001'],
    ['12.3456789012345', '12.345678901235'],
    ['1e-7', '0.0000001'],
    ['1.5e3', '1500'],
    ['4E-13', '0'],
    ['999999999999.123456789012', '999999999999.123456789012'],
  ]
  for (const [given, stored] of cases) expect(storedDollars(given), given).toBe(stored)
  expect(storedDollars(null)).toBeNull()
})

test('a total is the sum of what its parts were stored as, where floats would drift', () => {
  expect(addDollars('0.1', '0.2')).toBe('0.3')
  expect(addDollars('0.1', null)).toBe('0.1')
  fc.assert(
    fc.property(fc.array(fc.bigInt(0n, 10n ** 24n)), (amounts) => {
      const total = amounts.reduce((sum, picos) => addDollars(sum, dollarsOf(picos)), '0')
      expect(picosOf(total)).toBe(amounts.reduce((sum, picos) => sum + picos, 0n))
    }),
  )
})

test('any number that a program reports is an amount', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e12, noNaN: true }), (cost) => {
      expect(Math.abs(Number(storedDollars(String(cost))) - cost)).toBeLessThanOrEqual(cost * 1e-12 + 1e-12)
    }),
  )
})
