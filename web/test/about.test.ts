import { describe, expect, test } from 'vitest'
import { eventTypes } from '../../src/kinds/catalogue.ts'
import { entityOf } from '../../src/kinds/event-entities.ts'
import type { EventType } from '../../src/kinds/events.ts'
import { about, type Follows } from '../src/live/about.ts'
import type { LiveEvent } from '../src/live/card.ts'

/** What pages read again, by what events are about. */

const OF_TASK = { taskId: 't', missionId: 'm', payload: {} }

const event = (type: string, more: Partial<LiveEvent> = {}) => {
  const shown = {
    ...{
      type: type as EventType,
      taskId: null,
      missionId: null,
      runId: null,
      from: null,
      to: null,
      payload: {},
    },
    ...{ by: { kind: 'system', id: null, name: null } },
    ...more,
  }
  const { type: entityType, id: entityId } = entityOf(shown)
  // A server that knows more types than the page says what they are about.
  return { entityType, entityId, ...shown } as LiveEvent
}

const notFollowed = (follows: Follows, more: Partial<LiveEvent>) =>
  eventTypes.filter((type) => !follows(event(type, more)))

const COMPLETE = ['claim_renewed', 'claim_usage', 'run_status', 'run_usage', 'task_logged', 'task_progress']

describe('a page follows', () => {
  test('every type of event of its task or mission, but those that contain all they change', () => {
    expect(notFollowed(about.task('t'), OF_TASK).sort()).toEqual(COMPLETE)
    expect(notFollowed(about.mission('m'), OF_TASK).sort()).toEqual(COMPLETE)
    expect(notFollowed(about.missions, OF_TASK).sort()).toEqual(COMPLETE)
    expect(notFollowed(about.anything, {}).sort()).toEqual(COMPLETE)
  })

  test('a type of event that it has never heard of', () => {
    expect(about.task('t')(event('task_landed', { ...OF_TASK, entityType: 'task' }))).toBe(true)
    expect(
      about.runsOfAgent('dev-1')(event('run_billed', { entityType: 'run', payload: { agent: 'dev-1' } })),
    ).toBe(true)
    expect(about.missionItself('m')(event('mission_sealed', { entityType: 'mission', missionId: 'm' }))).toBe(
      true,
    )
    expect(about.inbox(event('inbox_moved'))).toBe(true)
  })

  test('nothing of other tasks, missions, runs and agents', () => {
    const others = { taskId: 'u', missionId: 'n', runId: 's', payload: { agent: 'dev-2', taskId: 'u' } }
    const ours = ['task', 'mission', 'missionItself', 'missionGraph', 'runsOfTask', 'inboxOfMission'] as const
    for (const name of ours) expect(notFollowed(about[name]('t'), others), name).toEqual(eventTypes)
    for (const name of ['run', 'runTimeline'] as const)
      expect(notFollowed(about[name]('r'), others), name).toEqual(eventTypes)
    for (const name of ['agent', 'runsOfAgent', 'wakeupsOfAgent'] as const)
      expect(notFollowed(about[name]('dev-1'), others), name).toEqual(eventTypes)
  })
})

test('a checkpoint is read with its task', () => {
  const progress = event('task_progress', { ...OF_TASK, payload: { checkpoint: true } })
  expect(about.task('t')(progress)).toBe(true)
})

test('a task that only moves has neither the graph of its mission nor its plan read again', () => {
  const move = event('task_completed', { ...OF_TASK, from: 'running', to: 'completed' })
  expect([about.missionGraph('m')(move), about.missionItself('m')(move)]).toEqual([false, false])
  const created = event('task_created', { ...OF_TASK, to: 'pending' })
  expect(about.missionGraph('m')(created)).toBe(true)
  expect(about.missionGraph('m')(event('task_updated', OF_TASK))).toBe(true)
})

test('an account that another agent used up has an agent read again', () => {
  const parked = event('credential_parked', { payload: { agent: 'dev-2', until: 1 } })
  expect(about.agent('dev-1')(parked)).toBe(true)
})

test('what a run says is in its timeline at once, its usage is not', () => {
  const follows = about.runTimeline('r')
  expect(follows(event('run_status', { runId: 'r' }))).toBe(true)
  expect(follows(event('run_usage', { runId: 'r' }))).toBe(false)
})

test('progress of the task that an agent holds has the list of agents read again', () => {
  const by = { kind: 'agent', id: 'dev-1', name: 'dev-1' } as const
  expect(about.agents(event('task_progress', { ...OF_TASK, by }))).toBe(true)
  expect(about.agents(event('task_updated', OF_TASK))).toBe(false)
})

test('a routine is read again when a mission moves, and not when it is removed: there is nothing to read then', () => {
  const ofRoutine = (type: string, id: string) => event(type, { payload: { routineId: id } })
  const follows = about.routine('r')
  expect(follows(ofRoutine('routine_updated', 'r'))).toBe(true)
  expect([ofRoutine('routine_updated', 's'), ofRoutine('routine_removed', 'r')].some(follows)).toBe(false)
  expect(follows(event('mission_completed', { missionId: 'm', from: 'running', to: 'completed' }))).toBe(true)
  expect(about.routines(ofRoutine('routine_removed', 's'))).toBe(true)
})

test('a project and a session are read again when a task moves, whose project no event says', () => {
  const move = event('task_completed', { ...OF_TASK, from: 'running', to: 'completed' })
  const comment = event('task_updated', OF_TASK)
  for (const follows of [about.project('shop'), about.projects, about.sessions, about.session('s-alpha')])
    expect([follows(move), follows(comment)]).toEqual([true, false])
  expect(about.project('shop')(event('track_changed', { payload: { project: 'shop' } }))).toBe(true)
  expect(about.project('shop')(event('track_changed', { payload: { project: 'other' } }))).toBe(false)
  expect(about.deadLetters(move)).toBe(false)
  expect(about.deadLetters(event('task_failed', { ...OF_TASK, from: 'running', to: 'failed' }))).toBe(true)
})

test('lists to choose from are read again when an agent, a project or a mission comes, changes or goes, not when it works', () => {
  const followed = eventTypes.filter((type) =>
    about.names(event(type, { payload: { agent: 'a', project: 'p' } })),
  )
  expect(followed.sort()).toEqual([
    ...['agent_registered', 'agent_removed', 'agent_terminated', 'agent_updated'],
    ...['mission_created', 'mission_updated', 'project_created'],
  ])
})
