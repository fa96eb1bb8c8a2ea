import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type Answer,
  type Ending,
  endingOf,
  type Stop,
  taskOutcomeOf,
  timeOf,
} from '../../../src/kinds/run/rules/ending.ts'
import { RUN_ERRORS, type RunErrorCode, runErrorCodes } from '../../../src/kinds/run/rules/outcomes.ts'
import { isOver, RUN_STATES } from '../../../src/kinds/run/states.ts'
import { FAILURE_CLASSES } from '../../../src/kinds/task/rules/retry.ts'

/** The meaning of the end of a run, for the run and for its task: the rules alone. */

const well: Answer = { outcome: 'succeeded' }
const badly = (errorCode: RunErrorCode | null = null, more: Partial<Answer> = {}): Answer => ({
  outcome: 'failed',
  errorCode,
  errorMessage: 'so it said',
  ...more,
})
const stop = (code: Stop['code'], byPerson = false): Stop => ({ code, reason: 'because we say so', byPerson })
const STOPS: Stop['code'][] = [
  'cancelled',
  'claim_lost',
  'timeout',
  'loop_detected',
  'no_progress',
  'control_plane_restart',
]
const both = (answer: Answer, by: Stop | null = null) => {
  const ending = endingOf(answer, by)
  return { ending, step: taskOutcomeOf(ending, answer, by) }
}
const IN_TIME = '2031-05-01T10:00:00.000Z'

describe('a run that ended well', () => {
  test('is a success, and its work is submitted', () => {
    const { ending, step } = both(well)
    expect(ending).toEqual({ status: 'succeeded', errorCode: null, errorMessage: null })
    expect(step).toEqual({ kind: 'submit' })
  })

  test('and asks to continue is continued', () => {
    expect(both({ ...well, wantsMore: true }).step).toEqual({ kind: 'continue' })
  })

  test.each(STOPS)('before it could be stopped (%s) is still a success', (code) => {
    for (const byPerson of [true, false]) {
      const { ending, step } = both(well, stop(code, byPerson))
      expect([ending.status, step.kind]).toEqual(['succeeded', 'submit'])
    }
  })

  test('and asks to continue, but was stopped by a person, is not continued until a person says so', () => {
    const more = { ...well, wantsMore: true }
    expect(both(more, stop('cancelled', true)).step).toMatchObject({ kind: 'fail', failureClass: 'human' })
    expect(both(more, stop('control_plane_restart')).step).toEqual({ kind: 'continue' })
  })

  test.each(runErrorCodes)('is a success, even if it mentions %s: its outcome counts', (errorCode) => {
    expect(endingOf({ ...well, errorCode, errorMessage: 'error: all is lost' }, null).errorCode).toBe(null)
  })
})

/** Each error with the end of its run and the outcome of its task, when it was not stopped. */
const ends: Record<RunErrorCode, [Ending['status'], step: string]> = {
  adapter_not_installed: ['failed', 'release'],
  invalid_working_directory: ['failed', 'release'],
  invalid_configuration: ['failed', 'release'],
  invalid_task: ['failed', 'invalid'],
  not_allowed_here: ['failed', 'release'],
  not_logged_in: ['failed', 'release'],
  work_elsewhere: ['failed', 'infrastructure'],
  work_not_saved: ['failed', 'infrastructure'],
  work_incomplete: ['failed', 'quality'],
  spawn_failed: ['failed', 'infrastructure'],
  hook_failed: ['failed', 'infrastructure'],
  timeout: ['timed_out', 'infrastructure'],
  // Not stopped by Baton.
  cancelled: ['cancelled', 'infrastructure'],
  claim_lost: ['cancelled', 'none'],
  nonzero_exit: ['failed', 'infrastructure'],
  api_error: ['failed', 'infrastructure'],
  output_parse_error: ['failed', 'infrastructure'],
  resume_session_invalid: ['failed', 'infrastructure'],
  budget_blocked: ['failed', 'budget'],
  rate_limited: ['failed', 'rate_limited'],
  refused: ['failed', 'human'],
  loop_detected: ['failed', 'quality'],
  no_progress: ['failed', 'quality'],
  stalled: ['failed', 'infrastructure'],
  adapter_error: ['failed', 'infrastructure'],
  control_plane_restart: ['failed', 'release'],
}
const outcomeOf = (step: ReturnType<typeof taskOutcomeOf>) =>
  step.kind === 'fail' ? step.failureClass : step.kind

describe('a run that failed', () => {
  test.each(Object.entries(ends))('with %s ends as it should', (code, [status, outcome]) => {
    const { ending, step } = both(badly(code as RunErrorCode))
    expect(ending).toEqual({ status, errorCode: code, errorMessage: 'so it said' })
    expect(outcomeOf(step)).toBe(outcome)
    if (step.kind === 'fail') expect(step).toMatchObject({ error: 'so it said', retryAt: undefined })
    if (step.kind === 'release') expect(step).toEqual({ kind: 'release', reason: code })
  })

  test('without a reason has the error of its outcome', () => {
    expect(endingOf({ outcome: 'failed' }, null)).toMatchObject({
      errorCode: 'nonzero_exit',
      status: 'failed',
    })
    expect(endingOf({ outcome: 'cancelled' }, null)).toMatchObject({
      errorCode: 'cancelled',
      status: 'cancelled',
    })
    expect(endingOf({ outcome: 'timed_out' }, null)).toMatchObject({
      errorCode: 'timeout',
      status: 'timed_out',
    })
  })

  test.each([undefined, null, ''])('without a message (%j) gets one', (errorMessage) => {
    for (const code of runErrorCodes) {
      const { ending, step } = both(badly(code, { errorMessage }))
      expect(ending.errorMessage).toBe(RUN_ERRORS[code].title)
      if (step.kind === 'fail') expect(step.error).toBe(RUN_ERRORS[code].title)
    }
  })

  test.each(['weird', 'constructor', '__proto__', ''])(
    'with an unknown error (%j) is a failure of its adapter',
    (code) => {
      const { ending, step } = both(badly(code as RunErrorCode))
      expect(ending).toMatchObject({ status: 'failed', errorCode: 'adapter_error' })
      expect(outcomeOf(step)).toBe('infrastructure')
    },
  )

  test('with an unknown outcome is a failure of its adapter', () => {
    const odd = { outcome: 'fine' } as unknown as Answer
    expect(endingOf(odd, null)).toMatchObject({ status: 'failed', errorCode: 'adapter_error' })
  })

  test('because of a rate limit is retried when that resets, if that is known', () => {
    const until = (retryAt: string | null | undefined) => both(badly('rate_limited', { retryAt })).step
    expect(until(IN_TIME)).toMatchObject({ retryAt: Date.parse(IN_TIME) })
    for (const unknown of [null, undefined, '', 'soon', '2031-99-01'])
      expect(until(unknown)).toMatchObject({ retryAt: undefined })
    expect(both(badly('api_error', { retryAt: IN_TIME })).step, 'no other error waits').toMatchObject({
      retryAt: undefined,
    })
  })
})

/** Each reason to stop a run with its end, and with the outcome of its task. */
const stops: Record<Stop['code'], [Ending['status'], string]> = {
  cancelled: ['cancelled', 'release'],
  claim_lost: ['cancelled', 'none'],
  timeout: ['timed_out', 'infrastructure'],
  loop_detected: ['failed', 'quality'],
  budget_blocked: ['failed', 'budget'],
  no_progress: ['failed', 'quality'],
  stalled: ['failed', 'infrastructure'],
  control_plane_restart: ['failed', 'release'],
}

describe('a run that was stopped', () => {
  test.each(Object.entries(stops))(
    'because of %s ends for that reason, whatever its program says',
    (code, [status, outcome]) => {
      const by = stop(code as Stop['code'])
      for (const answer of [
        badly(),
        badly('rate_limited'),
        { outcome: 'cancelled' },
        { outcome: 'timed_out' },
      ] as Answer[]) {
        const { ending, step } = both(answer, by)
        expect(ending).toEqual({ status, errorCode: code, errorMessage: 'because we say so' })
        expect(outcomeOf(step)).toBe(outcome)
      }
    },
  )

  test('by a person waits for a person; when its claim has ended there is nothing to do', () => {
    for (const code of STOPS) {
      const { step } = both({ outcome: 'cancelled' }, stop(code, true))
      expect([code, outcomeOf(step)]).toEqual([code, code === 'claim_lost' ? 'none' : 'human'])
    }
  })
})

describe('errors', () => {
  test('that stop an agent give its task to others, and spend no attempt', () => {
    for (const code of runErrorCodes)
      if (RUN_ERRORS[code].stopsAgent) expect(RUN_ERRORS[code].task).toBe(null)
    expect(runErrorCodes.filter((code) => RUN_ERRORS[code].stopsAgent)).toEqual([
      'adapter_not_installed',
      'invalid_working_directory',
      'invalid_configuration',
      'not_allowed_here',
      'not_logged_in',
    ])
  })

  test('have messages for people, and failure classes of tasks', () => {
    expect(runErrorCodes.length).toBe(Object.keys(ends).length)
    for (const code of runErrorCodes) {
      const { title, task } = RUN_ERRORS[code]
      expect(title).toMatch(/^[A-Z].*[^.]$/)
      if (task !== null) expect(FAILURE_CLASSES).toContain(task)
    }
  })

  test('runs are over when they are neither queued nor running', () => {
    expect(RUN_STATES.filter((state) => !isOver(state))).toEqual(['queued', 'running'])
  })
})

test('for any answer and any stop reason the end is consistent, and nothing throws', () => {
  const anAnswer = fc.record({
    outcome: fc.constantFrom<Answer['outcome']>('succeeded', 'failed', 'cancelled', 'timed_out'),
    errorCode: fc.option(fc.constantFrom(...runErrorCodes)),
    errorMessage: fc.option(fc.string()),
    wantsMore: fc.boolean(),
    retryAt: fc.option(fc.oneof(fc.string(), fc.constant(IN_TIME))),
  })
  const aStop = fc.option(
    fc.record({ code: fc.constantFrom(...STOPS), reason: fc.string(), byPerson: fc.boolean() }),
  )
  fc.assert(
    fc.property(anAnswer, aStop, (answer, by) => {
      const { ending, step } = both(answer, by)
      const isWell = ending.status === 'succeeded'
      expect(isWell).toBe(answer.outcome === 'succeeded')
      expect(isWell).toBe(ending.errorCode === null)
      expect(isOver(ending.status)).toBe(true)
      if (step.kind === 'submit' || step.kind === 'continue') expect(isWell).toBe(true)
      if (step.kind === 'none') expect(ending.errorCode).toBe('claim_lost')
      if (step.kind === 'fail' && step.retryAt !== undefined)
        expect(['rate_limited', 'work_elsewhere']).toContain(ending.errorCode)
    }),
    { numRuns: 2_000 },
  )
})

test('a time is read if it is valid', () => {
  expect(timeOf(IN_TIME)).toBe(Date.parse(IN_TIME))
  for (const none of [null, undefined, '', 'tomorrow', '2031-02-31T99:00:00Z'])
    expect(timeOf(none)).toBe(undefined)
})
