import { expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { type Run, afterEvent as runAfter } from '../src/pages/run/use-run.ts'
import { afterEvent as listAfter } from '../src/pages/runs/use-runs.ts'

const event = (change: Partial<LiveEvent>): LiveEvent =>
  ({ seq: 1, type: 'run_queued', runId: 'a run', taskId: null, payload: {}, ...change }) as LiveEvent

const run = { id: 'a run', statusMessage: null, statusColor: null, tokens: null } as Run

test('what a run says and uses is shown as in its events', () => {
  const said = event({ type: 'run_status', payload: { message: 'uses Bash', color: 'blue' } })
  expect(runAfter(run, said)).toMatchObject({ statusMessage: 'uses Bash', statusColor: 'blue' })
  const used = event({
    type: 'run_usage',
    payload: { inputTokens: 5, cachedInputTokens: null, outputTokens: 7 },
  })
  expect(runAfter(run, used).tokens).toEqual({ input: 5, cachedInput: null, cacheWrite: null, output: 7 })
})

test('events of other runs, and usage that is not known, change nothing', () => {
  const payload = { message: 'x', color: 'blue' }
  expect(runAfter(run, event({ type: 'run_status', runId: 'another', payload }))).toBe(run)
  expect(
    runAfter(run, event({ type: 'run_usage', payload: { inputTokens: null, outputTokens: null } })),
  ).toBe(run)
})

test('a list counts the runs that were queued since and may belong to it', () => {
  const head = { newer: 2 }
  const queued = event({ payload: { agent: 'dev-1', source: 'timer' }, taskId: 'a task' })
  expect(listAfter({})(head, queued)).toEqual({ newer: 3 })
  expect(listAfter({ agent: 'dev-1', source: 'timer', task: 'a task' })(head, queued)).toEqual({ newer: 3 })
  expect(listAfter({ agent: 'dev-2' })(head, queued)).toBe(head)
  expect(listAfter({ source: 'on_demand' })(head, queued)).toBe(head)
  expect(listAfter({ task: 'another' })(head, queued)).toBe(head)
  expect(listAfter({})(head, event({ type: 'run_finished' }))).toBe(head)
})
