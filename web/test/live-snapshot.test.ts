import { expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { advanced, type Snapshot, SnapshotKeeper } from '../src/live/snapshot.ts'
import { ManualClock } from './support/manual-clock.ts'

const event = (seq: number, type = 'task_progress') => ({ seq, type }) as LiveEvent
const counted = (value: number[], { seq }: LiveEvent) => [...value, seq]

test('events that an answer contains are not applied to it', () => {
  const events = [event(3), event(4), event(5)]
  expect(advanced({ body: [] as number[], seq: 4 }, events, counted)).toEqual({ body: [5], seq: 5 })
})

test('a snapshot changes once for all events of a slice, and not at all for those that change nothing', () => {
  let now: Snapshot<number[]> = { body: [], seq: 1 }
  let changes = 0
  const keeper = new SnapshotKeeper<number[]>(new ManualClock(), {
    rules: () => ({ apply: (value, one) => (one.type === 'task_progress' ? counted(value, one) : value) }),
    current: () => now,
    set: (next) => {
      now = next
      changes += 1
    },
    refetch: () => undefined,
  })
  for (const seq of [1, 2, 3]) keeper.event(event(seq))
  keeper.flush()
  keeper.event(event(4, 'task_logged'))
  keeper.flush()
  expect([now.body, changes]).toEqual([[2, 3], 1])
})

test('what events do not tell is read again, every two seconds at most', async () => {
  const clock = new ManualClock()
  let reads = 0
  const keeper = new SnapshotKeeper<number>(clock, {
    rules: () => ({ refetchOn: ({ type }) => type === 'wakeup_requested' }),
    current: () => ({ body: 0, seq: 0 }),
    set: () => undefined,
    refetch: () => {
      reads += 1
    },
  })
  for (let seq = 1; seq <= 50; seq++) {
    keeper.event(event(seq, seq % 2 ? 'wakeup_requested' : 'task_logged'))
    keeper.flush()
    await clock.pass(100)
  }
  expect(reads).toBe(3)
  keeper.resync()
  expect(reads).toBe(4)
})
