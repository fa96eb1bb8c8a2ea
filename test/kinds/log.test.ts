import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { EVENTS, eventTypes } from '../../src/kinds/catalogue.ts'
import type { EventType } from '../../src/kinds/events.ts'
import { COORDINATOR_EVENTS, isNameOfBaton, levelOf, messageOf, typesAt } from '../../src/kinds/log.ts'
import { WAKEUP_SOURCES } from '../../src/kinds/run/rules/wakeups.ts'
import { isLive, RUN_STATES } from '../../src/kinds/run/states.ts'
import { FAILURE_CLASSES } from '../../src/kinds/task/rules/retry.ts'
import { INBOX_KINDS } from '../../src/kinds/task/rules/waiting.ts'
import * as words from '../../src/pure/code-words.ts'
import { LOG_LEVELS } from '../../src/pure/event.ts'

/** The log for people: a level and a sentence for every event. */

interface Shape {
  type?: string | string[]
  anyOf?: Shape[]
  enum?: unknown[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
  additionalProperties?: Shape | false
}

/** A payload as the schema of its type says: with every field, or with the required ones only. */
function sampleOf(shape: Shape, all: boolean, text: string): unknown {
  // A text or null: text when every field is there, null when only the required ones are.
  if (shape.anyOf) return sampleOf(shape.anyOf.find(({ type }) => (type !== 'null') === all)!, all, text)
  if (shape.enum) return shape.enum[0]
  const kind = [shape.type].flat().find((one, _i, { length }) => length === 1 || (one !== 'null') === all)
  switch (kind) {
    case 'object':
      if (shape.additionalProperties)
        return all ? { that: sampleOf(shape.additionalProperties, all, text) } : {}
      return Object.fromEntries(
        Object.entries(shape.properties ?? {})
          .filter(([name]) => all || shape.required?.includes(name))
          .map(([name, inner]) => [name, sampleOf(inner, all, text)]),
      )
    case 'array':
      return all ? [sampleOf(shape.items!, all, text)] : []
    case 'integer':
    case 'number':
      return all ? 1_700_000_000_000 : 0
    case 'boolean':
      return all
    case 'string':
      return text
    case 'null':
      return null
    default:
      return { anything: ['goes', null] }
  }
}
const payloadOf = (type: EventType, all: boolean, text = 'some words') =>
  sampleOf(z.toJSONSchema(EVENTS[type]) as Shape, all, text) as Record<string, unknown>

/** Free text of people and agents. */
const PROSE = ['title', 'name', 'reason', 'because', 'error', 'comment', 'verdict', 'step', 'preview']

test('each type is stated in one file of events, and every file is in the catalogue', () => {
  const source = join(import.meta.dirname, '../../src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(kinds|views)\/[^/]+\/events\.ts$/.test(path),
  )
  const entry = /^ {2}(\w+): \w+\.(debug|info|warn|error|critical)\(/gm
  const stated = files.flatMap((path) =>
    [...readFileSync(join(source, path), 'utf8').matchAll(entry)].map(([, type]) => type),
  )
  expect(stated.sort()).toEqual([...eventTypes].sort())
})

describe('every event', () => {
  test.each(eventTypes)('%s has a level and a sentence', (type) => {
    for (const all of [true, false]) {
      const payload = payloadOf(type, all)
      expect(EVENTS[type].safeParse(payload).success, JSON.stringify(payload)).toBe(true)
      const sentence = messageOf({ type, payload })
      expect(LOG_LEVELS).toContain(levelOf({ type, payload }))
      expect(sentence).not.toMatch(/undefined|null|\[object|NaN|Infinity|[:;,] ?\.$|\.\.$| {2}/)
      if (type !== 'task_logged') expect(sentence).toMatch(/^[A-Za-z"].*\.$/)
    }
  })

  test.each(eventTypes)(
    '%s stays a short sentence on one line, whatever people and agents wrote into it',
    (type) => {
      const payload = payloadOf(type, true)
      for (const field of PROSE) if (field in payload) payload[field] = `One.\n\tTwo  ${'😀'.repeat(1_000)}.`
      if (type === 'dependency_cycle_found')
        payload.cycle = Array.from({ length: 1_000 }, (_, i) => `task ${i}`)
      const sentence = messageOf({ type, payload })
      expect(sentence).not.toMatch(/[\n\t]|\.\.$/)
      expect(sentence.length).toBeLessThan(1_000)
      expect(sentence.isWellFormed()).toBe(true)
    },
  )

  test.each(eventTypes)('%s with an unexpected payload is shown by its name', (type) => {
    const payload = { agent: 7, title: null, fields: 'x', cycle: 3, did: [], message: {}, reason: 1 }
    expect(() => messageOf({ type, payload })).not.toThrow()
    expect(levelOf({ type, payload })).toMatch(/^[A-Z]+$/)
  })
})

test('sentences say what happened', () => {
  const reported = (type: EventType, payload: Record<string, unknown>) => messageOf({ type, payload })
  const held = { agent: 'alpha', session: 's-1' }
  expect(reported('task_lease_expired', { ...held, attempt: 2, leaseExpiredAt: 0 })).toBe(
    'The lease of alpha expired at 1 Jan 1970, 00:00 UTC (attempt 2).',
  )
  expect(reported('task_failed', { attempt: 4, reason: 'attempts', error: 'exit 1.\nno disk' })).toBe(
    'The task failed for good (no attempt is left, attempt 4): exit 1. no disk.',
  )
  expect(reported('task_failed', { attempt: 4, reason: 'attempts', error: null })).toBe(
    'The task failed for good (no attempt is left, attempt 4).',
  )
  expect(reported('task_progress', { ...held, percent: 40, step: 'tests', checkpoint: true })).toBe(
    'alpha reports 40 % with a checkpoint: tests.',
  )
  const asked = { agent: 'alpha', author: 'alpha', preview: 'Which colour?' }
  expect(reported('comment_added', { ...payloadOf('comment_added', true), ...asked })).toBe(
    'alpha commented: Which colour?',
  )
  expect(reported('agent_stale', { agent: 'alpha', silentMs: 180_400, claims: 1 })).toBe(
    'The agent alpha has been silent for 180 s, holding 1 task.',
  )
  expect(reported('task_started', {})).toBe('Task started.')
})

/** Codes of which every one must have words. */
const CODES = {
  FAILURE_WORDS: [words.FAILURE_WORDS, FAILURE_CLASSES],
  WAKEUP_WORDS: [words.WAKEUP_WORDS, WAKEUP_SOURCES],
  RUN_END_WORDS: [words.RUN_END_WORDS, RUN_STATES.filter((state) => !isLive(state))],
  WAITING_WORDS: [words.WAITING_WORDS, INBOX_KINDS],
} as const

describe('codes that people would read', () => {
  test.each(Object.entries(CODES))('have words: %s', (_, [table, codes]) => {
    for (const code of codes) expect(Object.keys(table)).toContain(code)
  })

  test('are not in sentences: no word has an underscore, no time is written for programs', () => {
    const held = { agent: 'alpha', session: 's-1' }
    const run = { runId: 'r', agent: 'alpha', taskId: null, wakeupId: 'w', source: 'on_demand', reason: null }
    const ended = { ...payloadOf('run_finished', true), ...run, taskId: null }
    const said = [
      messageOf({
        type: 'task_retrying',
        payload: { ...payloadOf('task_retrying', true), ...held, error: null },
      }),
      messageOf({ type: 'task_queued', payload: { because: 'dependencies_met' } }),
      messageOf({ type: 'run_queued', payload: run }),
      messageOf({ type: 'wakeup_skipped', payload: { ...run, because: 'AGENT_PAUSED' } }),
      messageOf({
        type: 'run_finished',
        payload: { ...ended, status: 'failed', errorCode: 'nonzero_exit', exitCode: 3 },
      }),
      messageOf({ type: 'run_finished', payload: { ...ended, status: 'timed_out', errorCode: 'timeout' } }),
      messageOf({ type: 'inbox_closed', payload: { id: 'task:x:1', because: 'task_human_approved' } }),
      messageOf({ type: 'alert_raised', payload: { alert: 'TASK_NOT_TAKEN', error: 'no agent is there' } }),
    ]
    for (const sentence of said) expect(sentence).not.toMatch(/_|\dT\d/)
    expect(said[3]).toBe('alpha was not woken by hand: The agent is paused.')
    expect(said[4]).toBe('The run of alpha failed: It exited with code 3.')
  })
})

test('long texts are cut in a sentence, and never inside a character', () => {
  const error = `${'x'.repeat(299)}😀${'y'.repeat(1_000)}`
  const sentence = messageOf({ type: 'alert_raised', payload: { alert: 'FIRE', error } })
  expect(sentence.length).toBeLessThan(350)
  expect(sentence.isWellFormed()).toBe(true)
})

describe('a log line of a holder', () => {
  const line = (level: string) => ({
    type: 'task_logged' as const,
    payload: {
      agent: 'a',
      session: 's',
      level,
      event: 'note',
      message: 'Three tests fail',
      details: 'SECRET',
    },
  })

  test('has the given level and message, and nothing of its details', () => {
    for (const level of LOG_LEVELS) expect(levelOf(line(level))).toBe(level)
    expect(levelOf(line('LOUD'))).toBe('INFO')
    expect(messageOf(line('INFO'))).toBe('Three tests fail')
  })

  test('cannot have a name that starts like Baton’s own', () => {
    for (const type of eventTypes) expect(isNameOfBaton(type)).toBe(true)
    expect(['task_won', 'agent_', 'note', 'tests_run', 'task', 'agents_met'].filter(isNameOfBaton)).toEqual([
      'task_won',
      'agent_',
    ])
  })
})

test('the levels divide all types but those of lines', () => {
  const types = LOG_LEVELS.flatMap((level) => typesAt([level]))
  expect(types.sort()).toEqual(eventTypes.filter((type) => type !== 'task_logged').sort())
  expect(typesAt(LOG_LEVELS)).toHaveLength(types.length)
  expect(typesAt(['CRITICAL'])).toEqual(['alert_raised'])
  expect(typesAt(['DEBUG'])).toContain('claim_renewed')
  expect(typesAt(['ERROR'])).toContain('task_failed')
})

test('what the coordinator does to tasks is logged above the lowest level', () => {
  for (const type of COORDINATOR_EVENTS)
    expect(['WARN', 'ERROR', 'CRITICAL']).toContain(levelOf({ type, payload: {} }))
})
