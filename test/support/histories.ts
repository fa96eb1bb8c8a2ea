import fc from 'fast-check'
import type { EventDraft } from '../../src/kinds/events.ts'
import type { NewTask, RuleContext, TaskCommand } from '../../src/kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import { createTask } from '../../src/kinds/task/rules/create.ts'
import type { Decision } from '../../src/kinds/task/rules/decide.ts'
import { decide } from '../../src/kinds/task/rules/decide.ts'
import type { TaskTimers } from '../../src/kinds/task/rules/groups.ts'
import { FAILURE_CLASSES } from '../../src/kinds/task/rules/retry.ts'
import { type CountedDependency, countOf, outcomeOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import { DEFAULT_LIMITS } from '../../src/kinds/workspace/limits.ts'
import { type TaskState, TRIGGER_RULES, taskStates } from '../../src/pure/states.ts'
import { newTask } from './tasks.ts'

/** A step of a task's history: some time passes, then a command is sent. Fences are near the truth, not always true. */
interface Step {
  waitMs: number
  say: (record: TaskRecord, now: number) => TaskCommand
}

const seldom = <T>(some: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: some })
const sessions = fc.constantFrom('s-1', 's-2')
const agents = fc.constantFrom('alpha', 'beta')
const words = fc.option(fc.constantFrom('', 'because', 'no "reason"'))
const nearlyTheFence = fc
  .record({ off: fc.constantFrom(...Array(16).fill(0), -1, 1, -5), session: seldom(sessions) })
  .map(({ off, session }) => (record: TaskRecord) => ({
    generation: Math.max(0, record.generation + off),
    session: session ?? record.session ?? 's-1',
  }))
const submission = fc.constantFrom('a', 'b').map((result) => ({
  data: JSON.stringify({ result }),
  hash: `hash-of-${result}`,
  bytes: 14,
  summary: null,
}))

const MERGED = { data: '{"parts":[]}', hash: 'hash-of-merged', bytes: 12, summary: null }
/** The only part there is, with any state at every moment. */
const AS_READ = { id: 8, generation: 1, hash: 'hash-of-part' }
const PART = { id: 8, state: 'completed', generation: 1, resultHash: 'hash-of-part' } as TaskRecord

/** What it may get as dependencies. */
const UPSTREAM = (['running', 'completed', 'failed'] as const).map(
  (state, i) => ({ id: 9 + i, uuid: `upstream-${9 + i}`, version: 1, state }) as TaskRecord,
)

const outcomes = fc.constantFrom(null, 'completed', 'failed', 'cancelled', 'skipped')

const held = <T extends object>(more: fc.Arbitrary<T>) =>
  fc.tuple(nearlyTheFence, more).map(
    ([fence, rest]) =>
      (record: TaskRecord) =>
        ({ ...rest, fence: fence(record) }) as unknown as TaskCommand,
  )
const plain = (command: fc.Arbitrary<TaskCommand>) => command.map((said) => () => said)
const kind = <K extends string>(name: K) => fc.constant(name)

const COMMANDS: Record<TaskCommand['kind'], fc.Arbitrary<Step['say']>> = {
  claim: plain(
    fc.record({
      kind: kind('claim'),
      agent: agents,
      session: sessions,
      leaseMs: fc.constantFrom(1_000, 60_000, 900_000),
      capabilities: fc.constantFrom(['sql'], ['sql'], ['sql'], []),
      byCoordinator: fc.constantFrom(undefined, undefined, true),
    }),
  ),
  renew: held(
    fc.record({ kind: kind('renew'), leaseMs: fc.option(fc.constant(30_000), { nil: undefined }) }),
  ),
  start: held(fc.record({ kind: kind('start') })),
  progress: fc
    .tuple(
      nearlyTheFence,
      fc.record({
        percent: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
        step: fc.option(fc.constant('testing'), { nil: undefined }),
        checkpoint: fc.option(fc.constant({ at: 3 }), { nil: undefined }),
      }),
      fc.option(fc.integer({ min: -100, max: 60_000 })),
      seldom(fc.integer({ min: -1, max: 0 })),
    )
    .map(([fence, said, doneIn, off]) => (record, now) => ({
      kind: 'progress',
      ...said,
      fence: fence(record),
      doneBy: doneIn === null ? undefined : now + doneIn,
      ifVersion: off === null ? null : record.version + off,
    })),
  continue: held(fc.record({ kind: kind('continue') })),
  release: held(fc.record({ kind: kind('release'), reason: fc.constant('VOLUNTARY') })),
  submit: held(fc.record({ kind: kind('submit'), submission })),
  fail: fc
    .tuple(
      nearlyTheFence,
      fc.constantFrom(...FAILURE_CLASSES),
      words,
      fc.option(fc.integer({ min: -60_000, max: 600_000 })),
    )
    .map(([fence, failureClass, error, retryIn]) => (record, now) => ({
      kind: 'fail',
      fence: fence(record),
      failureClass,
      error,
      retryAt: retryIn === null ? undefined : now + retryIn,
    })),
  ask: held(
    fc.record({
      kind: kind('ask'),
      question: fc.constant('Which one?'),
      options: fc.constantFrom([], [], ['this', 'that']),
    }),
  ),
  answer: fc
    .tuple(fc.constantFrom('this', 'other'), seldom(fc.constant(1)))
    .map(([answer, behind]) => (record) => ({
      kind: 'answer',
      answer,
      ...(behind === null ? {} : { generation: record.generation - behind }),
    })),
  complete: plain(fc.record({ kind: kind('complete'), submission, comment: words })),
  skip: plain(fc.record({ kind: kind('skip'), reason: fc.constant('not needed') })),
  replan: plain(
    fc.constant({
      kind: 'replan',
      details: { title: 'new title' },
      fields: {
        priority: 7,
        maxRetries: 2,
        maxContinuations: 3,
        onlyAgent: null,
        capabilities: ['sql'],
        verification: 'none',
        optional: true,
        ...{ timers: null, continuation: null, agentChoice: null },
      },
      changed: ['title'],
      edges: null,
    } as const),
  ),
  waitAgain: plain(fc.constant({ kind: 'waitAgain', because: 'its mission is retried' })),
  lose: held(
    fc.record({ kind: kind('lose'), silentMs: fc.constant(60_000), who: fc.constantFrom('worker', 'agent') }),
  ),
  revoke: held(
    fc.record({
      kind: kind('revoke'),
      how: fc.constantFrom('AGENT_TERMINATED', 'AGENT_PAUSED'),
      reason: fc.constant('agent terminated'),
    }),
  ),
  log: held(
    fc.record({
      kind: kind('log'),
      entries: fc.constant([{ level: 'INFO', event: 'note', message: 'so far so good' }]),
    }),
  ),
  useModel: held(
    fc.record({
      kind: kind('useModel'),
      from: fc.constant(null),
      to: fc.constantFrom('opus', 'haiku'),
      reason: fc.constant('quality'),
    }),
  ),
  changeDependencies: fc
    .record({
      dependsOn: fc.subarray(
        [...UPSTREAM, { id: 99, uuid: 'nobody' }].map(({ id, uuid }, place) => ({ id, uuid, place })),
      ),
      triggerRule: fc.constantFrom(...TRIGGER_RULES),
      cycle: fc.constantFrom(null, null, ['upstream-9']),
      behind: fc.constantFrom(0, 0, 1),
      isStale: fc.constantFrom(false, false, true),
      patch: fc.constantFrom(null, null, { title: 'new title' }),
      remove: fc.constantFrom(undefined, undefined, {
        on: [{ id: 20, uuid: 'upstream-20', place: 0 }],
        areAll: false,
      }),
    })
    .map(({ behind, isStale, ...said }) => (record) => ({
      kind: 'changeDependencies',
      ...said,
      version: record.version - behind,
      ifVersion: isStale ? record.version - 1 : null,
    })),
  failCycle: fc.constantFrom(0, 0, 1).map((behind) => (record: TaskRecord) => ({
    kind: 'failCycle',
    cycle: ['01900000-0000-7000-8000-000000000009', record.uuid],
    version: record.version - behind,
  })),
  stall: plain(fc.record({ kind: kind('stall'), silentMs: fc.constantFrom(0, 1_000, 300_000) })),
  divide: plain(
    fc.record({
      kind: kind('divide'),
      merge: fc.constantFrom('object', 'object', 'task'),
      parts: fc.constant(1),
    }),
  ),
  merge: fc
    .tuple(
      fc.constantFrom([AS_READ], [AS_READ], [AS_READ, { ...AS_READ, generation: 2 }]),
      fc.oneof(submission, fc.constant({ ...MERGED, bytes: 2 ** 40 })),
      fc.constantFrom(0, 0, 0, 1),
    )
    .map(([parts, submission, behind]) => (record) => ({
      kind: 'merge',
      version: record.version - behind,
      parts,
      submission,
    })),
  promote: fc.tuple(fc.nat({ max: 2 }), sessions, words).map(([back, session, reason]) => (record) => ({
    kind: 'promote',
    generation: Math.max(1, record.generation - back),
    session,
    hash: 'hash-of-promoted',
    ref: 'wp-promoted',
    reason,
  })),
  cancel: plain(fc.record({ kind: kind('cancel'), reason: words })),
  pause: plain(fc.record({ kind: kind('pause'), reason: words })),
  resume: plain(fc.record({ kind: kind('resume') })),
  retry: plain(fc.record({ kind: kind('retry'), reason: words })),
  reset: plain(fc.record({ kind: kind('reset'), reason: words })),
  approve: plain(fc.record({ kind: kind('approve'), comment: words })),
  reject: plain(fc.record({ kind: kind('reject'), comment: words })),
  raiseAlert: fc.constantFrom(0, 0, 0, 1).map((behind) => (record) => ({
    kind: 'raiseAlert',
    reason: 'nobody is there',
    version: record.version - behind,
  })),
  clearAlert: plain(fc.constant({ kind: 'clearAlert' })),
  countChild: plain(fc.record({ kind: kind('countChild') })),
  verifyAgain: fc
    .record({ kind: kind('verifyAgain'), agent: fc.constantFrom(null, 'a') })
    .map((said) => ({ generation }) => ({ ...said, generation })),
  verdict: plain(
    fc.record({ kind: kind('verdict'), verdict: fc.constantFrom('passed', 'failed', 'unsure'), note: words }),
  ),
  update: fc
    .record({
      stale: fc.boolean(),
      patch: fc.record(
        {
          priority: fc.integer({ min: 1, max: 10 }),
          onlyAgent: fc.option(agents),
          title: fc.constant('new title'),
          taskType: fc.constant('docs'),
        },
        { requiredKeys: [] },
      ),
    })
    .map(({ stale, patch }) => (record) => ({
      kind: 'update',
      ifVersion: stale ? record.version - 1 : null,
      patch,
    })),
  archive: plain(fc.record({ kind: kind('archive') })),
  removeWork: fc
    .tuple(fc.constantFrom('discarded' as const, 'retention' as const), fc.boolean())
    .map(([because, stale]) => (record: TaskRecord) => ({
      ...{ kind: 'removeWork', because, branches: 1, folders: 0 },
      generations: record.generation === 0 ? [] : [record.generation],
      version: stale ? record.version - 1 : record.version,
    })),
  comment: plain(
    fc.record({
      kind: kind('comment'),
      comment: fc.record({ uuid: fc.uuid(), text: fc.string({ minLength: 1 }), replyTo: fc.constant(null) }),
    }),
  ),
  elapse: plain(fc.record({ kind: kind('elapse') })),
  countUpstream: fc
    .tuple(
      fc.array(fc.record({ at: fc.nat({ max: 3 }), ahead: fc.nat({ max: 6 }), outcome: outcomes }), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constantFrom(undefined, undefined, 0, 1),
    )
    .map(([reports, behind]) => (record) => ({
      kind: 'countUpstream',
      edges: reports.map(({ at, ahead, outcome }) => ({
        dependsOn: 20 + at,
        uuid: `upstream-${20 + at}`,
        version: ahead,
        outcome,
      })),
      version: behind === undefined ? undefined : record.version - behind,
    })),
}

const anything = fc.oneof(...Object.values(COMMANDS))
const {
  claim,
  elapse,
  countUpstream,
  resume,
  reset,
  retry,
  archive,
  verdict,
  approve,
  reject,
  submit,
  fail,
} = COMMANDS
const { divide, merge, lose, stall, promote } = COMMANDS
const { start, progress } = COMMANDS
const byHolder = fc.oneof(
  ...[start, start, progress, COMMANDS.continue, COMMANDS.release, submit, fail, COMMANDS.ask],
)
const whileHeld = fc.oneof(
  { weight: 16, arbitrary: byHolder },
  { weight: 8, arbitrary: fc.oneof(elapse, COMMANDS.renew) },
  { weight: 3, arbitrary: fc.oneof(lose, stall, COMMANDS.update) },
)
/** What a caller that knows the state would send: else most histories would be over before they began. */
const sensible: fc.Arbitrary<Step['say']> = fc
  .record({
    pending: fc.oneof(elapse, countUpstream, merge),
    queued: fc.oneof({ weight: 7, arbitrary: claim }, { weight: 1, arbitrary: divide }),
    awaiting_retry: fc.oneof(elapse, claim, retry),
    assigned: whileHeld,
    running: whileHeld,
    continuing: whileHeld,
    verifying: verdict,
    awaiting_human: fc.oneof(approve, reject, retry, COMMANDS.answer, COMMANDS.verifyAgain),
    paused: resume,
    budget_exceeded: resume,
    completed: fc.oneof(reset, archive),
    failed: fc.oneof(reset, retry, promote),
    cancelled: reset,
    skipped: reset,
    overtime: fc.oneof({ weight: 4, arbitrary: elapse }, { weight: 1, arbitrary: whileHeld }),
  } satisfies Record<TaskState | 'overtime', fc.Arbitrary<Step['say']>>)
  .map((known) => (record, now) => {
    const { state, timers } = record
    const isOvertime = state === 'running' && timers?.doneBy !== undefined && timers.doneBy < now
    return known[isOvertime ? 'overtime' : state](record, now)
  })
const said = fc.oneof({ weight: 2, arbitrary: sensible }, { weight: 1, arbitrary: anything })

const step: fc.Arbitrary<Step> = fc.record({
  waitMs: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 1, max: 5_000 }),
    fc.integer({ min: 5_000, max: 400_000 }),
  ),
  say: said,
})

/** Short, so that much of it happens. */
const times: fc.Arbitrary<TaskTimers> = fc.record(
  {
    estimateMs: fc.integer({ min: 1, max: 20_000 }),
    assignMs: fc.constantFrom(1_000, 30_000),
    stallMs: fc.constantFrom(2_000, 100_000, 900_000),
    verifyMs: fc.constant(5_000),
    hangGraceMs: fc.constantFrom(0, 3_000),
    hangAbortMs: fc.constantFrom(1_000, 20_000),
    attemptMs: fc.constantFrom(3_000, 60_000),
    deadlineMs: fc.constantFrom(10_000, 300_000),
  },
  { requiredKeys: ['estimateMs', 'hangGraceMs', 'hangAbortMs'] },
)

/** The result of another task, for a task that verifies it. */
export const JUDGED = { taskId: 6, uuid: 'judged', generation: 1, notAgents: ['gamma'] }

const START = 1_767_506_400_000
export const history = fc.record({
  task: fc
    .record({
      verification: fc.constantFrom(
        'none' as const,
        'none' as const,
        'human' as const,
        'verifier' as const,
        'baton' as const,
      ),
      maxRetries: fc.integer({ min: 0, max: 3 }),
      runAt: seldom(fc.integer({ min: START - 10_000, max: START + 100_000 })),
      triggerRule: fc.constantFrom(...TRIGGER_RULES),
      onlyAgent: seldom(agents),
      capabilities: seldom(fc.constant(['sql'])).map((needs) => needs ?? []),
      expiresAt: seldom(fc.integer({ min: START - 10_000, max: START + 400_000 })),
      timers: fc.option(times),
      serves: seldom(fc.constant(JUDGED)),
    })
    .map(
      (overrides): NewTask => newTask({ ...overrides, purpose: overrides.serves ? 'verification' : 'work' }),
    ),
  upstream: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...taskStates), { minLength: 1, maxLength: 2 }) },
  ),
  limits: fc.record({
    maxGenerationsPerTask: fc.constantFrom(2, 5, 100),
    lateResults: fc.boolean(),
    stallTimeoutSeconds: fc.constantFrom(null, null, 20),
    queueOrder: fc.constantFrom('priority' as const, 'shortest_first' as const),
  }),
  roomForClaims: fc.constantFrom(...Array(9).fill(1), 0),
  /** The claimer is a worker that holds one of this many. */
  worker: seldom(
    fc.record({
      state: fc.constantFrom('active' as const, 'draining' as const, 'lost' as const),
      capacity: fc.constantFrom(1, 2),
    }),
  ),
  trackIsFull: fc.constantFrom(...Array(9).fill(false), true),
  steps: fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
})
type History = typeof history extends fc.Arbitrary<infer T> ? T : never

export interface Moment {
  before: TaskRecord
  command: TaskCommand
  context: RuleContext
  decision: Decision
}

/** Runs a history through `decide`, and shows each moment of it. */
export function replayHistory(
  { task, upstream, steps, ...surroundings }: History,
  visit: (moment: Moment) => void,
) {
  const identity = { id: 7, uuid: 'u', parentId: null, dependsOn: [] }
  const known = (upstream as readonly TaskState[]).map(outcomeOf)
  const counts = known.length === 0 ? null : countOf(task.triggerRule, known)
  const { record: born, event } = createTask(task, counts, identity, 'key:test', START)
  const rule = task.triggerRule
  const dependencies = new Map<number, CountedDependency>(
    known.map((outcome, i) => [20 + i, { rule, countedVersion: 1, outcome }]),
  )
  const log: EventDraft[] = [event]
  let record = born
  let now = START
  const reported: string[] = []
  for (const { waitMs, say } of steps) {
    now += waitMs
    const context = {
      ...contextOf(surroundings, now),
      dependencyOf: (_: number, on: number) => dependencies.get(on),
    }
    const command = say(record, now)
    reported.push(`+${waitMs} ms, ${record.state} at ${record.generation}: ${JSON.stringify(command)}`)
    const before = Object.freeze(record)
    try {
      const decision = decide(before, command, context)
      log.push(...decision.effects.events)
      visit({ before, command, context, decision })
      const { dependencies: added, recounted, removed } = decision.effects
      for (const { dependsOn } of removed) dependencies.delete(dependsOn)
      for (const { dependsOn, countedVersion, outcome } of [...added, ...recounted])
        dependencies.set(dependsOn, { rule, countedVersion, outcome })
      record = { ...decision.record }
    } catch (error) {
      throw new Error(`${(error as Error).message}\n  in this history:\n  ${reported.join('\n  ')}`, {
        cause: error,
      })
    }
  }
  return { record, log }
}

function contextOf(
  { limits, roomForClaims, worker, trackIsFull }: Omit<History, 'task' | 'upstream' | 'steps'>,
  now: number,
): RuleContext {
  return {
    now,
    limits: { ...DEFAULT_LIMITS, ...limits },
    roomForClaims,
    worker: worker ? { record: { name: 's-1', ...worker } as SessionRecord, held: 1 } : undefined,
    trackIsFull: () => (trackIsFull ? 1 : null),
    recordOf: (id) => [PART, ...UPSTREAM].find((one) => one.id === id),
    actor: 'key:test',
  }
}
