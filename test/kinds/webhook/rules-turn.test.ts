import { describe, expect, test } from 'vitest'
import { MOST_ATTEMPTS } from '../../../src/kinds/webhook/rules/schedule.ts'
import { type Attempt, type Job, type StoredDelivery, Turn } from '../../../src/kinds/webhook/rules/turn.ts'

/** What a turn of a webhook sends, and what it writes down. */

const of = (lane: string, seq: number, attempts = 0): StoredDelivery => ({
  ...{ seq, type: 'task_created', entity: lane, lane, attempts, firstAt: attempts > 0 ? 1 : null },
})
const attempt = (more: Partial<Attempt> = {}): Attempt => ({
  ...{ isDelivered: true, httpStatus: 200, durationMs: 1, answer: null, error: null, isGone: false },
  ...{ holdMs: null, at: 1_000, ...more },
})
const failure = (more: Partial<Attempt> = {}) => attempt({ isDelivered: false, httpStatus: 500, ...more })

const turnOf = (due: StoredDelivery[], fresh: StoredDelivery[], closed: string[] = []) =>
  new Turn(due, fresh, new Set(closed), () => 0)

/** Sends all that can be sent, one after the other. Returns the numbers in their order. */
function sendAll(turn: Turn, how: (job: Job) => Attempt | null = () => attempt()): number[] {
  const sent: number[] = []
  for (let job = turn.next(); job; job = turn.next()) {
    sent.push(job.seq)
    turn.ended(job, how(job))
  }
  return sent
}
const states = (turn: Turn, upTo: number) =>
  Object.fromEntries(turn.result(upTo).rows.map(({ seq, state }) => [seq, state]))

describe('a turn', () => {
  test('sends in the order of the log, and of one thing only one at a time', () => {
    const turn = turnOf([], [of('a', 1), of('b', 2), of('a', 3)])
    const [first, second] = [turn.next()!, turn.next()!]
    expect([first.seq, second.seq]).toEqual([1, 2])
    expect(turn.next()).toBeNull()
    turn.ended(first, attempt())
    expect(turn.next()!.seq).toBe(3)
  })

  test('stops a lane at its first failure, and no other; what is behind it waits', () => {
    const turn = turnOf([], [of('a', 1), of('b', 2), of('a', 3), of('b', 4)])
    expect(sendAll(turn, ({ lane }) => (lane === 'a' ? failure() : attempt()))).toEqual([1, 2, 4])
    expect(states(turn, 9)).toEqual({ 1: 'retrying', 2: 'delivered', 3: 'waiting', 4: 'delivered' })
    expect(turn.result(9).seq).toBe(9)
  })

  test('sends nothing of a lane of which something waits elsewhere', () => {
    const turn = turnOf([], [of('a', 5), of('b', 6)], ['a'])
    expect(sendAll(turn)).toEqual([6])
    expect(states(turn, 6)).toEqual({ 5: 'waiting', 6: 'delivered' })
  })

  test('sends what failed before first, then what waited behind it, then what is new', () => {
    const turn = turnOf([of('a', 1, 1), of('a', 2)], [of('a', 7), of('b', 8)])
    expect(sendAll(turn)).toEqual([1, 2, 7, 8])
  })

  test('gives up after the last attempt, and the lane goes on', () => {
    const turn = turnOf([of('a', 1, MOST_ATTEMPTS - 1)], [of('a', 2)])
    expect(sendAll(turn, ({ seq }) => (seq === 1 ? failure() : attempt()))).toEqual([1, 2])
    expect(states(turn, 2)).toEqual({ 1: 'failed', 2: 'delivered' })
  })

  test('leaves what it did not come to in the log, but for gaps, which are rows that are due', () => {
    const turn = turnOf([], [of('a', 1), of('a', 2), of('b', 3), of('c', 4)])
    const [first, second] = [turn.next()!, turn.next()!]
    turn.ended(second, attempt())
    turn.ended(first, attempt())
    // 2 is before what was sent, 4 behind it.
    expect(turn.result(9)).toMatchObject({ seq: 3, lanes: ['b', 'a'] })
    expect(states(turn, 9)).toEqual({ 1: 'delivered', 2: 'waiting', 3: 'delivered' })
  })

  test('of one thing leaves the rest in the log', () => {
    const turn = turnOf([], [of('a', 1), of('a', 2), of('a', 3)])
    turn.ended(turn.next()!, attempt())
    expect(turn.result(3)).toMatchObject({ seq: 1 })
    expect(states(turn, 3)).toEqual({ 1: 'delivered' })
  })

  test('sends again what was stopped before it was known how it ended', () => {
    const turn = turnOf([], [of('a', 1), of('b', 2)])
    const [first, second] = [turn.next()!, turn.next()!]
    turn.stopped(first)
    turn.ended(second, attempt())
    expect(turn.result(2).seq).toBe(2)
    expect(states(turn, 2)).toEqual({ 1: 'waiting', 2: 'delivered' })
  })

  test('ends when five things in a row failed: the others stay in the log', () => {
    const fresh = Array.from({ length: 20 }, (_, place) => of(`lane ${place}`, place + 1))
    const turn = turnOf([], fresh)
    expect(sendAll(turn, () => failure())).toEqual([1, 2, 3, 4, 5])
    expect(turn.isHeld).toBe(true)
    expect(turn.result(20)).toMatchObject({ seq: 5, failed: 5, delivered: 0 })
  })

  test('does not end when now and then one fails', () => {
    const fresh = Array.from({ length: 20 }, (_, place) => of(`lane ${place}`, place + 1))
    const turn = turnOf([], fresh)
    expect(sendAll(turn, ({ seq }) => (seq % 5 === 0 ? attempt() : failure()))).toHaveLength(20)
    expect(turn.isHeld).toBe(false)
  })

  test('ends at once when the receiver asks to wait, or is gone', () => {
    const busy = turnOf([], [of('a', 1), of('b', 2)])
    expect(sendAll(busy, () => failure({ httpStatus: 429, holdMs: 7_000 }))).toEqual([1])
    expect(busy).toMatchObject({ isHeld: true, isGone: false, holdMs: 7_000 })
    const gone = turnOf([], [of('a', 1), of('b', 2)])
    expect(sendAll(gone, () => failure({ httpStatus: 410, isGone: true }))).toEqual([1])
    expect(gone).toMatchObject({ isHeld: true, isGone: true })
    expect(states(gone, 2)).toEqual({ 1: 'retrying' })
  })

  test('writes nothing about events for which the format has no word', () => {
    const turn = turnOf([], [of('a', 1), of('a', 2)])
    expect(sendAll(turn, ({ seq }) => (seq === 1 ? null : attempt()))).toEqual([1, 2])
    expect(states(turn, 2)).toEqual({ 2: 'delivered' })
  })

  test('deletes rows for which the format, which was changed, has no word, and their lane goes on', () => {
    const turn = turnOf([of('a', 1, 1), of('a', 2)], [])
    expect(sendAll(turn, ({ seq }) => (seq === 1 ? null : attempt()))).toEqual([1, 2])
    expect(turn.result(2)).toMatchObject({ dropped: [1], lanes: ['a'] })
  })
})
