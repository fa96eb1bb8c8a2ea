import { describe, expect, test } from 'vitest'
import type { Fence, NewTask, RuleContext, TaskCommand } from '../../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { createTask } from '../../../src/kinds/task/rules/create.ts'
import { decide } from '../../../src/kinds/task/rules/decide.ts'
import { DEFAULT_LIMITS } from '../../../src/kinds/workspace/limits.ts'
import type { Reply } from '../../support/replies.ts'
import { newTask, outcome } from '../../support/tasks.ts'

const START = 1_767_506_400_000
const LEASE_MS = 60_000
const IDENTITY = { id: 1, uuid: 'u', parentId: null, dependsOn: [] }

/** One task under `decide`, with a clock that the test sets. */
class Life {
  record: TaskRecord
  now = START
  limits = DEFAULT_LIMITS
  constructor(overrides: Partial<NewTask> = {}) {
    const task = { ...newTask(), ...overrides }
    this.record = createTask(task, null, IDENTITY, 'key:test', START).record
  }
  say(command: TaskCommand): Reply {
    const context: RuleContext = { now: this.now, limits: this.limits, roomForClaims: 10, actor: 'key:test' }
    const { record, reply } = decide(this.record, command, context)
    this.record = record
    return reply
  }
  claim = () =>
    this.say({ kind: 'claim', agent: 'alpha', session: 's-1', leaseMs: LEASE_MS, capabilities: [] })
  get fence(): Fence {
    return { session: 's-1', generation: this.record.generation }
  }
  fail = (failureClass: Extract<TaskCommand, { kind: 'fail' }>['failureClass'], retryAt?: number) =>
    this.say({ kind: 'fail', fence: this.fence, failureClass, error: null, retryAt })
}

const submission = { data: '{}', hash: 'abcdef0123', bytes: 2, summary: null }
const HOLDER_WRITES: [string, (fence: Fence) => TaskCommand][] = [
  ['renew', (fence) => ({ kind: 'renew', fence })],
  ['start', (fence) => ({ kind: 'start', fence })],
  ['progress', (fence) => ({ kind: 'progress', fence })],
  ['continue', (fence) => ({ kind: 'continue', fence })],
  ['release', (fence) => ({ kind: 'release', fence, reason: 'VOLUNTARY' })],
  ['fail', (fence) => ({ kind: 'fail', fence, failureClass: 'quality', error: null })],
]

describe.each(HOLDER_WRITES)('%s', (name, write) => {
  const [stale, future] =
    name === 'renew'
      ? ['GENERATION_MISMATCH', 'GENERATION_MISMATCH']
      : ['STALE_GENERATION', 'FUTURE_GENERATION']

  test('is for the holder alone', () => {
    const life = new Life()
    expect(outcome(life.say(write({ session: 's-1', generation: 1 })))).toBe('NO_CLAIM')
    life.claim()
    life.say({ kind: 'release', fence: life.fence, reason: 'VOLUNTARY' })
    expect(outcome(life.say(write(life.fence))), 'after its release').toBe('NO_CLAIM')
    life.claim()
    expect(outcome(life.say(write({ session: 's-1', generation: 1 })))).toBe(stale)
    expect(outcome(life.say(write({ session: 's-1', generation: 3 })))).toBe(future)
    expect(outcome(life.say(write({ session: 's-2', generation: 2 })))).toBe('SESSION_MISMATCH')
    expect(life.say(write(life.fence)).ok).toBe(true)
  })

  test('is in time one millisecond before the lease ends and too late at its end', () => {
    const inTime = new Life()
    inTime.claim()
    inTime.now += LEASE_MS - 1
    expect(inTime.say(write(inTime.fence)).ok).toBe(true)

    const late = new Life()
    late.claim()
    late.now += LEASE_MS
    expect(outcome(late.say(write(late.fence)))).toBe('ALREADY_EXPIRED')
    expect(late.record, 'the first to notice settles it').toMatchObject({
      state: 'awaiting_retry',
      claimState: 'expired',
    })
    expect(outcome(late.say(write(late.fence))), 'and it stays so').toBe('ALREADY_EXPIRED')
  })

  test.each(['cancel', 'pause'] as const)('is refused after an operator’s %s', (act) => {
    const life = new Life()
    life.claim()
    life.say({ kind: act, reason: null })
    expect(outcome(life.say(write(life.fence)))).toBe('NO_CLAIM')
  })
})

describe('a claim', () => {
  const by = (agent: string, capabilities: string[] = []): TaskCommand => ({
    kind: 'claim',
    agent,
    session: 's-1',
    leaseMs: LEASE_MS,
    capabilities,
  })

  test('of a reserved task is for its agent alone', () => {
    const life = new Life({ onlyAgent: 'beta' })
    expect(outcome(life.say(by('alpha')))).toBe('WRONG_AGENT')
    expect(outcome(life.say(by('beta')))).toBe('GRANTED')
  })

  test('needs every capability the task asks for', () => {
    const life = new Life({ capabilities: ['typescript', 'sql'] })
    expect(life.say(by('alpha', ['sql']))).toMatchObject({
      code: 'MISSING_CAPABILITY',
      missing: 'typescript',
    })
    expect(outcome(life.say(by('alpha', ['rust', 'sql', 'typescript'])))).toBe('GRANTED')
  })

  test('is refused in every state but queued, and awaiting_retry when its retry is due', () => {
    const life = new Life()
    expect(outcome(life.claim())).toBe('GRANTED')
    expect(outcome(life.claim()), 'held, by the same session too').toBe('DENIED_ACTIVE_CLAIM')
    life.fail('quality')
    expect(life.claim()).toMatchObject({ code: 'NOT_READY', taskState: 'awaiting_retry' })
    life.now = life.record.dueAt!
    expect(outcome(life.claim())).toBe('GRANTED')
    life.say({ kind: 'pause', reason: null })
    expect(life.claim()).toMatchObject({ code: 'NOT_READY', taskState: 'paused' })
    life.say({ kind: 'cancel', reason: null })
    expect(life.claim()).toMatchObject({ code: 'NOT_READY', taskState: 'cancelled' })
  })
})

describe('a renewal', () => {
  test('is for a whole lease from now, of the length last requested, and never shortens the lease', () => {
    const life = new Life()
    life.claim()
    life.now += 10_000
    expect(life.say({ kind: 'renew', fence: life.fence })).toMatchObject({
      reason: 'RENEWED',
      ttlMs: LEASE_MS,
    })
    expect(life.record.leaseExpiresAt).toBe(life.now + LEASE_MS)

    // An older, shorter request may arrive after a newer one; the lease already promised stands.
    expect(life.say({ kind: 'renew', fence: life.fence, leaseMs: 5_000 })).toMatchObject({ ttlMs: LEASE_MS })
    expect(life.record).toMatchObject({ leaseMs: 5_000, leaseExpiresAt: life.now + LEASE_MS })
    life.now += LEASE_MS - 1
    expect(life.say({ kind: 'renew', fence: life.fence })).toMatchObject({ ttlMs: 5_000 })
  })
})

describe('a failure', () => {
  test('of infrastructure waits longer each time, then leaves a dead letter', () => {
    const life = new Life({ maxRetries: 6 })
    const waits: number[] = []
    while (life.record.state !== 'failed') {
      expect(outcome(life.claim())).toBe('GRANTED')
      life.fail('infrastructure')
      if (life.record.dueAt !== null) {
        waits.push((life.record.dueAt - life.now) / 1000)
        life.now = life.record.dueAt
      }
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 300])
    expect(life.record.attempt).toBe(7)
  })

  test('by a rate limit parks the task until its reset and spends no attempt', () => {
    const life = new Life({ maxRetries: 0 })
    life.claim()
    life.fail('rate_limited', START + 3_600_000)
    expect(life.record).toMatchObject({ state: 'awaiting_retry', attempt: 0, dueAt: START + 3_600_000 })
    expect(life.claim()).toMatchObject({ code: 'NOT_READY' })
    life.now = START + 3_600_000
    expect(outcome(life.claim())).toBe('GRANTED')
  })

  test('that names a past time is due now', () => {
    const life = new Life()
    life.claim()
    life.fail('quality', START - 1)
    expect(life.record.dueAt).toBe(START)
  })

  test.each([
    ['invalid', 'failed', 'error'],
    ['dependency', 'skipped', 'error'],
    ['cancelled', 'cancelled', 'error'],
    ['budget', 'budget_exceeded', 'released'],
    ['human', 'awaiting_human', 'released'],
    ['quality', 'awaiting_retry', 'error'],
    ['timeout', 'awaiting_retry', 'error'],
    ['out_of_memory', 'failed', 'error'],
  ] as const)('of class %s leads to %s', (failureClass, state, claimState) => {
    const life = new Life()
    life.claim()
    expect(outcome(life.fail(failureClass))).toBe('FAILED')
    expect(life.record).toMatchObject({ state, claimState })
  })
})

describe('attempts', () => {
  test('are returned when work is released or reassigned, not failed', () => {
    const life = new Life()
    life.claim()
    life.say({ kind: 'release', fence: life.fence, reason: 'VOLUNTARY' })
    expect(life.record.attempt).toBe(0)
    life.claim()
    life.say({ kind: 'update', ifVersion: null, patch: { onlyAgent: 'beta' } })
    expect(life.record).toMatchObject({ state: 'queued', attempt: 0, generation: 2 })
  })

  test('are returned when a person pauses the work: it did not fail either', () => {
    const life = new Life({ maxRetries: 1 })
    life.claim()
    life.say({ kind: 'pause', reason: null })
    life.say({ kind: 'resume' })
    life.claim()
    expect(life.record.attempt).toBe(1)
    life.fail('infrastructure')
    expect(life.record.state, 'the retry it has is still there').toBe('awaiting_retry')
  })
})

describe('continuations', () => {
  const continueTask = (life: Life) => {
    life.say({ kind: 'start', fence: life.fence })
    return life.say({ kind: 'continue', fence: life.fence })
  }

  test('are the same attempt by the same holder, ten at most', () => {
    const life = new Life()
    life.claim()
    for (let n = 1; n <= 10; n++) expect(outcome(continueTask(life))).toBe('CONTINUING')
    expect(life.record).toMatchObject({ continuations: 10, attempt: 1, generation: 1, claimState: 'active' })
    expect(outcome(continueTask(life))).toBe('CONTINUATION_LIMIT')
  })

  test('sent twice are one, the last one too: the first answer may have been lost', () => {
    const life = new Life()
    life.claim()
    for (let n = 1; n <= 10; n++) {
      continueTask(life)
      expect(outcome(life.say({ kind: 'continue', fence: life.fence }))).toBe('CONTINUING')
      expect(life.record.continuations).toBe(n)
    }
  })
})

describe('the last generation', () => {
  test('is followed by a dead letter, not by an exception', () => {
    const life = new Life({ maxRetries: 100 })
    life.limits = { ...DEFAULT_LIMITS, maxGenerationsPerTask: 2 }
    for (let n = 0; n < 2; n++) {
      expect(outcome(life.claim())).toBe('GRANTED')
      life.now += LEASE_MS
      life.say({ kind: 'elapse' })
    }
    expect(life.record).toMatchObject({ state: 'failed', generation: 2, dueAt: null })
    expect(outcome(life.claim())).toBe('NOT_READY')
  })

  test('may come earlier when the limit is lowered; then a claim finds out, and nothing stays due', () => {
    const life = new Life()
    life.claim()
    life.now += LEASE_MS
    life.say({ kind: 'elapse' })
    life.limits = { ...DEFAULT_LIMITS, maxGenerationsPerTask: 1 }
    expect(outcome(life.claim())).toBe('NOT_READY')
    expect(life.record).toMatchObject({ state: 'failed', generation: 1, dueAt: null })
  })
})

describe('the same result', () => {
  test('again gets the same answer, but not from another session or at another generation', () => {
    const life = new Life()
    life.claim()
    const submit = (fence: Fence) => life.say({ kind: 'submit', fence, submission })
    const first = submit(life.fence)
    expect(submit(life.fence)).toMatchObject({ ok: true, workProductRef: first.workProductRef })
    expect(outcome(submit({ session: 's-2', generation: 1 }))).toBe('TASK_ALREADY_COMPLETED')
    expect(outcome(submit({ session: 's-1', generation: 2 }))).toBe('FUTURE_GENERATION')
  })
})

describe('a verdict', () => {
  test.each<[string, NewTask['verification'], (generation: number) => TaskCommand]>([
    ['approve', 'human', (generation) => ({ kind: 'approve', comment: null, generation })],
    ['reject', 'human', (generation) => ({ kind: 'reject', comment: null, generation })],
    ['verdict', 'verifier', (generation) => ({ kind: 'verdict', verdict: 'passed', note: null, generation })],
  ])('on an older generation is refused: %s', (_name, verification, judge) => {
    const life = new Life({ verification })
    life.claim()
    life.say({ kind: 'release', fence: life.fence, reason: 'VOLUNTARY' })
    life.claim()
    life.say({ kind: 'submit', fence: life.fence, submission })
    const before = life.record
    expect(life.say(judge(1))).toMatchObject({ code: 'STALE_GENERATION', currentGeneration: 2 })
    expect(life.record).toBe(before)
    expect(outcome(life.say(judge(2)))).toBe('DONE')
  })

  test('that does not come in time is requested from a person', () => {
    const life = new Life({ verification: 'verifier' })
    life.claim()
    life.say({ kind: 'submit', fence: life.fence, submission })
    life.now = life.record.dueAt! - 1
    expect(outcome(life.say({ kind: 'elapse' }))).toBe('NOTHING_DUE')
    life.now += 1
    expect(outcome(life.say({ kind: 'elapse' }))).toBe('MOVED')
    expect(life.record).toMatchObject({ state: 'awaiting_human', dueAt: null })
  })
})

describe('the removal of work', () => {
  const removal = (life: Life, more: Partial<Extract<TaskCommand, { kind: 'removeWork' }>> = {}) =>
    life.say({
      ...{ kind: 'removeWork', because: 'discarded', generations: [1], branches: 1, folders: 1 },
      ...{ version: life.record.version, ...more },
    })

  test('is recorded, and no later generation takes over that work', () => {
    const life = new Life()
    life.claim()
    life.fail('quality')
    const { version } = life.record
    expect(removal(life)).toMatchObject({ ok: true })
    expect(life.record).toMatchObject({
      state: 'awaiting_retry',
      version: version + 1,
      continuation: { freshFrom: 2 },
    })
    removal(life, { generations: [] })
    expect(life.record.continuation?.freshFrom, 'what was removed before stays removed').toBe(2)
  })

  test('is refused while the task is held, while the work awaits a verdict, and for a task that has changed', () => {
    const life = new Life({ verification: 'human' })
    life.claim()
    expect(removal(life)).toMatchObject({ ok: false, code: 'WRONG_STATE' })
    life.say({ kind: 'submit', fence: life.fence, submission: { ...submission, commit: 'c1' } })
    expect(life.record.state).toBe('awaiting_human')
    expect(removal(life)).toMatchObject({ ok: false, code: 'WRONG_STATE' })
    life.say({ kind: 'reject', comment: null })
    expect(removal(life, { because: 'retention' })).toMatchObject({ ok: false, code: 'WRONG_STATE' })
    const seen = life.record.version
    life.say({ kind: 'cancel', reason: null })
    expect(removal(life, { version: seen })).toMatchObject({ ok: false, code: 'CHANGED_SINCE' })
    expect(removal(life, { because: 'retention' })).toMatchObject({ ok: true })
  })
})
