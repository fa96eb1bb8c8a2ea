import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AssignableTask,
  type Candidate,
  offersFor,
  type WaitingKind,
} from '../../../src/kinds/agent/rules/assignment.ts'
import { rounds } from '../../support/rounds.ts'

/** Which agents are offered work, and in which order. */

const candidate = (slug: string, more: Partial<Candidate> = {}): Candidate => ({
  slug,
  capabilities: [],
  held: 0,
  capacity: 1,
  isDegraded: false,
  takes: 'work',
  ...more,
})
const waiting = (
  kinds: readonly (readonly [waiting: number, ...capabilities: string[]])[],
  reserved: Record<string, number> = {},
): AssignableTask => ({
  kinds: kinds.map(([count, ...capabilities]) => ({ waiting: count, capabilities, isWork: true })),
  reserved: new Map(Object.entries(reserved)),
})
const MOST = 1_000
/** Agents without a limit get no more than this. */
const ENOUGH = 10

describe('work is offered', () => {
  test('to no agent when nothing waits, when none is free, and when none is able', () => {
    expect(offersFor([candidate('a')], waiting([]), MOST)).toEqual([])
    expect(offersFor([candidate('a')], waiting([[0]]), MOST)).toEqual([])
    expect(offersFor([], waiting([[5]]), MOST)).toEqual([])
    expect(offersFor([candidate('a', { held: 1 })], waiting([[5]]), MOST)).toEqual([])
    expect(offersFor([candidate('a', { held: 9 })], waiting([[5]]), MOST), 'overfull').toEqual([])
    expect(offersFor([candidate('a', { capabilities: ['go'] })], waiting([[5, 'rust']]), MOST)).toEqual([])
    expect(
      offersFor([candidate('a', { capabilities: ['rust'] })], waiting([[5, 'go', 'rust']]), MOST),
    ).toEqual([])
    expect(offersFor([candidate('a')], waiting([[5]]), 0)).toEqual([])
    expect(offersFor([candidate('a')], waiting([], { b: 3 }), MOST), 'reserved for another').toEqual([])
  })

  test('to the least loaded agent, by the share of its limit', () => {
    const [a, b] = [candidate('a', { held: 1, capacity: 2 }), candidate('b', { held: 1, capacity: 4 })]
    expect(offersFor([a, b], waiting([[1]]), MOST)).toEqual(['b'])
    expect(offersFor([a, b], waiting([[2]]), MOST), 'equal from then on, so by name').toEqual(['b', 'a'])
    expect(offersFor([a, b], waiting([[9]]), MOST)).toEqual(['b', 'a', 'b', 'b'])
  })

  test('among equals to the agent with fewer capabilities', () => {
    const able = candidate('a', { capabilities: ['go', 'rust'] })
    const plain = candidate('z')
    expect(offersFor([able, plain], waiting([[1]]), MOST)).toEqual(['z'])
    expect(offersFor([able, plain], waiting([[1], [1, 'rust']]), MOST)).toEqual(['z', 'a'])
    expect(offersFor([able, plain], waiting([[1, 'rust'], [1]]), MOST)).toEqual(['z', 'a'])
  })

  test('to degraded agents when the healthy ones are full', () => {
    const healthy = candidate('z', { held: 1, capacity: 3 })
    const degraded = candidate('a', { capacity: 3, isDegraded: true })
    expect(offersFor([degraded, healthy], waiting([[4]]), MOST)).toEqual(['z', 'z', 'a', 'a'])
  })

  test('to agents without a limit up to a fixed number', () => {
    const free = candidate('a', { capacity: null, held: 7 })
    expect(offersFor([free], waiting([[99]]), MOST)).toEqual(['a', 'a', 'a'])
    expect(offersFor([{ ...free, held: 10 }], waiting([[99]]), MOST)).toEqual([])
  })

  test('that is reserved for an agent to that one alone, besides unreserved work', () => {
    const roomy = [candidate('a', { capacity: 9 }), candidate('b', { capacity: 9 })]
    expect(offersFor(roomy, waiting([[1]], { b: 2 }), MOST).toSorted()).toEqual(['a', 'b', 'b'])
    expect(offersFor(roomy, waiting([], { b: 99 }), MOST)).toEqual(Array(9).fill('b'))
  })

  test('to a thousand agents for a thousand kinds of work quickly', () => {
    const agents = Array.from({ length: 1_000 }, (_, i) =>
      candidate(`a-${i}`, { capabilities: [`c-${i}`, 'x'] }),
    )
    const kinds = Array.from({ length: 1_000 }, (_, i) => [1, `c-${i}`, 'x'] as const)
    expect(new Set(offersFor(agents, waiting(kinds), MOST)).size).toBe(1_000)
  })
})

describe('for any agents and any waiting work', () => {
  const capabilities = fc.subarray(['go', 'rust', 'sql'])
  const candidates = fc.uniqueArray(
    fc.record({
      slug: fc.constantFrom<string>('a', 'b', 'c', 'd', 'e'),
      capabilities,
      held: fc.nat(4),
      capacity: fc.constantFrom(null, 1, 2, 3, 7),
      isDegraded: fc.boolean(),
      takes: fc.constantFrom('all' as const, 'work' as const),
      isReservedOnly: fc.boolean(),
    }),
    { selector: ({ slug }) => slug },
  )
  const kinds = fc.array(fc.record({ capabilities, isWork: fc.boolean(), waiting: fc.nat(6) }), {
    maxLength: 5,
  })
  const reserved = fc
    .dictionary(fc.constantFrom('a', 'b', 'nobody'), fc.nat(4))
    .map((counts) => new Map(Object.entries(counts)))
  const most = fc.constantFrom(0, 1, 3, MOST)

  const roomOf = ({ capacity, held }: Candidate) => Math.max(0, (capacity ?? ENOUGH) - held)
  const loadOf = ({ capacity, isDegraded }: Candidate, held: number) =>
    held / (capacity ?? ENOUGH) + (isDegraded ? 1 : 0)
  const canDo = ({ capabilities: own, takes, isReservedOnly }: Candidate, kind: WaitingKind) =>
    !isReservedOnly && (takes === 'all' || kind.isWork) && kind.capabilities.every((one) => own.includes(one))
  const times = (offers: readonly string[], slug: string) => offers.filter((one) => one === slug).length
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)

  test('no agent is named more often than it has room, than work waits for it, or than is requested', () => {
    fc.assert(
      fc.property(candidates, kinds, reserved, most, (agents, waits, kept, limit) => {
        const offers = offersFor(agents, { kinds: waits, reserved: kept }, limit)
        expect(offers.length).toBeLessThanOrEqual(limit)
        const ownWork = sum(agents.map(({ slug }) => kept.get(slug) ?? 0))
        expect(offers.length).toBeLessThanOrEqual(sum(waits.map((kind) => kind.waiting)) + ownWork)
        for (const slug of offers) expect(agents.some((one) => one.slug === slug)).toBe(true)
        for (const agent of agents) {
          expect(times(offers, agent.slug)).toBeLessThanOrEqual(roomOf(agent))
          const fitting = waits.filter((kind) => canDo(agent, kind)).map((kind) => kind.waiting)
          expect(times(offers, agent.slug)).toBeLessThanOrEqual(sum(fitting) + (kept.get(agent.slug) ?? 0))
        }
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })

  test('the answer is the same in any input order, and no input is changed', () => {
    fc.assert(
      fc.property(candidates, kinds, reserved, most, (agents, waits, kept, limit) => {
        const context = { kinds: waits, reserved: kept }
        const before = structuredClone({ agents, waits, kept })
        const offers = offersFor(agents, context, limit)
        expect(offersFor(agents.toReversed(), context, limit)).toEqual(offers)
        expect({ agents, waits, kept }).toEqual(before)
        expect(offers.slice(0, 2), 'less of it is the beginning of it').toEqual(
          offersFor(agents, context, Math.min(limit, 2)),
        )
      }),
      { numRuns: rounds(200, 1_000) },
    )
  })

  test('work that all can do goes to the least loaded agent each time, until it or the room is used up', () => {
    fc.assert(
      fc.property(candidates, fc.nat(20), most, (all, count, limit) => {
        const agents = all.filter(({ isReservedOnly }) => !isReservedOnly)
        const offers = offersFor(all, waiting([[count]]), limit)
        expect(offers.length).toBe(Math.min(count, limit, sum(agents.map(roomOf))))
        const held = new Map(agents.map((agent) => [agent.slug, agent.held]))
        const load = (agent: Candidate) => loadOf(agent, held.get(agent.slug)!)
        for (const slug of offers) {
          const free = agents.filter((agent) => held.get(agent.slug)! < (agent.capacity ?? ENOUGH))
          const chosen = free.find((agent) => agent.slug === slug)!
          const least = Math.min(...free.map(load))
          expect(load(chosen)).toBe(least)
          const equals = free.filter((agent) => load(agent) === least)
          const fewest = Math.min(...equals.map((agent) => agent.capabilities.length))
          expect(chosen.capabilities.length).toBe(fewest)
          held.set(slug, held.get(slug)! + 1)
        }
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })

  test('an agent is named whenever one is free that can do something that waits', () => {
    fc.assert(
      fc.property(candidates, kinds, reserved, (agents, waits, kept) => {
        const possible = agents.filter(
          (agent) =>
            roomOf(agent) > 0 &&
            ((kept.get(agent.slug) ?? 0) > 0 || waits.some((kind) => kind.waiting > 0 && canDo(agent, kind))),
        )
        const offers = offersFor(agents, { kinds: waits, reserved: kept }, MOST)
        expect(offers.length > 0).toBe(possible.length > 0)
        for (const agent of agents)
          expect(times(offers, agent.slug), 'all that is reserved for it').toBeGreaterThanOrEqual(
            Math.min(roomOf(agent), kept.get(agent.slug) ?? 0),
          )
      }),
      { numRuns: rounds(200, 1_000) },
    )
  })
})
