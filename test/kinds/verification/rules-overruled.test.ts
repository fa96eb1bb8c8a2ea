import { expect, test } from 'vitest'
import { countVerdicts, type Decided, type Judged } from '../../../src/views/insight/overruled.ts'

/** How often people decided otherwise than verifiers. */

const judged = (seq: number, verdict: Judged['verdict'], generation = 1): Judged => ({
  ...{ seq, task: 1, generation, verdict },
})
const decided = (seq: number, decision: Decided['decision'], generation = 1): Decided => ({
  ...{ seq, task: 1, generation, decision },
})

test('a decision before the verdict, or about another claim or task, overrules nothing', () => {
  const verdict = judged(5, 'passed', 2)
  for (const decision of [
    decided(4, 'reset', 2),
    decided(6, 'reset', 3),
    { ...decided(6, 'reset', 2), task: 2 },
    decided(6, 'approved', 2),
  ])
    expect(countVerdicts([verdict], [decision])).toMatchObject({ passed: 1, passedOverruled: 0 })
  expect(countVerdicts([verdict], [decided(6, 'reset', 2)])).toMatchObject({ passedOverruled: 1 })
})

test('a failed result is replaced by one of a later claim, too', () => {
  const counts = countVerdicts([judged(1, 'failed')], [decided(9, 'replaced', 3)])
  expect(counts).toMatchObject({ failed: 1, failedOverruled: 1 })
})

test('each verdict counts once, however often people decided', () => {
  const counts = countVerdicts(
    [judged(1, 'unsure'), judged(5, 'unsure', 2)],
    [decided(2, 'rejected'), decided(6, 'approved', 2), decided(7, 'approved', 2)],
  )
  expect(counts).toMatchObject({ unsure: 2, unsureApproved: 1, unsureRejected: 1 })
})
