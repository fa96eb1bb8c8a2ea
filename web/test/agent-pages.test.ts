import { describe, expect, test } from 'vitest'
import { byTypeOf, successText } from '../src/pages/agent/figures.ts'
import { requesterText } from '../src/pages/agent/requester.ts'
import { barHeight } from '../src/pages/agent/run-strip.tsx'
import { problemsIn } from '../src/pages/agent/server-problems.ts'
import { isChangedElsewhere, promptMeets, promptOf, withPromptOf } from '../src/pages/agent/settings-draft.ts'
import { waitsFor } from '../src/pages/agent/waits-for.ts'
import { freeSlug } from '../src/things/agent/make-agent.ts'
import { nextStep } from '../src/things/agent/onboarding.ts'
import { reasonText } from '../src/things/agent/reason-text.ts'
import { restText } from '../src/things/agent/resting.tsx'
import { failedTest } from '../src/things/agent/test-outcome.ts'

const SAVED = {
  name: 'dev',
  maxConcurrentTasks: 1,
  taskTypes: [],
  capabilities: [],
  runtimeConfig: null,
  adapterConfig: { cwd: '/a', model: 'x' },
  version: 3,
}

describe('settings of an agent', () => {
  test('are changed by another person only if they differ, whatever the version', () => {
    const sameInOtherOrder = { ...SAVED, adapterConfig: { model: 'x', cwd: '/a' }, version: 9 }
    const others = { ...SAVED, adapterConfig: { cwd: '/b' } }
    expect(isChangedElsewhere(SAVED, sameInOtherOrder)).toBe(false)
    expect(isChangedElsewhere(SAVED, { ...others, version: 4 })).toBe(true)
    // Read before what was saved here: an answer that came late.
    expect(isChangedElsewhere(SAVED, { ...others, version: 2 })).toBe(false)
  })

  test('keep the prompt, which has an editor of its own', () => {
    const agent = { adapterConfig: { promptTemplate: 'Do {{task.title}}' } }
    expect(withPromptOf({ cwd: '/a' }, agent)).toEqual({ cwd: '/a', promptTemplate: 'Do {{task.title}}' })
    expect(withPromptOf({ cwd: '/a' }, { adapterConfig: null })).toEqual({ cwd: '/a' })
  })

  test('are refused by field where the server names one', () => {
    const errors = [{ field: 'adapterConfig.env.TOKEN', message: 'is masked' }]
    expect(problemsIn(Object.assign(new Error(), { errors }))).toEqual({
      fields: { env: 'TOKEN is masked.' },
      rest: null,
    })
    const other = new Error('The disk is full.')
    expect(problemsIn(other)).toEqual({ fields: {}, rest: other })
  })
})

test('a prompt has the lines that the server counts, however they were written', () => {
  expect(promptOf({ adapterConfig: { promptTemplate: 'a\r\nb\rc' } })).toBe('a\nb\nc')
  expect(promptOf({ adapterConfig: null })).toBe('')
})

test('a prompt is in conflict only with what somebody else saved later', () => {
  const base = { text: 'ours', version: 3 }
  const now = (promptTemplate: string, version: number) => ({
    ...SAVED,
    ...{ adapterConfig: { promptTemplate }, version },
  })
  expect(promptMeets(base, now('theirs', 4), 'mine')).toBe('conflict')
  expect(promptMeets(base, now('theirs', 4), 'ours')).toBe('newer')
  // Another act on the agent.
  expect(promptMeets(base, now('ours', 9), 'mine')).toBe('same')
  // Read before what was saved here, while its author keeps typing.
  expect(promptMeets(base, now('before', 2), 'ours and more')).toBe('same')
})

describe('an agent whose account is rate limited', () => {
  const NOW = Date.parse('2026-01-01T05:00:00')
  const rests = (others: number, hours = 1) =>
    ({ until: new Date(NOW + hours * 3_600_000).toISOString(), others }) as const

  test('rests with the others on it', () => {
    expect(restText(rests(3), NOW)).toBe('Rate limited until 06:00, as are 3 other agents on this account')
    expect(restText(rests(1), NOW)).toBe('Rate limited until 06:00, as is 1 other agent on this account')
    expect(restText(rests(3), NOW, 'short')).toBe('Rate limited until 06:00')
    expect(restText(rests(0), NOW)).toBe('Rate limited until 06:00')
  })

  test('rests for more than a day until a time that is not today, and no longer than that', () => {
    expect(restText(rests(0, 49), NOW)).toBe('Rate limited until Sat 3 Jan, 06:00')
    expect(restText(rests(2, 0), NOW)).toBeNull()
  })
})

describe('Welcome proposes', () => {
  const NOTHING = { clis: null, hasAgents: false, hasTasks: false, demo: null }
  const claude = { isFound: true, isAllowed: true, login: 'in' } as never

  test('an agent where a program can be used, then the demonstration', () => {
    expect(nextStep({ ...NOTHING, clis: [claude] })).toBe(2)
    expect(nextStep({ ...NOTHING, clis: [claude], hasAgents: true })).toBe(3)
    expect(nextStep(NOTHING)).toBe(3)
    expect(nextStep({ ...NOTHING, clis: [{ isFound: true, isAllowed: true, login: 'out' } as never] })).toBe(
      3,
    )
  })

  test('nothing where work has begun', () => {
    expect(nextStep({ ...NOTHING, hasTasks: true })).toBeNull()
  })
})

test('a new agent gets the first name that is free', () => {
  expect(freeSlug([])).toBe('dev-1')
  expect(freeSlug(['dev-1', 'planner', 'dev-3'])).toBe('dev-2')
})

test('bars of runs grow with the logarithm of their time', () => {
  expect([barHeight(null, 0), barHeight(0, 10), barHeight(3_600_000, 3_600_000)]).toEqual([0, 0, 1])
  expect(barHeight(60_000, 3_600_000)).toBeGreaterThan(0.4)
})

describe('the page of an agent', () => {
  test('tells how many of its tasks were done, by type, the most frequent first', () => {
    const of = (agent: string, taskType: string, tasks: number, completed: number) =>
      ({ agent, taskType, tasks, completed }) as never
    const types = byTypeOf(
      [of('dev', 'docs', 1, 1), of('dev', 'code', 24, 22), of('other', 'code', 9, 0)],
      'dev',
    )
    expect(types.map(({ type, percent }) => [type, percent])).toEqual([
      ['code', 92],
      ['docs', 100],
    ])
    expect([successText(types), successText([])]).toEqual(['23 of 25', 'none yet'])
  })

  test('tells errors without their code', () => {
    expect(reasonText('invalid_working_directory: The folder /x does not exist.')).toBe(
      'The folder /x does not exist.',
    )
    expect(reasonText('Error: it broke')).toBe('Error: it broke')
  })

  test('tells what it waits for', () => {
    const NOW = Date.parse('2026-01-01T14:00:00')
    const agent = { slug: 'dev', state: 'idle', adapterType: 'process', leaving: false } as const
    const idle = { ...agent, holds: [], rests: null, nextWakeAt: null, runtimeConfig: null }
    const nextWakeAt = new Date(NOW + 1_800_000).toISOString()
    const deaf = { heartbeat: { wakeOnAssignment: false } }
    const held = { taskId: '', key: 'B-1', title: 'Fix', state: 'awaiting_human', percent: null } as const
    expect([
      waitsFor(idle, NOW),
      waitsFor({ ...idle, nextWakeAt }, NOW),
      waitsFor({ ...idle, nextWakeAt, runtimeConfig: deaf }, NOW),
      waitsFor({ ...idle, runtimeConfig: deaf }, NOW),
      waitsFor({ ...idle, runtimeConfig: { heartbeat: { enabled: false } } }, NOW),
      waitsFor({ ...idle, state: 'paused' }, NOW),
      waitsFor({ ...idle, state: 'running', holds: [held] }, NOW),
      waitsFor({ ...idle, state: 'running', holds: [{ ...held, state: 'running' }] }, NOW),
    ]).toEqual([
      'It waits for a task.',
      'It waits for a task, or its timer at 14:30.',
      'It waits for its timer at 14:30.',
      'It waits until somebody wakes it.',
      'It waits for nothing: all wakeups are off.',
      'It waits to be resumed.',
      'It waits for a person to answer about B-1.',
      null,
    ])
  })

  test('says that its test failed, until a run has succeeded since', () => {
    const lastTest = { at: '2026-01-01T10:00:00.000Z', ok: false, failed: ['folder', 'program'] }
    const run = (status: 'succeeded' | 'failed', finishedAt: string) => ({ id: '', status, finishedAt })
    const later = '2026-01-01T11:00:00.000Z'
    expect(failedTest({ lastTest, lastRun: null })).toBe('folder, program')
    expect(failedTest({ lastTest, lastRun: run('failed', later) })).toBe('folder, program')
    expect(failedTest({ lastTest, lastRun: run('succeeded', '2026-01-01T09:00:00.000Z') })).not.toBeNull()
    expect(failedTest({ lastTest, lastRun: run('succeeded', later) })).toBeNull()
    expect(failedTest({ lastTest: { ...lastTest, ok: true }, lastRun: null })).toBeNull()
  })

  test('names who woke it in words', () => {
    expect(['agent:dev-2', 'key:01a1eaf3', 'coordinator', 'run:01a1'].map(requesterText)).toEqual([
      ...['dev-2', 'a key that was removed', 'Baton', 'a run'],
    ])
  })
})
