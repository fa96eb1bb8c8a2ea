import { expect, test } from 'vitest'
import { columnsWithin } from '../src/parts/columns-within.ts'

const COLUMNS = [
  { name: 'state', width: '100px' },
  { name: 'name', width: 'minmax(200px, 2fr)' },
  { name: 'now', width: 'minmax(120px, 1fr)' },
  { name: 'cost', width: '72px' },
]
/** 492 px of columns, three gaps of 12 and 48 of padding. */
const ALL_PX = 576

const names = (width: number) => columnsWithin(COLUMNS, ['cost', 'now'], width).map(({ name }) => name)

test('columns go in their order when the others would have less than they need, and no sooner', () => {
  expect(names(ALL_PX)).toEqual(['state', 'name', 'now', 'cost'])
  expect(names(ALL_PX - 1)).toEqual(['state', 'name', 'now'])
  expect(names(ALL_PX - 84 - 1)).toEqual(['state', 'name'])
})

test('the name stays, however narrow the table is', () => {
  expect(names(0)).toEqual(['state', 'name'])
})
