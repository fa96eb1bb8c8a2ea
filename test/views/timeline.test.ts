import { expect, test } from 'vitest'
import type { TaskState } from '../../src/pure/states.ts'
import { segmentsOf } from '../../src/views/timeline/segments.ts'

/** The states of tasks as segments of time. */

const changes = (task: number, ...steps: [state: TaskState, generation: number, at: number][]) =>
  steps.map(([state, generation, at]) => ({ task, state, generation, at }))
const shown = (all: ReturnType<typeof changes>) =>
  segmentsOf(all).map(({ task, attempt, kind, from, to }) => [task, attempt, kind, from, to])

test('a claim is one segment, however its holder continues', () => {
  const steps = changes(
    1,
    ['pending', 0, 0],
    ['queued', 0, 5],
    ['assigned', 1, 10],
    ['running', 1, 11],
    ['continuing', 1, 12],
    ['running', 1, 13],
    ['verifying', 1, 20],
    ['completed', 1, 30],
  )
  expect(shown(steps)).toEqual([
    [1, 0, 'waiting', 0, 5],
    [1, 0, 'queued', 5, 10],
    [1, 1, 'work', 10, 20],
    [1, 1, 'verification', 20, 30],
  ])
})

test('a claim says since when it is worked on, however often its holder continues', () => {
  const steps = changes(1, ['assigned', 1, 10], ['running', 1, 14], ['continuing', 1, 15], ['running', 1, 16])
  expect(segmentsOf(steps)).toMatchObject([{ kind: 'work', from: 10, to: null, startedAt: 14 }])
  expect(segmentsOf(steps.slice(0, 1))).toMatchObject([{ kind: 'work', from: 10, startedAt: null }])
})

test('the next claim is a segment of its own, and the last one lasts', () => {
  const steps = changes(
    1,
    ['assigned', 1, 0],
    ['awaiting_retry', 1, 2],
    ['assigned', 2, 3],
    ['assigned', 3, 4],
  )
  expect(shown(steps)).toEqual([
    [1, 1, 'work', 0, 2],
    [1, 1, 'retry', 2, 3],
    [1, 2, 'work', 3, 4],
    [1, 3, 'work', 4, null],
  ])
})

test('a task that ended has no segment until it is opened again, and no task continues the segment of another', () => {
  const steps = [
    ...changes(1, ['queued', 0, 0], ['cancelled', 0, 1], ['queued', 0, 7]),
    ...changes(2, ['queued', 0, 3]),
  ]
  expect(shown(steps)).toEqual([
    [1, 0, 'queued', 0, 1],
    [1, 0, 'queued', 7, null],
    [2, 0, 'queued', 3, null],
  ])
})
