import { describe, expect, test } from 'vitest'
import type { TaskState } from '../../src/pure/states.ts'
import type { ColumnView } from '../src/live/board-list.ts'
import type { ShownCard } from '../src/live/pending-acts.ts'
import { besideCursor } from '../src/pages/board/cursor.ts'
import { bodyOf, EMPTY_DRAFT, problemsIn } from '../src/pages/board/draft.ts'
import { dropsFor, placeAt } from '../src/pages/board/drops.ts'
import { keptPlace } from '../src/pages/board/keep-place.ts'
import { listed } from '../src/pages/board/listed.ts'
import { boardAt, filterIn } from '../src/pages/board/search.ts'
import { nextSort, sorted, sortIn, sortText } from '../src/pages/board/sorted.ts'
import { attemptWords, reasonOf, shortName, waitsWords } from '../src/things/task/card-words.ts'

const ID = '01a1e7c0-1433-7a7f-98c0-00000000002d'

function card(change: Partial<ShownCard> = {}): ShownCard {
  return {
    ...{ id: ID, number: null, key: null, title: 'Fix it', taskType: 'other', purpose: 'work' as const },
    ...{ state: 'queued' as TaskState, stateSince: 0, priority: 5, project: null, agent: null, holder: null },
    ...{ generation: 1, version: 1, attempt: 0, maxRetries: 3, step: null, percent: null, reason: null },
    ...{ awaits: null, resultDigest: null, dueAt: null, waitsFor: [], openDeps: 0, missionId: null },
    ...{
      verification: null,
      tags: [],
      costUsd: null,
      tokensUsed: null,
      runId: null,
      workNote: null,
      commentCount: 0,
      lastAgent: null,
      summary: null,
      workMs: null,
      notTaken: null,
    },
    ...{ createdAt: 0, updatedAt: 0, completedAt: null },
    ...change,
  }
}

describe('a dragged card', () => {
  test('takes a priority in the inbox, and goes nowhere else', () => {
    expect(dropsFor(card()).columns).toEqual({ inbox: 'priority' })
  })

  test('with a result that waits is approved in Done and rejected in Assigned', () => {
    const waiting = card({ state: 'awaiting_human', awaits: 'result', resultDigest: 'abc' })
    expect(dropsFor(waiting).columns).toEqual({ done: 'approve', assigned: 'reject' })
  })

  test('that asks a question can be neither approved nor rejected', () => {
    expect(dropsFor(card({ state: 'awaiting_human', awaits: 'question' })).columns).toEqual({})
  })

  test('that failed goes back to the inbox; one that is running goes to no column', () => {
    expect(dropsFor(card({ state: 'failed' })).columns).toEqual({ inbox: 'again' })
    expect(dropsFor(card({ state: 'running' })).columns).toEqual({})
  })

  test('is offered only the trays that its state allows', () => {
    expect(dropsFor(card()).trays).toEqual(['pause', 'cancel'])
    expect(dropsFor(card({ state: 'paused' })).trays).toContain('resume')
    expect(dropsFor(card({ state: 'paused' })).trays).not.toContain('pause')
    expect(dropsFor(card({ state: 'failed' })).trays).toContain('retry')
  })

  test('lands on the card below the pointer, never beyond the last', () => {
    expect([placeAt(0, 3), placeAt(99, 3), placeAt(100, 3), placeAt(5_000, 3)]).toEqual([0, 0, 1, 2])
  })
})

describe('a scrolled column', () => {
  const before = ['a', 'b', 'c', 'd']

  test('moves by the rows that came above what is read, and counts them', () => {
    expect(keptPlace(before, ['x', 'y', 'a', 'b', 'c', 'd'], 2)).toEqual({ rows: 2, newer: 2 })
  })

  test('does not count what came below', () => {
    expect(keptPlace(before, ['a', 'b', 'c', 'x', 'd'], 2)).toEqual({ rows: 0, newer: 0 })
  })

  test('moves up when rows above leave, and keeps to the next row when the read one leaves', () => {
    expect(keptPlace(before, ['b', 'c', 'd'], 2)).toEqual({ rows: -1, newer: 0 })
    expect(keptPlace(before, ['x', 'a', 'b', 'd'], 2)).toEqual({ rows: 1, newer: 1 })
  })
})

describe('the cursor', () => {
  const columns = [
    { name: 'inbox' as const, ids: ['a', 'b', 'c'] },
    { name: 'assigned' as const, ids: [] },
    { name: 'done' as const, ids: ['z'] },
  ]

  test('begins at the first card', () => {
    expect(besideCursor(columns, null, 1, 0)).toEqual({ id: 'a', column: 'inbox', place: 0 })
    expect(besideCursor([], null, 1, 0)).toBeNull()
  })

  test('skips columns without cards, and stays within the last', () => {
    expect(besideCursor(columns, 'c', 0, 1)?.id).toBe('z')
    expect(besideCursor(columns, 'z', 0, 1)?.id).toBe('z')
    expect(besideCursor(columns, 'c', 1, 0)?.id).toBe('c')
  })
})

test('the list shows no row below a hole', () => {
  const views: Record<string, ColumnView> = {
    review: { ids: ['r'], count: 1, hasMore: false, states: {} },
    in_progress: { ids: ['p'], count: 9, hasMore: true, states: {} },
  }
  const none: ColumnView = { ids: ['d'], count: 1, hasMore: false, states: {} }
  expect(listed((name) => views[name] ?? none)).toEqual({ ids: ['r', 'p'], unread: 'in_progress' })
})

describe('a card says', () => {
  test('its key without what the title says again, or its number', () => {
    expect(shortName(ID, card({ key: 'B-003-implement-dashboard::2' }))).toBe('B-003::2')
    expect(shortName(ID, card())).toBe('#45')
  })

  test('what it waits for, by key where it is known', () => {
    const waiting = card({ state: 'pending', waitsFor: [ID], openDeps: 3 })
    expect(waitsWords(waiting, () => card({ key: 'B-002-x' }))).toBe('Waiting for B-002 and 2 more')
    expect(waitsWords(waiting, () => undefined)).toBe('Waiting for #45 and 2 more')
  })

  test('what it does, why it failed, and that it asks', () => {
    expect(reasonOf(card({ state: 'running', step: 'uses Bash', reason: 'old' }))).toBe('uses Bash')
    expect(reasonOf(card({ state: 'failed', reason: 'exit 1' }))).toBe('exit 1')
    expect(reasonOf(card({ state: 'awaiting_human', awaits: 'question', reason: 'question' }))).toBe(
      'Has a question for you',
    )
  })

  test('its attempt of all, once it had one', () => {
    expect(attemptWords(card())).toBeNull()
    expect(attemptWords(card({ attempt: 2 }))).toBe('2/4')
  })
})

test('filters are the address, and the address the filters', () => {
  expect(boardAt({ project: 'shop', task: ID }, { tag: 'docs', task: undefined })).toBe(
    '/board?project=shop&tag=docs',
  )
  expect(filterIn({ project: 'shop', view: 'list', task: ID })).toEqual({ project: 'shop' })
})

describe('a new task', () => {
  test('leaves to the server what was left empty', () => {
    expect(bodyOf({ ...EMPTY_DRAFT, title: ' Fix it ' })).toEqual({ title: 'Fix it', priority: 5 })
    expect(bodyOf({ ...EMPTY_DRAFT, title: 'x', tags: 'a, ,b', verification: 'human' })).toMatchObject({
      tags: ['a', 'b'],
      verification: { kind: 'human' },
    })
  })

  test('shows each problem at its field, and the rest separately', () => {
    const refused = { errors: [{ field: 'tags[0]', message: 'too long' }] }
    expect(problemsIn(refused)).toEqual({ byField: { tags: 'too long' }, rest: null })
    const other = { errors: [{ field: 'body', message: 'no' }] }
    expect(problemsIn(other)).toEqual({ byField: {}, rest: other })
    expect(problemsIn(null)).toEqual({ byField: {}, rest: null })
  })
})

describe('the list', () => {
  const cards: Record<string, Partial<ShownCard>> = {
    a: { title: 'Zeta', costUsd: '0.30', agent: null, holder: null },
    b: { title: 'alpha', costUsd: null, agent: 'dev-2', holder: null },
    c: { title: 'Beta', costUsd: '2', agent: 'dev-1', holder: null },
  }
  const order = (sort: string) =>
    sorted(['a', 'b', 'c', 'unknown'], sortIn(sort)!, (id) => cards[id] as ShownCard | undefined).join(' ')

  test('is sorted by a column in either direction, and what has no value is last', () => {
    expect(order('cost')).toBe('a c b unknown')
    expect(order('-cost')).toBe('c a b unknown')
    expect(order('task')).toBe('b c a unknown')
    expect(order('agent')).toBe('c b a unknown')
  })

  test('has its order in the address; what is no column is no order', () => {
    expect(sortIn('-cost')).toEqual({ column: 'cost', isDescending: true })
    expect(sortText({ column: 'cost', isDescending: true })).toBe('-cost')
    expect([sortIn('reason'), sortIn('toString'), sortIn(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('begins with the largest where that is looked for, and turns around when chosen again', () => {
    const chosen = { column: 'cost', isDescending: false }
    expect(nextSort(undefined, chosen)).toEqual({ column: 'cost', isDescending: true })
    expect(nextSort({ column: 'cost', isDescending: true }, chosen)).toEqual(chosen)
    expect(nextSort({ column: 'cost', isDescending: true }, { column: 'task', isDescending: false })).toEqual(
      {
        column: 'task',
        isDescending: false,
      },
    )
  })
})
