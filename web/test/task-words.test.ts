import { describe, expect, test } from 'vitest'
import { shortKey } from '../src/requests/act-words.ts'
import { threadsOf } from '../src/things/comments/thread.ts'
import type { Eligible } from '../src/things/task/eligible.ts'
import { patchRows } from '../src/things/task/patch-rows.ts'
import type { Neighbour, ShownTask, Task } from '../src/things/task/use-task.ts'
import { whyAndNext } from '../src/things/task/why.ts'

/** What the page of a task says, without a page. */

type EligibleAgent = Eligible['agents'][number]

const neighbour = (key: string | null, state: Neighbour['state']): Neighbour => ({
  taskId: `id of ${key}`,
  key,
  title: 'Schema',
  state,
  kind: 'data',
})

const words = (now: Partial<ShownTask>, task: Partial<Task> = {}) => {
  const shown = {
    attempt: 1,
    holder: null,
    dueAt: null,
    awaits: null,
    agent: null,
    resultDigest: null,
    ...now,
  }
  const read = { blockedBy: [], blocks: [], verifications: [], requiredCapabilities: [], triggerRule: null }
  const more = {
    verification: null,
    error: null,
    failureClass: null,
    exitCode: null,
    maxRetries: 3,
    question: null,
    awaits: null,
  }
  return whyAndNext({ ...read, ...more, ...task } as unknown as Task, shown as ShownTask)
}

describe('a task says why it does not move, and what moves it', () => {
  test('when it waits for others, it names those that are not done', () => {
    const blockedBy = [
      neighbour('B-002-schema', 'completed'),
      neighbour('B-009-library', 'running'),
      neighbour(null, 'queued'),
    ]
    expect(words({ state: 'pending' }, { blockedBy, triggerRule: 'all_success' })).toEqual({
      why: 'waiting for B-009 and “Schema”',
      next: { words: 'queued when all 2 are done', at: null },
    })
  })

  test('when it is retried, what failed and when', () => {
    const shown = words(
      { state: 'awaiting_retry', dueAt: 5_000 },
      { error: 'exit 1', failureClass: 'quality' },
    )
    expect(shown.why).toBe('the result was not good enough: “exit 1”')
    expect(shown.next).toEqual({ words: 'retried in', at: 5_000 })
  })

  test('when it failed, whether attempts are left and what it blocks', () => {
    const blocks = [neighbour('B-031-docs', 'pending')]
    const exited = { error: 'No such file', failureClass: 'infrastructure', exitCode: 3 }
    expect(words({ state: 'awaiting_retry' }, exited).why).toBe('it exited with code 3: “No such file”')
    const trace =
      'node --enable-source-maps /srv/a.js exited with code 3: node:internal\n\nError: No such file\n  at x (a.js:1)'
    expect(words({ state: 'awaiting_retry' }, { ...exited, error: trace }).why).toBe(
      'it exited with code 3: “No such file”',
    )
    const silent = { ...exited, error: './worker.sh exited with code 3.' }
    expect(words({ state: 'awaiting_retry' }, silent).why).toBe('it exited with code 3')
    expect(words({ state: 'awaiting_retry' }, { ...silent, failureClass: 'quality' }).why).toBe(
      'the result was not good enough: it exited with code 3',
    )
    const traced = {
      ...exited,
      error: '/bin/x exited with code 3: at work\nTypeError: no customer\n    at a (x:1)',
    }
    expect(words({ state: 'awaiting_retry' }, traced).why).toBe(
      'it exited with code 3: “TypeError: no customer”',
    )
    const shown = words({ state: 'failed', attempt: 4 }, { error: 'exit 1', blocks })
    expect(shown.why).toBe('“exit 1”. All 4 attempts are spent.')
    expect(shown.next?.words).toContain('blocks 1 task')
  })

  test('when a person has to decide, about what', () => {
    expect(words({ state: 'awaiting_human', awaits: 'question' }).next?.words).toBe(
      'queued again with your answer',
    )
    expect(words({ state: 'awaiting_human', awaits: 'result', resultDigest: 'd' }).next?.words).toBe(
      'done if you approve, retried if you reject',
    )
    expect(words({ state: 'budget_exceeded', awaits: 'budget' }).next?.words).toContain('budget is raised')
  })

  test('when the agents that could take it are stopped, that they are, and whom to resume', () => {
    const agent = (
      slug: string,
      state: EligibleAgent['state'],
      stateReason: string | null = null,
    ): EligibleAgent => ({
      ...{ slug, state, stateReason, leaving: false },
    })
    const wordsFor = (agents: readonly EligibleAgent[], now: Partial<ShownTask> = {}, workers = 0) => {
      const eligible = { agents: [...agents], workers }
      const { why, next, resume } = words({ state: 'queued', ...now }, { eligible })
      return [why, next?.words, resume ?? null]
    }
    const paused = agent('dev-1', 'paused')
    expect(wordsFor([paused])).toEqual(['the agent dev-1 is paused', 'taken when dev-1 is resumed', 'dev-1'])
    expect(wordsFor([agent('dev-1', 'error', 'Run `claude /login`.')])).toEqual([
      'the agent dev-1 is stopped after an error: Run `claude /login`',
      'fix it, then resume dev-1',
      'dev-1',
    ])
    expect(wordsFor([], { agent: 'dev-1' })[0]).toBe('there is no agent dev-1')
    expect(wordsFor([])).toEqual([
      'no agent can take it',
      'give it to an agent, or add one that can take it',
      null,
    ])
    expect(wordsFor([paused, agent('dev-2', 'offline')])).toEqual([
      'no agent that can take it is at work: dev-1 is paused, dev-2 is offline',
      'resume one of them',
      'dev-1',
    ])
    const free = 'taken by an agent as soon as one is free'
    expect([wordsFor([agent('dev-2', 'idle'), paused])[1], wordsFor([paused], {}, 1)[1]]).toEqual([
      free,
      free,
    ])
  })

  test('and says nothing when it is done', () => {
    expect(words({ state: 'completed' })).toEqual({ why: null, next: null })
  })
})

test('a key is short without its words, and keeps its part', () => {
  expect(shortKey('B-003-implement-dashboard::2')).toBe('B-003::2')
  expect(shortKey('B-014-fix-login')).toBe('B-014')
})

test('a patch is a tree with each part of a path once, and the old value', () => {
  const accepted = { pages: { home: 'Hello', cart: 'Basket' }, 'a/b': 1 }
  const patch = [
    { op: 'replace', path: '/pages/home', value: 'Welcome' },
    { op: 'remove', path: '/pages/cart' },
    { op: 'add', path: '/a~1b', value: 2 },
  ]
  const rows = patchRows(patch, accepted).map(({ depth, name, change }) => [depth, name, change])
  expect(rows).toEqual([
    [0, 'a/b', { op: 'add', before: undefined, after: 2 }],
    [0, 'pages', null],
    [1, 'cart', { op: 'remove', before: 'Basket', after: undefined }],
    [1, 'home', { op: 'replace', before: 'Hello', after: 'Welcome' }],
  ])
})

test('replies are listed below the first comment of their thread, however deep they are', () => {
  const said = (id: string, replyTo: string | null) =>
    ({ id, replyTo }) as Parameters<typeof threadsOf>[0][number]
  const threads = threadsOf([
    said('a', null),
    said('b', null),
    said('c', 'a'),
    said('d', 'c'),
    said('e', 'gone'),
  ])
  expect(threads.map(({ first, replies }) => [first.id, ...replies.map(({ id }) => id)])).toEqual([
    ['a', 'c', 'd'],
    ['b'],
    ['e'],
  ])
})
