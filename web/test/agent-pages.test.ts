import { describe, expect, test } from 'vitest'
import { barHeight } from '../src/pages/agent/run-bars.ts'
import { problemsIn } from '../src/pages/agent/server-problems.ts'
import { isChangedElsewhere, withPromptOf } from '../src/pages/agent/settings-draft.ts'
import { freeSlug } from '../src/pages/agents/slugs.ts'
import { afterEvent, shownAt, type WatchedRun, withEarlier } from '../src/pages/watch/wall.ts'

const SAVED = { name: 'dev', maxConcurrentTasks: 1, adapterConfig: { cwd: '/a', model: 'x' }, version: 3 }

describe('settings of an agent', () => {
  test('are changed by another person only if they are others, whatever the version', () => {
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
      fields: { env: 'is masked' },
      rest: null,
    })
    const other = new Error('The disk is full.')
    expect(problemsIn(other)).toEqual({ fields: {}, rest: other })
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

describe('the wall', () => {
  const NOW = Date.parse('2026-01-01T12:00:00Z')
  const run = (id: string, rest: Partial<WatchedRun> = {}) =>
    ({ id, status: 'running', flag: null, finishedAt: null, ...rest }) as WatchedRun
  const event = (type: string, runId: string, payload: object) =>
    ({ type, runId, payload, at: '2026-01-01T11:59:50Z' }) as never
  const ids = (runs: readonly WatchedRun[]) => runs.map(({ id }) => id)

  test('shows trouble first, then what runs longest, then what ended, for half a minute', () => {
    const runs = [
      run('b'),
      run('a', { status: 'failed', finishedAt: '2026-01-01T11:59:31Z' }),
      run('d', { flag: 'the same call 3 times' }),
      run('c', { status: 'succeeded', finishedAt: '2026-01-01T11:59:29Z' }),
      run('e'),
    ]
    expect(ids(shownAt(runs, NOW))).toEqual(['d', 'b', 'e', 'a'])
  })

  test('follows what events tell of its runs, and no others', () => {
    const runs = [run('a'), run('b')]
    expect(afterEvent(runs, event('run_flagged', 'x', { detail: 'loops' }))).toBe(runs)
    const flagged = afterEvent(runs, event('run_flagged', 'b', { detail: 'loops' }))
    expect(ids(shownAt(flagged, NOW))).toEqual(['b', 'a'])
    const ended = afterEvent(flagged, event('run_finished', 'b', { status: 'cancelled' }))
    expect(ended[1]).toMatchObject({ status: 'cancelled', finishedAt: '2026-01-01T11:59:50Z' })
  })

  test('keeps what it noticed and what ended when it is read again', () => {
    const earlier = [
      run('a', { flag: 'loops' }),
      run('b', { status: 'failed', finishedAt: '2026-01-01T11:59:50Z' }),
      run('c'),
    ]
    const again = withEarlier([run('a'), run('d')], earlier)
    expect(ids(again)).toEqual(['a', 'd', 'b'])
    expect(again[0]!.flag).toBe('loops')
  })
})
