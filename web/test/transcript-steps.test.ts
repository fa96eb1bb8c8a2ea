import { expect, test } from 'vitest'
import type { Step } from '../../src/kinds/run/shapes/transcript.ts'
import { foldedSteps, isOpenAtFirst, sumOf, withSteps } from '../src/logs/steps/fold.ts'

const step = (n: number, change: Partial<Step> = {}): Step => ({
  n,
  at: '2026-01-01T00:00:00.000Z',
  kind: 'call',
  title: `step ${n}`,
  tool: 'Read',
  isError: false,
  isOpen: false,
  durationMs: 100,
  tokens: { input: 10, cachedInput: null, cacheWrite: null, output: 5 },
  costUsd: null,
  stream: 'stdout',
  offset: n * 100,
  bytes: 100,
  text: '',
  output: null,
  outputOffset: null,
  outputBytes: null,
  callId: null,
  ...change,
})
const numbers = (steps: Step[], isGrowing = false) =>
  foldedSteps(steps, 'all', isGrowing).map((row) => row.steps.map(({ n }) => n))

test('calls of the same tool in a row are one row', () => {
  const steps = [step(1), step(2), step(3), step(4, { tool: 'Bash' }), step(5)]
  expect(numbers(steps)).toEqual([[1, 2, 3], [4], [5]])
})

test('what is said between two calls keeps them apart', () => {
  expect(numbers([step(1), step(2, { kind: 'said', tool: null }), step(3)])).toEqual([[1], [2], [3]])
  expect(numbers([step(1, { kind: 'said', tool: null }), step(2, { kind: 'said', tool: null })])).toEqual([
    [1],
    [2],
  ])
})

test('failed and waiting steps are never folded away, and the last one not while it may change', () => {
  expect(numbers([step(1), step(2, { isError: true }), step(3)])).toEqual([[1], [2], [3]])
  expect(numbers([step(1), step(2, { isOpen: true })])).toEqual([[1], [2]])
  expect(numbers([step(1), step(2)], true)).toEqual([[1], [2]])
  expect(numbers([step(1), step(2)], false)).toEqual([[1, 2]])
})

test('failed, waiting and last rows are open at first', () => {
  const open = (steps: Step[], isLast = false) => isOpenAtFirst({ key: 1, steps }, isLast)
  expect(open([step(1)])).toBe(false)
  expect(open([step(1)], true)).toBe(true)
  expect(open([step(1, { isError: true })])).toBe(true)
  expect(open([step(1, { isOpen: true })])).toBe(true)
  expect(open([step(1, { kind: 'asked' })])).toBe(true)
  expect(open([step(1), step(2)], true)).toBe(false)
})

test('filters show failed steps or calls only', () => {
  const steps = [step(1, { kind: 'said', tool: null }), step(2), step(3, { isError: true, tool: 'Bash' })]
  const shown = (filter: 'failed' | 'calls') =>
    foldedSteps(steps, filter, false).flatMap((row) => row.steps.map(({ n }) => n))
  expect(shown('failed')).toEqual([3])
  expect(shown('calls')).toEqual([2, 3])
})

test('a step that comes again replaces itself and keeps its place', () => {
  const known = [step(1), step(2, { isOpen: true }), step(3)]
  const all = withSteps(known, [step(4), step(2, { output: 'done' })])
  expect(all.map(({ n, output }) => [n, output])).toEqual([
    [1, null],
    [2, 'done'],
    [3, null],
    [4, null],
  ])
  expect(withSteps(known, [])).toBe(known)
})

test('what is unknown is not zero', () => {
  expect(sumOf([step(1), step(2, { durationMs: null })], ({ durationMs }) => durationMs)).toBe(100)
  expect(
    sumOf([step(1, { costUsd: null })], ({ costUsd }) => (costUsd === null ? null : Number(costUsd))),
  ).toBe(null)
})

test('a text is found in titles, tools, texts and outputs, whatever its case', () => {
  const steps = [
    step(1),
    step(2, { tool: 'Bash' }),
    step(3, { text: 'a Bash script' }),
    step(4, { output: 'bash: no' }),
  ]
  const found = (find: string) =>
    foldedSteps(steps, 'all', false, find).flatMap((row) => row.steps.map(({ n }) => n))
  expect(found(' BASH ')).toEqual([2, 3, 4])
  expect(found('step 1')).toEqual([1])
  expect(found('nowhere')).toEqual([])
  expect(found('')).toEqual([1, 2, 3, 4])
})
