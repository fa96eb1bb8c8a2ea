import { describe, expect, test } from 'vitest'
import { EVENTS, eventTypes } from '../../src/kinds/catalogue.ts'
import { ENTITY_TYPES, entityOf, entityTypeOf, typesAbout } from '../../src/kinds/event-entities.ts'
import { isIn, typesNamed } from '../../src/kinds/event-filter.ts'
import type { EventType } from '../../src/kinds/events.ts'
import { actorIn } from '../../src/pure/actors.ts'

/** What an event is about, who caused it, and whether a reader asked for it. */

const [TASK, MISSION] = ['0192-task', '0192-mission']
const event = (type: EventType, more: object = {}) => ({
  type,
  taskId: null,
  missionId: null,
  actor: 'system',
  payload: {},
  ...more,
})

describe('what an event is about', () => {
  test('is in its payload, under the same name for all types of its kind', () => {
    const named = { run: 'runId', wakeup: 'wakeupId', agent: 'agent', session: 'session', key: 'keyId' }
    for (const [entity, field] of Object.entries(named))
      for (const type of eventTypes.filter((one) => entityTypeOf(one) === entity)) {
        expect(Object.keys(EVENTS[type].shape), type).toContain(field)
        expect(entityOf(event(type, { payload: { [field]: 'x' } }))).toEqual({ type: entity, id: 'x' })
      }
  })

  test('is its task, its mission or the workspace where its type does not say', () => {
    const raised = (more: object) => entityOf(event('alert_raised', more))
    expect(raised({ taskId: TASK, missionId: MISSION })).toEqual({ type: 'task', id: TASK })
    expect(raised({ missionId: MISSION })).toEqual({ type: 'mission', id: MISSION })
    expect(raised({})).toEqual({ type: 'workspace', id: null })
    expect(entityOf(event('mission_paused', { missionId: MISSION }))).toEqual({
      type: 'mission',
      id: MISSION,
    })
    expect(entityOf(event('limits_changed'))).toEqual({ type: 'workspace', id: null })
  })

  test('is of one kind for every type: each has its place', () => {
    const always = ENTITY_TYPES.flatMap((entity) => typesAbout(entity).always)
    expect(new Set(always).size).toBe(always.length)
    expect([...always, ...typesAbout('task').perhaps].sort()).toEqual([...eventTypes].sort())
    expect(typesAbout('run').perhaps).toEqual([])
  })
})

test('an actor is shown by kind, id and name', () => {
  expect(actorIn('agent:dev-1', null)).toEqual({ kind: 'agent', id: 'dev-1', name: 'dev-1' })
  expect(actorIn('agent:a:b', null)).toMatchObject({ id: 'a:b' })
  expect(actorIn('key:0192', 'ci')).toEqual({ kind: 'key', id: '0192', name: 'ci' })
  expect(actorIn('system', null)).toEqual({ kind: 'system', id: null, name: null })
  expect(actorIn('coordinator', null)).toMatchObject({ kind: 'coordinator' })
  expect(actorIn('queue', null)).toMatchObject({ kind: 'other' })
})

test('a pattern matches all types that begin with it, and an unknown one is reported', () => {
  const { types, unknown } = typesNamed(['mission_*', 'task_failed', 'task_fail', 'x_*'])
  expect(unknown).toEqual(['task_fail', 'x_*'])
  expect([...types].filter((type) => !type.startsWith('mission_'))).toEqual(['task_failed'])
  expect(types.size).toBe(eventTypes.filter((type) => type.startsWith('mission_')).length + 1)
  expect(typesNamed(['*']).types.size).toBe(eventTypes.length)
})

describe('a filter', () => {
  const started = event('task_started', {
    taskId: TASK,
    missionId: MISSION,
    actor: 'agent:alpha',
    payload: { agent: 'alpha' },
  })

  test('lets through what has all that it asks for', () => {
    const task = { id: 1, uuid: TASK }
    const mission = { id: 2, uuid: MISSION }
    expect(isIn({ task, mission, agent: 'alpha', types: new Set(['task_started']) }, started)).toBe(true)
    expect(isIn({ task: { ...task, uuid: 'another' } }, started)).toBe(false)
    expect(isIn({ mission: { ...mission, uuid: 'another' } }, started)).toBe(false)
    expect(isIn({ task, types: new Set(['task_failed']) }, started)).toBe(false)
    expect(isIn({ task, agent: 'beta' }, started)).toBe(false)
  })

  test('finds an agent by what it did, and by what was done to it', () => {
    expect(isIn({ agent: 'alpha' }, { ...started, payload: {} })).toBe(true)
    expect(isIn({ agent: 'alpha' }, { ...started, actor: 'system' })).toBe(true)
    expect(isIn({ agent: 'alph' }, started)).toBe(false)
  })

  test('by entity takes all of its kind, or one of them', () => {
    const about = (type: 'task' | 'run', id: string | null) =>
      isIn({ entity: { type, id, number: 1 } }, started)
    expect([about('task', null), about('task', TASK)]).toEqual([true, true])
    expect([about('run', null), about('task', 'another')]).toEqual([false, false])
  })
})
