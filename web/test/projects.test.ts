import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/client/client.ts'
import { importedWords } from '../src/pages/projects/imported-words.ts'
import { placeOfLine, planProblems } from '../src/pages/projects/plan-problems.ts'
import { isSlug, slugFrom } from '../src/pages/projects/slug.ts'
import { agentsWords, barOf, countsWords, whyFull } from '../src/pages/projects/track-words.ts'
import { deadWords } from '../src/pages/workers/dead-words.ts'
import { entryWords, linesOf } from '../src/things/session/memory-words.ts'

/** Projects, sessions and dead letters in words. */

const TRACK = {
  ...{ track: 'A', maxAgents: 1, sequential: false, purpose: null, agents: ['alpha'] },
  ...{ completed: 2, inProgress: 1, pending: 3, failed: 0 },
  holding: [{ taskId: 't', key: 'A-003-add-cache', title: 'Add a cache', agent: 'alpha' }],
}

describe('a track', () => {
  test('that is full says who works on what, what waits, and what changes that', () => {
    const said = whyFull(TRACK)
    expect(said?.why).toBe(
      'This track is full: alpha works on A-003, and it takes one agent at a time. So its 3 waiting tasks go to nobody else.',
    )
    expect(said?.next).toMatch(/when alpha holds none of them any more, or when you raise the limit\.$/)
  })

  test('explains nothing while it has room, no limit, or no task that waits', () => {
    expect(whyFull({ ...TRACK, maxAgents: 2 })).toBeNull()
    expect(whyFull({ ...TRACK, maxAgents: null })).toBeNull()
    expect(whyFull({ ...TRACK, pending: 0 })).toBeNull()
  })

  test('counts its tasks and its agents', () => {
    expect(countsWords({ ...TRACK, failed: 1 })).toBe('2 of 7 done, 1 under way, 1 failed')
    expect(agentsWords(TRACK)).toBe('1 of 1 agent')
    expect(agentsWords({ agents: [], maxAgents: null })).toBe('no agent, any number may')
    const none = { completed: 0, inProgress: 0, pending: 0, failed: 0 }
    expect([countsWords(none), barOf(none).percent]).toEqual(['no tasks yet', 0])
  })
})

describe('a plan that is refused', () => {
  test('has all its problems in the order of its lines', () => {
    const errors = [
      { field: 'tracks.B[0]', line: 9, message: 'has an unknown field' },
      { field: '', line: 2, message: 'a cycle' },
      { field: 'project', message: 'is missing' },
    ]
    expect(planProblems(new Problem(422, { code: 'PLAN_INVALID', errors }, null))).toEqual([
      { line: null, message: 'project is missing' },
      { line: 2, message: 'a cycle' },
      { line: 9, message: 'tracks.B[0] has an unknown field' },
    ])
    expect(planProblems(new Problem(403, { code: 'FORBIDDEN' }, null))).toBeNull()
  })

  test('shows a line of its text, also the last one and one that is gone', () => {
    const text = 'a\nbcd\ne'
    expect([1, 2, 3, 9].map((line) => text.slice(...placeOfLine(text, line)))).toEqual(['a', 'bcd', 'e', 'e'])
  })
})

test('an import says what it did, and what it left as it was', () => {
  const nothing = { project: 'shop', created: 0, updated: 0, unchanged: 0, notInPlan: [], notTaken: [] }
  expect(importedWords({ ...nothing, created: 2, unchanged: 1 })).toEqual({
    title: 'The plan is imported: 2 tasks created, 1 task as before.',
  })
  const rest = importedWords({
    ...nothing,
    updated: 1,
    notInPlan: ['A-009-old'],
    notTaken: [{ key: 'A-001-first', fields: ['type'] }],
  })
  expect(rest.text).toBe(
    'The plan does not name A-009: they stay. Not changed, since a task keeps them: type of A-001.',
  )
})

test('a short name follows from a name', () => {
  expect(['The Shop', '  Über alles! ', '…'].map(slugFrom)).toEqual(['the-shop', 'uber-alles', ''])
  expect([isSlug('the-shop'), isSlug('-x'), isSlug('a b')]).toEqual([true, false, false])
})

describe('the memory of a session', () => {
  const entry = (event: string, more: object = {}) =>
    ({
      ...{ timestamp: 't', event, taskId: 'a', key: null, track: null, sequence: null, generation: 1 },
      ...{ agent: 'alpha', outcome: null, workProductRef: null, details: {} },
      ...more,
    }) as Parameters<typeof entryWords>[0]

  test('says what happened to its tasks, and why a claim ended', () => {
    expect(entryWords(entry('CLAIM_ACQUIRED'))).toBe('Taken')
    expect(entryWords(entry('CLAIM_LOST', { details: { endReason: 'EXPIRED' } }))).toBe(
      'Lost: its lease expired',
    )
    expect(entryWords(entry('RESULT_SUBMITTED', { outcome: 'REJECTED' }))).toBe('Result rejected')
  })

  test('is read newest first, with renewals in a row as one line', () => {
    const log = ['CLAIM_ACQUIRED', 'LEASE_RENEWED', 'LEASE_RENEWED', 'RESULT_SUBMITTED'].map((event) =>
      entry(event),
    )
    expect(linesOf(log).map(({ entry: { event }, times }) => `${event} ${times}`)).toEqual([
      'RESULT_SUBMITTED 1',
      'LEASE_RENEWED 2',
      'CLAIM_ACQUIRED 1',
    ])
  })
})

test('a dead letter says what went wrong, and that its attempts are spent', () => {
  const task = { error: null, failureClass: null, exitCode: null, attempt: 4, maxRetries: 3 }
  const said = (more: object) => deadWords({ ...task, ...more } as Parameters<typeof deadWords>[0])
  expect(said({ error: 'cannot find module x.' })).toBe('Cannot find module x. All 4 attempts are spent.')
  expect(said({ error: '/opt/x.sh exited with code 3: no such branch' })).toBe(
    'No such branch. All 4 attempts are spent.',
  )
  expect(said({ error: 'sh exited with code 3' })).toBe('It exited with code 3. All 4 attempts are spent.')
  expect(said({ exitCode: 3, failureClass: 'infrastructure' })).toBe(
    'It exited with code 3. All 4 attempts are spent.',
  )
  expect(said({ failureClass: 'timeout', attempt: 1, maxRetries: 0 })).toBe(
    'It took too long. Its only attempt is spent.',
  )
})
