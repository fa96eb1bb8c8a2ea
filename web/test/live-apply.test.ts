import { describe, expect, test } from 'vitest'
import { apply } from '../src/live/apply.ts'
import type { Card, LiveEvent } from '../src/live/card.ts'
import { Entities } from '../src/live/entities.ts'
import { World } from '../src/live/world.ts'
import { ManualClock } from './support/manual-clock.ts'

/** What one event does to the card of its task, and to its run. */

const TASK = 'a task'
const card = { id: TASK, state: 'running', version: 3, generation: 1, awaits: null } as unknown as Card

const event = (change: Partial<LiveEvent>) =>
  ({
    ...{ seq: 2, taskId: TASK, runId: null, version: 4, from: null, to: null, payload: {} },
    ...{ at: '2026-01-01T00:00:00.000Z', ...change },
  }) as LiveEvent

function applied(change: Partial<LiveEvent>, before = card) {
  const entities = new Entities()
  entities.put('card', TASK, before, 1)
  return apply(entities, event(change))
}

describe('an event of a task', () => {
  test('that changes its state moves its card', () => {
    const { after, mustBeRead } = applied({ type: 'task_completed', from: 'running', to: 'completed' })
    expect(after).toMatchObject({ state: 'completed', version: 4 })
    // What it came to, and how long it took, is not in the event.
    expect(mustBeRead).toBe(true)
  })

  test('that begins another attempt drops the progress of the last one', () => {
    const before = {
      ...card,
      state: 'queued',
      agent: null,
      percent: 60,
      step: 'half',
      lastAgent: 'alpha',
      notTaken: {},
    }
    const { after, mustBeRead } = applied(
      { type: 'task_assigned', from: 'queued', to: 'assigned', payload: { agent: 'beta', leaseMs: 1 } },
      before as unknown as Card,
    )
    expect(after).toMatchObject({ percent: null, step: null, lastAgent: 'beta', notTaken: null })
    expect(mustBeRead).toBe(false)
  })

  test.each(['task_updated', 'alert_cleared', 'task_teleported'])(
    'that no rule speaks of has its card read: %s',
    (type) => {
      const { after, mustBeRead } = applied({ type: type as LiveEvent['type'] })
      expect(after).toEqual({ ...card, version: 4 })
      expect(mustBeRead).toBe(true)
    },
  )

  test('that leads to a state in an unknown way has its card read, and does not move it', () => {
    const { after, mustBeRead } = applied({
      type: 'task_teleported' as LiveEvent['type'],
      to: 'elsewhere' as LiveEvent['to'],
    })
    expect(after!.state).toBe('running')
    expect(mustBeRead).toBe(true)
  })

  test.each(['task_logged', 'stall_detected', 'alert_raised'] as const)(
    'that changes nothing on its card leaves it unread: %s',
    (type) => {
      const { after, mustBeRead } = applied({ type })
      expect(after).toEqual({ ...card, version: 4 })
      expect(mustBeRead).toBe(false)
    },
  )

  test('that its card contains changes nothing', () => {
    const { after, isKnown, mustBeRead } = applied({ seq: 1, type: 'task_updated' })
    expect([after, isKnown, mustBeRead]).toEqual([card, true, false])
  })
})

test('a run is known from the moment it is queued, and follows its events', () => {
  const entities = new Entities()
  const happens = (seq: number, type: LiveEvent['type'], payload: object) =>
    apply(
      entities,
      event({ seq, type, taskId: null, runId: 'a run', payload: { agent: 'dev-1', ...payload } }),
    )
  happens(1, 'run_queued', { taskId: TASK })
  expect(entities.get('run', 'a run')).toMatchObject({ status: 'queued', agent: 'dev-1', taskId: TASK })
  happens(2, 'run_started', { attempt: 1, generation: 2 })
  happens(3, 'run_cancel_requested', { reason: 'enough' })
  expect(entities.get('run', 'a run')).toMatchObject({ status: 'running', attempt: 1, isStopping: true })
  happens(4, 'run_finished', { status: 'cancelled', errorCode: null })
  expect(entities.get('run', 'a run')).toMatchObject({ status: 'cancelled' })
})

test('the end of a run has the card of its task read, which says what its work lacks', async () => {
  const asked: string[][] = []
  const clock = new ManualClock()
  const world = new World(
    {
      readBoard: () => Promise.reject(new Error('no board is open')),
      readCards: async (ids) => {
        asked.push([...ids])
        return { items: [], seq: 3 }
      },
    },
    clock,
    () => undefined,
  )
  world.entities.put('card', TASK, card, 1)
  world.entities.subscribe('card', TASK, () => undefined)
  world.take(event({ type: 'run_finished', taskId: null, runId: 'a run', payload: { taskId: TASK } }))
  await clock.pass(1_000)
  expect(asked).toEqual([[TASK]])
})

/** A page that shows this card, and what it asks the server for. */
function shown(before: Card) {
  const asked: string[][] = []
  const clock = new ManualClock()
  const world = new World(
    {
      readBoard: () => Promise.reject(new Error('no board is open')),
      readCards: async (ids) => {
        asked.push([...ids])
        return { items: [], seq: 3 }
      },
    },
    clock,
    () => undefined,
  )
  world.entities.put('card', TASK, before, 1)
  world.entities.subscribe('card', TASK, () => undefined)
  return { asked, clock, world }
}

test.each(['agent_paused', 'agent_faulted', 'agent_resumed', 'worker_lost'] as const)(
  'a queued card on the screen is read again when another may take it, or nobody: %s',
  async (type) => {
    const { asked, clock, world } = shown({ ...card, state: 'queued' })
    world.take(event({ type, taskId: null, version: null, payload: { agent: 'dev-1' } }))
    await clock.pass(1_000)
    expect(asked).toEqual([[TASK]])
  },
)

test('a card that waits for nobody is left alone by what happens to agents', async () => {
  const { asked, clock, world } = shown(card)
  world.take(event({ type: 'agent_paused', taskId: null, version: null, payload: { agent: 'dev-1' } }))
  await clock.pass(1_000)
  expect(asked).toEqual([])
})
