import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { closedWords, rowAfter, rowsAfter } from '../src/pages/inbox/rows.ts'
import { afterEvent } from '../src/pages/inbox/use-inbox.ts'
import { reasonText } from '../src/parts/wording.ts'
import { buttonWords, type Decision, headline, type InboxItem, otherWays } from '../src/things/inbox/kinds.ts'
import { layersOf } from '../src/things/mission/layers.tsx'
import { tasksOf } from '../src/things/mission/written-plan.ts'

const item = (id: string, kind: InboxItem['kind'] = 'review') => ({ id, kind }) as InboxItem
const idsOf = (rows: readonly { item: InboxItem }[]) => rows.map((row) => row.item.id)
const COUNTS = {
  ...{ plan: 0, question: 0, review: 2, budget: 0, dead_letter: 0, outcome: 0, agent: 0, alert: 0 },
  finished: 0,
}

describe('rows of the inbox', () => {
  const shown = rowsAfter([], [item('a'), item('b'), item('c')], {})

  test('keep their place when something that blocks more begins to wait', () => {
    expect(idsOf(rowsAfter(shown, [item('new'), item('c'), item('b'), item('a')], {}))).toEqual([
      'a',
      'b',
      'c',
      'new',
    ])
  })

  test('turn grey where they are when they are over, and say who ended them', () => {
    const closed = { by: 'anna', because: 'task_human_approved', at: 1 }
    const rows = rowsAfter(shown, [item('a'), item('c')], { b: closed })
    expect(rows.map((row) => row.closed)).toEqual([null, closed, null])
    expect(closedWords(closed)).toBe('Approved by anna.')
  })

  test('wait again when the same thing waits again', () => {
    const rows = rowsAfter(rowsAfter(shown, [item('a')], {}), [item('a'), item('b')], {})
    expect(rows.map((row) => row.closed === null)).toEqual([true, true, false])
  })

  test('are followed by the next one that waits, and the last by the previous one', () => {
    const rows = rowsAfter(shown, [item('a'), item('c')], {})
    expect([rowAfter(rows, 'a'), rowAfter(rows, 'c'), rowAfter([], 'a')]).toEqual(['c', 'a', null])
  })
})

test('buttons name the agent that is waited for, and what is accepted', () => {
  const about = { taskId: 't', missionId: null, runId: null, agent: null, budgetId: null }
  const waiting = { ...item('a'), title: 'Login', about, waitsFor: 'rev-1' }
  expect(buttonWords('resume', waiting)).toBe('Resume rev-1 and verify')
  expect(buttonWords('verify', waiting)).toBe('Let another agent verify')
  expect(buttonWords('verify', { ...waiting, waitsFor: null })).toBe('Verify again')
  expect(buttonWords('resume', { ...waiting, kind: 'alert' })).toBe('Resume rev-1')
  const outcome: InboxItem = { ...waiting, kind: 'outcome', waitsFor: null }
  expect([headline(outcome), buttonWords('approve', outcome)]).toEqual([
    'Accept the outcome: Login',
    'Accept',
  ])
})

test('an agent that does not come is what the other buttons are about, and the reason says it in words', () => {
  const actions: Decision[] = ['approve', 'reject', 'fail', 'verify', 'resume', 'skip', 'cancel']
  const stuck: InboxItem = { ...item('a'), actions, waitsFor: 'rev-1', reason: 'no_verdict: rev-1 is paused' }
  expect(otherWays(stuck)).toEqual(['verify', 'resume'])
  expect(otherWays({ ...stuck, waitsFor: null, reason: 'score 0.6' })).toEqual([])
  expect(otherWays({ ...stuck, kind: 'alert', actions: ['release', 'resume', 'skip'] })).toEqual(['release'])
  const reasons = ['no_verdict: rev-1 is paused', 'no_verdict', 'rev-1 is paused', null]
  expect(reasons.map((one) => one && reasonText(one))).toEqual([
    'No verdict: rev-1 is paused',
    'No verdict.',
    ...reasons.slice(2),
  ])
})

test('the event that ends an item takes it off the list, and off its count', () => {
  const list = { items: [item('a'), item('b')], counts: COUNTS, nextCursor: null, seq: 1, closed: {} }
  const event = (id: string) =>
    ({
      type: 'inbox_closed',
      payload: { id, because: 'task_approved' },
      by: { name: 'anna' },
      at: '2026-01-01T00:00:00.000Z',
    }) as unknown as LiveEvent
  const after = afterEvent(list, event('a'))
  expect([after.items.map(({ id }) => id), after.counts.review]).toEqual([['b'], 1])
  expect(after.closed.a?.by).toBe('anna')
  expect(afterEvent(list, event('elsewhere'))).toBe(list)
})

describe('a plan', () => {
  test('has what it leaves out', () => {
    expect(tasksOf({ tasks: [{ tempId: 'a', description: 'First.\nMore.' }] })).toMatchObject([
      { title: 'First.', agent: null, dependsOn: [], optional: false },
    ])
  })

  test('has each task in the layer after all that it waits for', () => {
    const tasks = tasksOf({
      tasks: [
        { tempId: 'd', dependsOn: ['b', { on: 'c', kind: 'order' }] },
        { tempId: 'a' },
        { tempId: 'b', dependsOn: ['a'] },
        { tempId: 'c', dependsOn: ['b', 'task:elsewhere'] },
      ],
    })
    expect(layersOf(tasks).map((layer) => layer.map(({ tempId }) => tempId))).toEqual([
      ['a'],
      ['b'],
      ['c'],
      ['d'],
    ])
  })

  test('with a cycle ends, too', () => {
    const tasks = tasksOf({
      tasks: [
        { tempId: 'a', dependsOn: ['b'] },
        { tempId: 'b', dependsOn: ['a'] },
      ],
    })
    expect(layersOf(tasks)).toHaveLength(1)
  })
})
