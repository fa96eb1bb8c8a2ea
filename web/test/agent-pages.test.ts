import { describe, expect, test } from 'vitest'
import { barHeight } from '../src/pages/agent/run-strip.tsx'
import { problemsIn } from '../src/pages/agent/server-problems.ts'
import { isChangedElsewhere, promptMeets, promptOf, withPromptOf } from '../src/pages/agent/settings-draft.ts'
import { freeSlug } from '../src/things/agent/make-agent.ts'
import { nextStep } from '../src/things/agent/onboarding.ts'
import { restText } from '../src/things/agent/resting.tsx'

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
