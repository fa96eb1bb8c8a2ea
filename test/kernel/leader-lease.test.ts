import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decideLeaderLease,
  isTermCurrent,
  type LeaderLeaseCommand,
  type LeaderTerm,
} from '../../src/pure/leader-lease.ts'

const LEASE = 1_000
const by = (
  nodeId: string,
  kind: LeaderLeaseCommand['kind'] = 'take',
  term?: number,
): LeaderLeaseCommand => ({
  kind,
  nodeId,
  term,
  leaseMs: LEASE,
})
/** Term 3 of "a", from 5,000 to 6,000. */
const held: LeaderTerm = {
  term: 3,
  nodeId: 'a',
  takenAt: 5_000,
  renewedAt: 5_000,
  expiresAt: 6_000,
  endedAt: null,
  endReason: null,
}
const resigned: LeaderTerm = { ...held, endedAt: 5_500, endReason: 'RESIGNED' }
const NOTHING = { changed: null, taken: null, holds: null }
const term4 = (nodeId: string, now: number): LeaderTerm => ({
  term: 4,
  nodeId,
  takenAt: now,
  renewedAt: now,
  expiresAt: now + LEASE,
  endedAt: null,
  endReason: null,
})

describe('a leader lease', () => {
  test('that was never held is acquired as term 1', () => {
    const { changed, taken, holds } = decideLeaderLease(null, by('a'), 70)
    expect(changed).toBeNull()
    expect(taken).toMatchObject({ term: 1, nodeId: 'a', takenAt: 70, renewedAt: 70, expiresAt: 1_070 })
    expect(holds).toBe(taken)
  })

  test('that was resigned is free at once, and nothing is written about the old term', () => {
    expect(decideLeaderLease(resigned, by('b'), 5_501)).toEqual({
      changed: null,
      taken: term4('b', 5_501),
      holds: term4('b', 5_501),
    })
  })

  test.each(['take', 'renew', 'resign'] as const)('that another node holds is refused: %s', (kind) => {
    expect(decideLeaderLease(held, by('b', kind), 5_999)).toEqual(NOTHING)
  })

  test('that expired is acquired by another node, and the old term ends as expired', () => {
    expect(decideLeaderLease(held, by('b'), 6_000)).toEqual({
      changed: { ...held, endedAt: 6_000, endReason: 'EXPIRED' },
      taken: term4('b', 6_000),
      holds: term4('b', 6_000),
    })
  })

  test.each(['take', 'renew'] as const)('is renewed by its holder, in the same term: %s', (kind) => {
    const renewed = { ...held, renewedAt: 5_999, expiresAt: 6_999 }
    expect(decideLeaderLease(held, by('a', kind, 3), 5_999)).toEqual({
      changed: renewed,
      taken: null,
      holds: renewed,
    })
  })

  test('is not renewed after its end, not even by its holder', () => {
    expect(decideLeaderLease(held, by('a', 'renew', 3), 6_000)).toEqual(NOTHING)
    expect(decideLeaderLease(resigned, by('a', 'renew', 3), 5_600)).toEqual(NOTHING)
    expect(decideLeaderLease(null, by('a', 'renew'), 1)).toEqual(NOTHING)
  })

  test('is acquired again by its late holder, in a new term', () => {
    expect(decideLeaderLease(held, by('a'), 6_000)).toEqual({
      changed: { ...held, endedAt: 6_000, endReason: 'EXPIRED' },
      taken: term4('a', 6_000),
      holds: term4('a', 6_000),
    })
  })

  test('is not renewed or resigned for a term other than the current one', () => {
    expect(decideLeaderLease(held, by('a', 'renew', 2), 5_100)).toEqual(NOTHING)
    expect(decideLeaderLease(held, by('a', 'resign', 2), 5_100)).toEqual(NOTHING)
  })

  test('is not shortened by a renewal for less time', () => {
    expect(decideLeaderLease(held, { ...by('a', 'renew', 3), leaseMs: 10 }, 5_100).holds).toMatchObject({
      renewedAt: 5_100,
      expiresAt: 6_000,
    })
  })

  test('is over at once when its holder resigns', () => {
    const { changed, taken, holds } = decideLeaderLease(held, by('a', 'resign'), 5_100)
    expect(changed).toEqual({ ...held, endedAt: 5_100, endReason: 'RESIGNED' })
    expect([taken, holds]).toEqual([null, null])
    expect(isTermCurrent(changed!, 5_100)).toBe(false)
  })

  test('that expired before it was resigned ends as expired, and an ended one does not end again', () => {
    expect(decideLeaderLease(held, by('a', 'resign'), 6_000).changed).toMatchObject({ endReason: 'EXPIRED' })
    expect(decideLeaderLease(resigned, by('a', 'resign'), 6_000)).toEqual(NOTHING)
  })
})

test('whatever nodes do, terms only grow, at most one is active, and a node never gets a lost term back', () => {
  const step = fc.record({
    kind: fc.constantFrom<LeaderLeaseCommand['kind']>('take', 'renew', 'resign'),
    nodeId: fc.constantFrom('a', 'b', 'c'),
    waitMs: fc.constantFrom(0, 1, 400, 999, 1_000, 3_000),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const terms: LeaderTerm[] = []
      let now = 0
      for (const { kind, nodeId, waitMs } of steps) {
        now += waitMs
        const before = terms.at(-1) ?? null
        const { changed, taken, holds } = decideLeaderLease(before, by(nodeId, kind), now)
        if (changed) {
          expect([changed.term, changed.nodeId]).toEqual([before!.term, before!.nodeId])
          if (changed.endedAt === null) expect(isTermCurrent(before!, now)).toBe(true)
          terms[terms.length - 1] = changed
        }
        if (taken) {
          expect(before === null || !isTermCurrent(before, now)).toBe(true)
          terms.push(taken)
        }
        expect(terms.map(({ term }) => term)).toEqual(terms.map((_, i) => i + 1))
        expect(terms.filter(({ endedAt }) => endedAt === null).length).toBeLessThanOrEqual(1)
        if (holds) expect([holds, holds.nodeId]).toEqual([terms.at(-1), nodeId])
        else expect(isTermCurrent(terms.at(-1) ?? held, now) && terms.at(-1)?.nodeId === nodeId).toBe(false)
      }
    }),
  )
})
