import { expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { FreshnessStore } from '../src/live/freshness.ts'
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
    hasFailed: () => false,
    refetch: async () => undefined,
    late: () => undefined,
  })
  for (const seq of [1, 2, 3]) keeper.event(event(seq))
  keeper.flush()
  keeper.event(event(4, 'task_logged'))
  keeper.flush()
  expect([now.body, changes]).toEqual([[2, 3], 1])
})

test('what events do not contain is read again, every two seconds at most', async () => {
  const clock = new ManualClock()
  let reads = 0
  const keeper = new SnapshotKeeper<number>(clock, {
    rules: () => ({ follows: ({ type }) => type === 'wakeup_requested' }),
    current: () => ({ body: 0, seq: 0 }),
    set: () => undefined,
    hasFailed: () => false,
    refetch: async () => {
      reads += 1
    },
    late: () => undefined,
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

/** A keeper whose reads end as the test says. */
function keeperOf(ends: unknown[]) {
  const clock = new ManualClock()
  const begun = clock.now()
  const freshness = new FreshnessStore()
  freshness.set({ kind: 'live' })
  const readAt: number[] = []
  const keeper = new SnapshotKeeper<number>(clock, {
    rules: () => ({ follows: () => true }),
    current: () => ({ body: 0, seq: 0 }),
    set: () => undefined,
    hasFailed: () => false,
    refetch: async () => {
      readAt.push(clock.now() - begun)
      const end = ends.shift()
      if (end) throw end
    },
    late: (at) => freshness.late(keeper, at),
  })
  keeper.event(event(1))
  keeper.flush()
  return { clock, freshness, readAt, keeper, kind: () => freshness.get().freshness.kind }
}

test('a read that fails is retried automatically, after a longer delay each time, and the pill says so', async () => {
  const { clock, readAt, kind } = keeperOf([{ status: 503 }, new Error('no answer'), { status: 500 }])
  await clock.pass(100)
  expect(kind()).toBe('late')
  await clock.pass(60_000)
  // Three quarters of 1, 2 and 4 seconds: waits vary by chance, which this clock does not.
  expect(readAt).toEqual([0, 750, 2_250, 5_250])
  expect([kind(), clock.pending]).toEqual(['live', 0])
})

test('a refusal is an answer, and the request is not repeated', async () => {
  const { clock, readAt, kind } = keeperOf([{ status: 404 }])
  await clock.pass(60_000)
  expect([readAt.length, kind(), clock.pending]).toEqual([1, 'live', 0])
})

test('what could not be read is read again when something happened to it, even if that was during the read', async () => {
  const clock = new ManualClock()
  let [reads, hasFailed] = [0, false]
  const keeper = new SnapshotKeeper<number>(clock, {
    rules: () => ({ follows: ({ type }) => type === 'report_written' }),
    current: () => undefined,
    set: () => undefined,
    hasFailed: () => hasFailed,
    refetch: async () => {
      reads += 1
    },
    late: () => undefined,
  })
  keeper.event(event(1, 'report_written'))
  keeper.flush()
  await clock.pass(100)
  // The first read is on its way, and may still succeed.
  expect(reads).toBe(0)
  hasFailed = true
  keeper.readAgainIfMissed()
  await clock.pass(100)
  expect(reads).toBe(1)
  keeper.event(event(2, 'task_logged'))
  keeper.flush()
  await clock.pass(60_000)
  expect(reads).toBe(1)
  keeper.event(event(3, 'report_written'))
  keeper.flush()
  await clock.pass(100)
  expect(reads).toBe(2)
})

test('a page that is left reads nothing again, and a lost connection says more than a read that failed', async () => {
  const { clock, freshness, readAt, keeper, kind } = keeperOf([{ status: 503 }])
  await clock.pass(100)
  freshness.set({ kind: 'again', at: clock.now() })
  expect(kind()).toBe('again')
  freshness.set({ kind: 'live' })
  expect(kind()).toBe('late')
  keeper.close()
  await clock.pass(60_000)
  expect([readAt.length, kind()]).toEqual([1, 'live'])
})
