import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FirstAnswers, firstAnswer } from '../../src/kernel/batch/first-answer.ts'
import { recordOf, taskAsStored } from '../../src/kernel/store/task-as-stored.ts'
import { groupsOf, NO_GROUPS, watchOf } from '../../src/kernel/store/watch-column.ts'
import type { ClaimGrant, RecordGranted, Reply } from '../../src/kinds/replies.ts'
import { createTask } from '../../src/kinds/task/rules/create.ts'
import { readRecord, rowOfRecord, TASK_COLUMNS } from '../../stores/mysql/columns.ts'
import { NO_MARKS, readTask, writeTask } from '../../stores/valkey/codec.ts'
import { newTask } from '../support/tasks.ts'

/** The column as it was stored before it was read as groups: a database in use holds such texts. */
const STORED = {
  estimateMs: 60000,
  assignMs: 1,
  stallMs: 2,
  verifyMs: 3,
  hangGraceMs: 4,
  hangAbortMs: 5,
  retryBaseMs: 6,
  attemptMs: 7,
  timeouts: 1,
  exitCode: 137,
  attemptEndsAt: 8,
  isOffered: true,
  isRun: true,
  claimMetadata: { host: 'a', timers: 1 },
  messages: [{ commentId: 'c', text: 'Mind the tests.', at: 21 }],
  doneBy: 9,
  progressAt: 10,
  suspectedAt: 11,
  modelSwitches: 2,
  usedModel: 'haiku',
  otherAgentOnRetry: true,
  avoidedAgent: 'alpha',
  pausedByMission: true,
  pausedAt: 12,
  clockMs: 13,
  childDepth: 1,
  childRoot: { id: 1, uuid: 'u' },
  childCount: 4,
  resultCommit: 'c0ffee',
  expiresAt: 14,
  deadlineMs: 15,
  deadlineAt: 16,
  closedMs: 0,
  deadlineLeftMs: 17,
  asks: { question: 'Which?', options: [], askedBy: 'alpha', askedAt: 18 },
  goesOn: { generation: 2 },
  goesOnAfter: [1, 2],
  wentOnAfter: true,
  prefers: 'beta',
  preferredUntil: 19,
  isFresh: false,
  freshFrom: 3,
  verdictLeftMs: 20,
  isVerdictLate: true,
  judging: { generation: 2, round: 1, agent: null },
  isDeadLetter: true,
  alert: 'no agent',
} as const

const bare = () =>
  createTask(newTask(), null, { id: 7, uuid: 'u-7', parentId: null, dependsOn: [] }, 'system', 5).record

describe('the column of what few tasks have', () => {
  test('a task without any of it costs nothing: the same object for all, and null again', () => {
    expect(groupsOf(null)).toBe(NO_GROUPS)
    expect(groupsOf(null)).toBe(groupsOf(null))
    expect(watchOf(NO_GROUPS)).toBeNull()
  })

  test('what was stored is read in groups and written back as it was', () => {
    const groups = groupsOf(STORED)
    expect(groups.timers).toMatchObject({ estimateMs: 60000, deadlineLeftMs: 17, verdictLeftMs: 20 })
    expect(groups.modelUse).toEqual({ modelSwitches: 2, usedModel: 'haiku' })
    expect(groups.holder).toEqual({
      ...{ isOffered: true, isRun: true, exitCode: 137 },
      claimMetadata: { host: 'a', timers: 1 },
      messages: [{ commentId: 'c', text: 'Mind the tests.', at: 21 }],
    })
    expect(groups.resultCommit).toBe('c0ffee')
    expect(watchOf(groups)).toEqual(STORED)
  })

  test('any part of it survives', () => {
    fc.assert(
      fc.property(fc.subarray(Object.keys(STORED)), (names) => {
        const watch = Object.fromEntries(names.map((name) => [name, STORED[name as keyof typeof STORED]]))
        const groups = groupsOf(names.length === 0 ? null : watch)
        expect(watchOf(groups)).toEqual(names.length === 0 ? null : watch)
        // No group is empty: null says that nothing in it is set.
        for (const group of Object.values(groups)) expect(group).not.toEqual({})
      }),
    )
  })
})

describe('in the other stores', () => {
  const groups = groupsOf(STORED)

  test('Valkey has it where it always was: the 33rd value of a task', () => {
    const text = writeTask({ record: { ...bare(), ...groups }, marks: NO_MARKS })
    expect(JSON.parse(text)[32]).toEqual(STORED)
    expect(readTask(text)).toEqual({ ...bare(), ...groups })
    expect(JSON.parse(writeTask({ record: bare(), marks: NO_MARKS }))[32]).toBeNull()
    expect(readTask(writeTask({ record: bare(), marks: NO_MARKS }))).toEqual(bare())
  })

  test('MySQL has it in the column of that name', () => {
    const at = TASK_COLUMNS.indexOf('watch')
    const row = rowOfRecord({ ...bare(), ...groups })
    expect(JSON.parse(row[at] as string)).toEqual(STORED)
    expect(rowOfRecord(bare())[at]).toBeNull()
    const cells = (watch: string | null) => [
      ...TASK_COLUMNS.map((name) => (name === 'watch' ? watch : null)),
      ...[null, null, null],
    ]
    expect(readRecord(cells(JSON.stringify(STORED)))).toMatchObject(groups)
    expect(readRecord(cells(null))).toMatchObject(NO_GROUPS)
  })
})

const CLAIM: ClaimGrant = {
  ...{ taskId: 'u-7', generation: 1, session: 's', agent: 'a', state: 'active', attempt: 1 },
  ...{ leaseExpiresAt: '2026-01-01T00:01:00.000Z', ttlMs: 60_000 },
}

describe('in a stored reply', () => {
  const record = { ...bare(), ...groupsOf(STORED) }
  const reply: RecordGranted = { ok: true, reason: 'DONE', record }

  test('a task looks as it did before it was read as groups', () => {
    const { timers: _timers, ...task } = taskAsStored(record) as ReturnType<typeof taskAsStored> & {
      timers?: unknown
    }
    expect(_timers).toBeUndefined()
    expect(task.watch).toEqual(STORED)
    expect(recordOf(task)).toEqual(record)
    const answers = new FirstAnswers(new Map(), 0)
    answers.store('a key', 'hash', reply)
    expect(answers.fresh).toEqual([{ key: 'a key', bodyHash: 'hash', reply: { ...reply, record: task } }])
  })

  test.each<[string, Reply]>([
    ['on a task', reply],
    ['with claims', { ok: true, reason: 'GRANTED', claims: [{ claim: CLAIM, record }], shouldRetry: false }],
    [
      'on a task, then with claims',
      {
        ...{ ok: true, reason: 'DONE', done: reply },
        next: { ok: true, reason: 'GRANTED', claims: [{ claim: CLAIM, record }], shouldRetry: false },
      },
    ],
    ['on many tasks', { ok: true, reason: 'SOME_DONE', replies: [reply] }],
    ['with new tasks', { ok: true, reason: 'CREATED', records: [record, bare()], existing: [false, false] }],
  ])('%s, the first answer is repeated with the records it had', (_name, first) => {
    const answers = new FirstAnswers(new Map(), Date.parse(CLAIM.leaseExpiresAt) - CLAIM.ttlMs)
    answers.store('a key', 'hash', first)
    const [{ bodyHash, reply: stored }] = JSON.parse(JSON.stringify(answers.fresh))
    expect(JSON.stringify(stored)).not.toContain('"timers":{')
    const now = Date.parse(CLAIM.leaseExpiresAt) - CLAIM.ttlMs
    const repeated = firstAnswer({ key: 'a key', bodyHash: 'hash' }, { bodyHash, reply: stored }, now)
    expect(repeated).toEqual(first)
  })
})
