import { describe, expect, test } from 'vitest'
import { comparePlans } from '../../src/kinds/mission/plan/compare.ts'
import { MISSION_STATES, type MissionState } from '../../src/kinds/mission/states.ts'
import type { LiveEvent } from '../src/live/card.ts'
import { layersOfTasks, type TaskNode } from '../src/pages/mission/task-rows.ts'
import { endedBy } from '../src/pages/mission/use-mission.ts'
import { columnsOf, missionColumnLabel, waitsForPeople } from '../src/pages/missions/columns.ts'
import type { ListedMission } from '../src/things/mission/progress.tsx'
import { changesByTask, titlesIn } from '../src/things/mission/written-plan.ts'

/** What the page of a mission says and sends, without a page. */

test('a mission is shown as ended by the event that ends it, before it is read again', () => {
  const mission = { id: 'm', state: 'running', stateType: 'running' } as const
  const event = (to: string, missionId = 'm', entityType = 'mission') =>
    ({ entityType, missionId, to }) as LiveEvent
  expect(endedBy(mission, event('completed'))).toMatchObject({ state: 'completed', stateType: 'terminal' })
  expect(endedBy(mission, event('failed'))).toMatchObject({ state: 'failed', stateType: 'terminal' })
  const others = [
    event('completed', 'another'),
    event('completed', 'm', 'task'),
    event('paused'),
    event('running'),
  ]
  for (const other of others) expect(endedBy(mission, other)).toBe(mission)
})

test('what changed between two versions is shown at each task', () => {
  const task = (tempId: string, rest: object = {}) =>
    ({ tempId, title: tempId, dependsOn: [], model: null, ...rest }) as never
  const plan = (...tasks: never[]) => ({ title: null, project: null, strategy: null, tasks })
  const before = plan(task('a', { model: 'haiku' }), task('b', { dependsOn: [{ on: 'a', kind: 'data' }] }))
  const after = plan(
    task('a', { model: 'opus' }),
    task('b'),
    task('c', { dependsOn: [{ on: 'a', kind: 'data' }] }),
  )
  expect([...changesByTask(comparePlans(before, after))]).toEqual([
    ['c', { kind: 'added', words: [] }],
    ['a', { kind: 'changed', words: ['model: haiku → opus'] }],
    ['b', { kind: 'changed', words: ['no longer after “a”'] }],
  ])
  expect([...changesByTask(null)]).toEqual([])
})

test('a task that waited for many names three of them by their titles, and what a removed task waited for is no news', () => {
  const task = (tempId: string, title: string, waitsFor: readonly string[] = []) => ({
    ...{ tempId, title, dependsOn: waitsFor.map((on) => ({ on, kind: 'data' })) },
  })
  const parts = Array.from({ length: 399 }, (_, n) => task(`t${n}`, `Part ${n}`))
  const all = parts.map(({ tempId }) => tempId)
  const plan = (...tasks: object[]) => ({ title: null, project: null, strategy: null, tasks }) as never
  const before = plan(...parts, task('join', 'Join all', all), task('check', 'Check all', all))
  const after = plan(parts[0]!, task('join', 'Join all', ['t0']))
  const marks = changesByTask(comparePlans(before, after), titlesIn(before, after))
  expect([...marks]).toEqual([
    ['join', { kind: 'changed', words: ['no longer after “Part 1”, “Part 2”, “Part 3” and 395 more'] }],
  ])
})

test('tasks are listed by layers in the order of the plan, what was added last, and no more than there is room for', () => {
  const node = (id: string, layer: number, number: number | null) => ({ id, layer, number }) as TaskNode
  const nodes = [node('d', 1, null), node('c', 1, 4), node('b', 0, 2), node('a', 0, 1)]
  const ids = (most: number) =>
    layersOfTasks(nodes, most).map(({ layer, tasks }) => [layer, tasks.map(({ id }) => id).join('')])
  expect(ids(9)).toEqual([
    [0, 'ab'],
    [1, 'cd'],
  ])
  expect(ids(3)).toEqual([
    [0, 'ab'],
    [1, 'c'],
  ])
})

describe('on the board of missions', () => {
  const mission = (state: MissionState, rest: Partial<ListedMission> = {}) =>
    ({
      ...{ id: state, state, stateType: MISSION_STATES[state].type, closedBy: [], proposedVersion: null },
      ...{ config: {}, tasksByState: {}, completedAt: null, ...rest },
    }) as unknown as ListedMission

  test('each is in the column of what its state means, and states that are not its name are counted apart', () => {
    const states = Object.keys(MISSION_STATES) as MissionState[]
    const columns = columnsOf(states.map((state) => mission(state)))
    expect(columns.map(({ missions }) => missions.map(({ id }) => id))).toEqual([
      ['pending', 'planning', 'awaiting_approval'],
      ['running'],
      ['paused', 'budget_exceeded'],
      ['completed', 'failed', 'cancelled'],
    ])
    expect(columns.map(missionColumnLabel)).toEqual([
      'Planning, 2, 1 to approve',
      'Running, 1',
      'Paused, 1, 1 out of budget',
      'Done, 1, 1 failed, 1 cancelled',
    ])
  })

  test('those that have ended are listed by their end, the last one first', () => {
    const ended = [1, 3, 2].map((day) => mission('failed', { id: `${day}`, completedAt: `2026-01-0${day}` }))
    expect(columnsOf(ended)[3]!.missions.map(({ id }) => id)).toEqual(['3', '2', '1'])
  })

  test('a card says what waits for people: plans, also of paused missions, outcomes, budgets and tasks', () => {
    const config = (isPlanning: boolean) =>
      ({ outcome: { state: 'ready', missing: null, isPlanning } }) as ListedMission['config']
    const waits = (state: MissionState, rest: Partial<ListedMission>) => waitsForPeople(mission(state, rest))
    expect(waits('awaiting_approval', { closedBy: ['unapproved'] })).toBe('Plan to approve')
    expect(waits('paused', { closedBy: ['unapproved', 'paused'] })).toBe('Plan to approve')
    expect(waits('running', { config: config(false) })).toBe('Outcome to accept')
    expect(waits('running', { config: config(true) })).toBeNull()
    expect(waits('running', { config: config(false), proposedVersion: 2 })).toBe('Plan to approve')
    expect(waits('running', { tasksByState: { awaiting_human: 1 } })).toBe('1 task needs you')
    expect(
      waits('budget_exceeded', {
        closedBy: ['budget'],
        tasksByState: { awaiting_human: 1, budget_exceeded: 1 },
      }),
    ).toBe('Budget spent · 2 tasks need you')
    expect(waits('cancelled', { tasksByState: { awaiting_human: 1 } })).toBeNull()
    expect(waits('running', {})).toBeNull()
  })
})
