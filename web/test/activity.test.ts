import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/kinds/catalogue.ts'
import { typesNamed } from '../../src/kinds/event-filter.ts'
import type { LiveEvent } from '../src/live/card.ts'
import { type Part, THE_TASK } from '../src/pages/mission/activity/parts.ts'
import { rowsOf, typesOf } from '../src/pages/mission/activity/rows.ts'
import { RULES } from '../src/pages/mission/activity/sentences.ts'
import { withPageLinks } from '../src/pages/mission/report-links.ts'
import { FILTERS } from '../src/pages/mission/views.ts'

/** What the activity of a mission says. */

const ANNA = { kind: 'key', id: '01a1eaf3-0000-7000-8000-000000000000', name: 'anna' } as const
const SYSTEM = { kind: 'system', id: null, name: null } as const
let seq = 0
const event = (type: string, more: Partial<LiveEvent> = {}): LiveEvent =>
  ({
    ...{ seq: ++seq, type, taskId: null, runId: null, purpose: null, from: null, to: null },
    ...{ by: SYSTEM, payload: {}, at: '2026-11-19T04:00:00Z', ...more },
  }) as LiveEvent
const ofTask = (type: string, payload: Record<string, unknown> = {}, more: Partial<LiveEvent> = {}) =>
  event(type, { taskId: 't1', purpose: 'work', payload, ...more })

const plain = (part: Part) =>
  typeof part === 'string'
    ? part
    : part === THE_TASK
      ? '#1'
      : 'agent' in part
        ? part.agent
        : 'person' in part
          ? part.person
          : ''
const say = (events: LiveEvent[], filter: (typeof FILTERS)[number] = 'all') =>
  rowsOf(filter, events).map(
    ({ parts, quote, error }) =>
      parts.map(plain).join('') + (quote ? ` “${quote}”` : '') + (error ? ` error: ${error}` : ''),
  )

describe('the activity of a mission', () => {
  test('tells what people decided, with their reasons, and what agents did, the newest first', () => {
    const events = [
      event('mission_approved', { by: ANNA, payload: { version: 2, taskCount: 12, comment: 'Go.' } }),
      ofTask('task_assigned', { agent: 'dev-1', attempt: 1 }),
      ofTask('task_human_rejected', { comment: 'No tests.', attempt: 1 }, { by: ANNA }),
      ofTask('task_assigned', { agent: 'dev-2', attempt: 2 }),
      ofTask('task_completed', { agent: 'dev-2' }),
      event('mission_completed', { payload: { tasksCompleted: 12, totalCost: '3.9' } }),
    ]
    expect(say(events)).toEqual([
      'The mission is done: 12 tasks, $3.90.',
      'dev-2 finished #1.',
      'dev-2 took #1, attempt 2.',
      'anna rejected the result of #1. “No tests.”',
      'dev-1 took #1.',
      'anna approved version 2 of the plan: 12 tasks. “Go.”',
    ])
    expect(say(events, 'people')).toEqual([
      'anna rejected the result of #1. “No tests.”',
      'anna approved version 2 of the plan: 12 tasks. “Go.”',
    ])
    expect(say(events, 'problems')).toEqual(['anna rejected the result of #1. “No tests.”'])
    expect(say(events, 'plan')).toHaveLength(2)
    expect(say(events, 'tasks')).toHaveLength(4)
  })

  test('a run is a link of the row that says who took the task, and a bad end says how', () => {
    const rows = rowsOf('all', [
      ofTask('task_assigned', { agent: 'dev-1' }),
      event('run_started', { runId: 'r1', payload: { agent: 'dev-1', taskId: 't1' } }),
      event('run_finished', {
        runId: 'r1',
        payload: { agent: 'dev-1', taskId: 't1', status: 'failed', exitCode: 3 },
      }),
      event('run_finished', { runId: 'r1', payload: { agent: 'dev-1', taskId: 't1', status: 'succeeded' } }),
    ])
    expect(rows.map(({ run }) => run)).toEqual(['r1', 'r1'])
    expect(rows[0]!.parts.map(plain).join('')).toBe('The run of dev-1 for #1 exited with code 3.')
  })

  test('a failure is told once, by its cause', () => {
    const error = '/usr/bin/node exited with code 1: warning\nTypeError: no customer\n    at a (x.js:1)'
    const events = [
      ofTask('task_failed', { error }, { runId: 'r1' }),
      event('run_finished', { runId: 'r1', payload: { taskId: 't1', status: 'failed', exitCode: 1 } }),
    ]
    expect(say(events)).toEqual(['#1 failed. error: TypeError: no customer'])
  })

  test('has no rows for the tasks of a plan, for verifications, for reports on tasks, and for what is not told', () => {
    const events = [
      ofTask('task_created', { title: 'a' }),
      ofTask('task_assigned', { agent: 'judge' }, { purpose: 'verification' }),
      event('report_written', { payload: { taskId: 't1', version: 1 } }),
      ofTask('task_progress', { percent: 4 }),
      event('cost_snapshot'),
      event('a_type_of_tomorrow'),
    ]
    expect(say(events)).toEqual([])
    expect(
      say([ofTask('task_created', { childOf: 't0' }, { by: { kind: 'agent', id: 'dev-1', name: null } })]),
    ).toEqual(['dev-1 added #1.'])
  })

  test('is without codes and ids, whoever acted', () => {
    const codes = { reason: 'out_of_memory', error: 'nonzero_exit', because: 'no_verdict', status: 'failed' }
    const rest = { version: 1, parts: 2, added: 1, changed: 1, cancelled: 0, to: 'opus', childOf: 'x' }
    const said = Object.keys(RULES).flatMap((type) =>
      [ANNA, SYSTEM, { ...ANNA, name: null }].flatMap((by) =>
        say([ofTask(type, { ...codes, ...rest }, { by })]),
      ),
    )
    expect(said.length).toBeGreaterThan(60)
    for (const words of said) expect(words).not.toMatch(/_|[0-9a-f]{8}-|undefined|NaN|null/)
  })

  test('asks the server only for types that exist, in as many letters as it takes', () => {
    for (const filter of FILTERS) {
      expect(typesOf(filter).length).toBeLessThanOrEqual(1_000)
      expect(typesNamed(typesOf(filter).split(',')).unknown).toEqual([])
    }
    expect(Object.keys(RULES).filter((type) => !(eventTypes as readonly string[]).includes(type))).toEqual([])
  })
})

test('links of a report lead to pages', () => {
  const id = '01a1f204-8394-7681-a810-000000000001'
  const report = `[#1](/api/v1/tasks/${id}), [results](/api/v1/tasks/${id}/results), [Plan](/api/v1/missions/${id}/plan), [x](https://a.example)`
  expect(withPageLinks(report, 'https://b.example/w/shop')).toBe(
    `[#1](https://b.example/w/shop/tasks/${id}), [results](https://b.example/w/shop/tasks/${id}?tab=results), [Plan](https://b.example/w/shop/missions/${id}?view=plan), [x](https://a.example)`,
  )
})
