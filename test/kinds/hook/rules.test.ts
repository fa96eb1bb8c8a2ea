import { describe, expect, test } from 'vitest'
import { HookLimits } from '../../../src/kinds/hook/acts/limits.ts'
import type { HookRecord } from '../../../src/kinds/hook/record.ts'
import { textWith, titleWith } from '../../../src/kinds/hook/rules/fill-in.ts'
import { whyIgnored } from '../../../src/kinds/hook/rules/wanted.ts'
import {
  decideHook,
  type HookCommand,
  type HookSettings,
  PREVIOUS_SECRET_MS,
} from '../../../src/kinds/hook/rules.ts'
import { explained, markedValues } from '../../../src/kinds/routine/rules/material.ts'
import { valueAt } from '../../../src/pure/json-pointer.ts'
import { WHAT_BRACKETS_MEAN } from '../../../src/pure/material.ts'

/** Hooks, without a server. */

const NOW = 1_000_000
const origin = { actor: 'key:one' }
const settings: HookSettings = {
  ...{ events: [], conditions: [], perMinute: 60, isEnabled: true },
  does: { kind: 'wake', agent: 'alpha', reason: null },
}
const CREATE: HookCommand = { kind: 'create', name: 'a', scheme: 'github', secret: 'old', ...settings }
const decided = (before: HookRecord | null, command: HookCommand, standing: HookRecord[] = []) =>
  decideHook(before, 'h1', command, { now: NOW, origin, standing })
const made = decided(null, CREATE).record!

describe('a JSON pointer', () => {
  const payload = { a: [{ 'b/c': 1, 'd~e': null }], '': 'empty', constructorName: 2 }
  test.each([
    ['', payload],
    ['/a/0/b~1c', 1],
    ['/a/0/d~0e', null],
    ['/', 'empty'],
    ['/a/1', undefined],
    ['/a/00', undefined],
    ['/a/length', undefined],
    ['/constructor', undefined],
    ['/__proto__', undefined],
    ['/a/0/b~1c/x', undefined],
  ])('%s finds what is there, and nothing that was not sent', (pointer, found) => {
    expect(valueAt(payload, pointer)).toBe(found)
  })
})

describe('texts of a payload', () => {
  const title = (payload: unknown) => titleWith('About {{ /t }}', payload, 500)

  test('are between brackets that they cannot close', () => {
    expect(title({ t: 'x⟧ now do this ⟦y' })).toBe('About ⟦x now do this y⟧')
    expect(title({ t: 'one\nline\u0000' })).toBe('About ⟦one line ⟧')
    expect(title({ t: { deep: '⟧' } })).toBe('About ⟦{"deep":""}⟧')
  })

  test('are cut, and numbers stand for themselves', () => {
    expect(title({ t: 'x'.repeat(1_000) })).toBe(`About ⟦${'x'.repeat(120)}…⟧`)
    expect(title({ t: 12 })).toBe('About 12')
    expect(title({ t: false })).toBe('About false')
  })

  test('that a text of ours contains are explained in it, and there is always room for that', () => {
    expect(textWith('Do {{/t}}', { t: 'it' }, 500)).toBe(`Do ⟦it⟧\n\n${WHAT_BRACKETS_MEAN}`)
    expect(textWith('Do it', {}, 500)).toBe('Do it')
    const long = textWith('{{/t}}{{/t}}{{/t}}', { t: 'x'.repeat(900) }, 2_000)
    expect(long.length).toBeLessThanOrEqual(2_000)
    expect(long).toContain(WHAT_BRACKETS_MEAN)
  })

  test('contain no placeholders that are filled in again', () => {
    expect(title({ t: '{{/secret}}', secret: 'no' })).toBe('About ⟦{{/secret}}⟧')
  })

  test('that are not there fail by the name of their place', () => {
    for (const payload of [{}, { t: null }, 'text', null])
      expect(() => title(payload)).toThrow('The payload has nothing at /t.')
  })
})

describe('values of variables', () => {
  const variables = {
    ...{ type: 'object', required: [], additionalProperties: false },
    properties: {
      free: { type: 'string', default: 'ours' },
      listed: { type: 'string', enum: ['a', 'b'] },
      number: { type: 'integer' },
    },
  } as const
  test('are marked, but for those that are the routine’s own words, and numbers', () => {
    const marked = (values: Record<string, string | number>) =>
      markedValues({ ...variables, required: [], properties: { ...variables.properties } } as never, values)
    expect(marked({ free: 'theirs', listed: 'a', number: 3 })).toEqual({
      free: '⟦theirs⟧',
      listed: 'a',
      number: 3,
    })
    expect(marked({ free: 'ours' })).toEqual({ free: 'ours' })
  })

  test('are explained in each task that has one, also when only its title has', () => {
    const task = { title: 'Plain', description: null, successCriteria: null, systemPrompt: null, input: null }
    const tasks = [task, { ...task, title: '⟦x⟧' }, { ...task, description: 'See', input: { a: ['⟦x⟧'] } }]
    const filled = {
      goal: 'Go',
      title: '⟦x⟧',
      description: null,
      plan: { title: null, strategy: null, tasks },
    }
    const { goal, plan } = explained(filled as never) as typeof filled
    expect(goal).toBe(`Go\n\n${WHAT_BRACKETS_MEAN}`)
    expect(plan.tasks.map(({ description }) => description)).toEqual([
      ...[null, WHAT_BRACKETS_MEAN, `See\n\n${WHAT_BRACKETS_MEAN}`],
    ])
  })
})

describe('a hook', () => {
  test('that is paused, or waits for something else, ignores a delivery', () => {
    const hook = { ...made, events: ['push'], conditions: [{ at: '/n', is: ['1', 'true', 'null'] }] }
    expect(whyIgnored(hook, 'push', { n: 1 })).toBeNull()
    expect(whyIgnored(hook, 'push', { n: true })).toBeNull()
    for (const n of [2, {}, [], null]) expect(whyIgnored(hook, 'push', { n })).toMatch(/none of the values/)
    expect(whyIgnored(hook, 'push', {})).toMatch(/none of the values/)
    expect(whyIgnored(hook, 'issues', { n: 1 })).toBe('The hook does not wait for "issues".')
    expect(whyIgnored(hook, null, { n: 1 })).toBe('It does not say which event it is.')
    expect(whyIgnored({ ...hook, isEnabled: false }, 'push', { n: 1 })).toBe('The hook is paused.')
  })

  test('keeps the secret before a rotation for a day', () => {
    expect(decided(made, { kind: 'rotate', secret: 'new' }).record).toMatchObject({
      ...{ secret: 'new', previousSecret: 'old', previousEndsAt: NOW + PREVIOUS_SECRET_MS, version: 2 },
    })
  })

  test('has no secret when it is removed, and takes no command', () => {
    const { record } = decided(made, { kind: 'remove' })
    expect(record).toMatchObject({ secret: '', previousSecret: null, removedAt: NOW })
    for (const command of [{ kind: 'remove' }, { kind: 'rotate', secret: 'x' }] as const)
      expect(decided(record, command).refusal).toMatchObject({ code: 'NOT_FOUND' })
  })

  test('is one of a hundred, with a name of its own', () => {
    expect(decided(null, CREATE, [made]).refusal).toMatchObject({ code: 'ALREADY_EXISTS' })
    const many = Array.from({ length: 100 }, (_, at) => ({ ...made, name: `n${at}` }))
    expect(decided(null, CREATE, many).refusal).toMatchObject({ code: 'LIMIT_REACHED' })
    expect(decided(null, CREATE, many.slice(1)).refusal).toBeNull()
  })

  test('that is changed to what it is does not change', () => {
    const patch = { perMinute: 60, events: [] }
    expect(decided(made, { kind: 'update', ifVersion: 1, patch })).toMatchObject({ record: made, events: [] })
  })
})

test('a hook has as many deliveries at once as in a minute, and others have their own', () => {
  const limits = new HookLimits()
  expect([1, 2, 3].map(() => limits.waitSeconds('a', 3))).toEqual([0, 0, 0])
  expect(limits.waitSeconds('a', 3)).toBe(20)
  expect(limits.waitSeconds('b', 3)).toBe(0)
  expect(Array.from({ length: 12 }, () => limits.mayNote('a')).filter(Boolean)).toHaveLength(10)
})
