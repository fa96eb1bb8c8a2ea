import { expect, test } from 'vitest'
import { type MarkedTask, markChanges, type Untaken } from '../../../src/kinds/alert/rules/untaken.ts'

/** Of which tasks people are told that nobody takes them. */

const NOW = 1_000_000
const GRACE_MS = 5_000

const untaken = (id: number, more: Partial<Untaken> = {}): Untaken => ({
  ...{
    id,
    uuid: `task-${id}`,
    version: 1,
    group: 'lane a',
    reason: 'no agent has a',
    at: NOW,
    isSudden: false,
  },
  ...more,
})
const raised = (id: number, more: Partial<MarkedTask> = {}): MarkedTask => ({
  ...{
    id,
    uuid: `task-${id}`,
    version: 1,
    group: 'lane a',
    reason: 'no agent has a',
    told: 'no agent has a',
  },
  ...{ isOpen: true, ...more },
})
const changes = (of: readonly Untaken[], known: readonly MarkedTask[] = []) => {
  const { raise, clear, nextAt } = markChanges(of, known, NOW, GRACE_MS)
  return { raise: raise.map(({ id }) => id), clear: clear.map(({ id }) => id), nextAt }
}
const NOTHING = { raise: [], clear: [], nextAt: null }

test('an alert is raised when its time has come, and not before', () => {
  expect(changes([untaken(1)])).toEqual({ ...NOTHING, raise: [1] })
  expect(changes([untaken(1, { at: NOW + 1 }), untaken(2, { at: NOW + 9, group: 'lane b' })])).toEqual({
    ...NOTHING,
    nextAt: NOW + 1,
  })
})

test('what is true at once must last for a while before people are told', () => {
  expect(changes([untaken(1, { isSudden: true })])).toEqual({ ...NOTHING, nextAt: NOW + GRACE_MS })
  expect(changes([untaken(1, { isSudden: true, at: NOW - GRACE_MS })])).toEqual({ ...NOTHING, raise: [1] })
  // Told to somebody who looked, it is not taken back.
  expect(changes([untaken(1, { isSudden: true })], [raised(1)])).toEqual(NOTHING)
})

test('an alert stays with its task while anything of its group counts', () => {
  expect(changes([untaken(2)], [raised(1)])).toEqual(NOTHING)
  expect(changes([untaken(2)], [raised(1, { isOpen: false })])).toEqual({
    ...NOTHING,
    raise: [2],
    clear: [1],
  })
  expect(changes([untaken(2, { group: 'lane b' })], [raised(1)])).toEqual({
    ...NOTHING,
    raise: [2],
    clear: [1],
  })
  expect(changes([], [raised(1)])).toEqual({ ...NOTHING, clear: [1] })
})

test('an alert whose reason has changed is raised with the new one', () => {
  const known = raised(1, { reason: 'a is offline', told: 'a is paused' })
  expect(changes([untaken(1)], [known])).toEqual({ ...NOTHING, raise: [1] })
})
