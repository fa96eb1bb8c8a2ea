import { expect, test } from 'vitest'
import { RUN_ERRORS } from '../../src/kinds/run/rules/outcomes.ts'
import { endingOf } from '../src/pages/run/ending.ts'
import { causeOfRun, failureWords } from '../src/things/run/run.ts'

const run = { adapterType: 'claude_local', agent: 'dev-1', taskId: 'some task', exitCode: null }

test('every way a run can fail has a title, a meaning and a next step', () => {
  for (const [errorCode, { title, stopsAgent }] of Object.entries(RUN_ERRORS)) {
    const ending = endingOf({ ...run, errorCode })!
    expect(ending.title).toBe(title)
    expect(ending.forTask, errorCode).toMatch(/\.$/)
    expect(ending.next, errorCode).toMatch(/\.$/)
    if (stopsAgent) expect(ending.forAgent).toContain('dev-1 is stopped')
  }
})

test('a run without a task says nothing of one', () => {
  const ending = endingOf({ ...run, taskId: null, errorCode: 'timeout' })!
  expect([ending.forTask, ending.act]).toEqual([null, null])
})

test('an agent that is not logged in gets the command of its program', () => {
  expect(endingOf({ ...run, errorCode: 'not_logged_in' })).toMatchObject({
    command: 'claude auth login',
    act: 'resume_agent',
  })
  expect(endingOf({ ...run, adapterType: 'http', errorCode: 'not_logged_in' })!.command).toBe(null)
})

test('a code of a later server is written with blanks', () => {
  expect(endingOf({ ...run, errorCode: 'struck_by_lightning' })!.title).toBe('struck by lightning')
  expect(endingOf({ ...run, errorCode: null })).toBe(null)
})

test('a program that fails is said to have exited with its code, and its last attempt is not promised another', () => {
  const ended = { ...run, errorCode: 'nonzero_exit', exitCode: 3 }
  expect(endingOf(ended, false)).toMatchObject({
    title: 'It exited with code 3',
    forTask: 'It was the last attempt of the task.',
  })
  expect(endingOf(ended, true)!.forTask).toBe('The task is retried while it has attempts left.')
})

test('lists say the cause of a failure first, and the kind of failure where nothing was said', () => {
  const errorMessage = '/srv/build.sh exited with code 2: Traceback:\n  File "x.py", line 1\nKeyError: \'a\''
  expect(failureWords('nonzero_exit', { errorMessage, exitCode: 2 })).toBe("KeyError: 'a'")
  expect(failureWords('nonzero_exit', { errorMessage: './a.sh exited with code 3.', exitCode: 3 })).toBe(
    'It exited with code 3',
  )
  expect(failureWords('nonzero_exit', { errorMessage: null, exitCode: 3 })).toBe('It exited with code 3')
  expect(causeOfRun('nonzero_exit', { errorMessage: './a.sh exited with code 3.', exitCode: 3 })).toBeNull()
  expect(causeOfRun('refused', { errorMessage, exitCode: 2 })).toBe("KeyError: 'a'")
  expect(failureWords('refused', { errorMessage, exitCode: 2 })).toBe(RUN_ERRORS.refused.title)
})
