import { describe, expect, test } from 'vitest'
import { causeOf } from '../../src/pure/cause.ts'
import { TASK_STATES, type TaskState } from '../../src/pure/states.ts'
import { besideCursor } from '../src/keys/beside-cursor.ts'
import type { ColumnView } from '../src/live/board-list.ts'
import type { ShownCard } from '../src/live/pending-acts.ts'
import { columnLabel } from '../src/pages/board/column-head.tsx'
import { csvOf } from '../src/pages/board/csv.ts'
import { dropsFor, placeAt } from '../src/pages/board/drops.ts'
import { choicesFor, wantedWords } from '../src/pages/board/filter-names.ts'
import { grouped, laneRows, NO_GROUP } from '../src/pages/board/grouped.ts'
import { keptPlace } from '../src/pages/board/keep-place.ts'
import { chosenColumns, columnsText, type ListColumnName } from '../src/pages/board/list-values.ts'
import { listed } from '../src/pages/board/listed.ts'
import {
  isShown,
  readViews,
  renamed,
  withDefault,
  without,
  withView,
} from '../src/pages/board/saved-views.ts'
import { BOARD_SEARCH, boardAt, filterIn, onlyValue, withValue } from '../src/pages/board/search.ts'
import { nextSort, sorted, sortIn, sortText } from '../src/pages/board/sorted.ts'
import { readSearch } from '../src/search-params.ts'
import { agentOf, attemptWords, reasonOf, shortName, waitsWords } from '../src/things/task/card-words.ts'
import { bodyOf, EMPTY_DRAFT, problemsIn } from '../src/things/task/form/draft.ts'

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
      isSimulated: false,
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

describe('the cause of a failure', () => {
  test.each([
    [
      "/srv/a b/worker.sh exited with code 1: throw err;\n\nError: Cannot find module './x.js'\nRequire stack:\n- /srv/i.js\n    at load",
      "Cannot find module './x.js'",
    ],
    [
      'python3 exited with code 1: Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: \'a\'\n\nDuring it\n\nValueError: not a number',
      'ValueError: not a number',
    ],
    ['/bin/sh exited with code 127: run.sh: line 3: foo: command not found', 'foo: command not found'],
    [
      'npm exited with code 1: \u001b[31mnpm ERR! missing script: build\u001b[0m\nnpm ERR! A complete log is in /tmp',
      'missing script: build',
    ],
    ['./worker.sh exited with code 3.', 'It exited with code 3'],
    ['./worker.sh was killed by SIGKILL: some output', 'some output'],
    ['claude exceeded its timeout.', 'It exceeded its timeout'],
    ['There is no such branch.', 'There is no such branch.'],
    ['adapter_not_installed: There is no program "x".', 'There is no program "x".'],
  ])('comes before the command and the trace: %s', (reason, cause) => {
    expect(causeOf(reason)).toBe(cause)
  })

  test('is found in what nobody wrote for it', () => {
    for (const reason of [
      '',
      '\n',
      ': ',
      'x exited with code 1: ',
      `x exited with code 1: ${'\n'.repeat(50_000)}`,
    ])
      expect(typeof causeOf(reason)).toBe('string')
  })
})

describe('a queued card', () => {
  const stands = (slug: string, state: string, more: object = {}) => ({
    slug,
    state,
    stateReason: null,
    leaving: false,
    ...more,
  })
  const saying = (agents: object[], change: Partial<ShownCard> = {}, agentCount = agents.length) =>
    reasonOf(
      card({
        ...change,
        notTaken: { requiredCapabilities: [], agents, agentCount } as ShownCard['notTaken'],
      }),
    )

  test('says why nobody takes it', () => {
    expect(saying([stands('dev-1', 'paused')])).toBe('dev-1 is paused')
    expect(saying([stands('dev-1', 'error', { stateReason: 'not logged in:\n run `claude /login`' })])).toBe(
      'dev-1 is stopped: not logged in: run claude /login',
    )
    expect(saying([stands('a', 'paused'), stands('b', 'offline')], {}, 5)).toBe(
      'No agent is free: a is paused, b is offline and 3 more',
    )
    expect(saying([], { agent: 'dev-9' })).toBe('There is no agent dev-9')
    expect(saying([])).toBe('No agent can take it')
    const notTaken = { requiredCapabilities: ['python', 'rust'], agents: [], agentCount: 0 }
    expect(reasonOf(card({ notTaken }))).toBe('No agent can do python, rust')
  })

  test('says for whom it is reserved where somebody can take it', () => {
    expect(reasonOf(card({ agent: 'dev-1' }))).toBe('Reserved for dev-1')
    expect(reasonOf(card())).toBeNull()
  })
})

describe('a finished card', () => {
  test('says in one line what it came to, and who did it', () => {
    const done = card({ state: 'completed', completedAt: 1, lastAgent: 'dev-2', agent: 'dev-1' })
    expect(reasonOf({ ...done, summary: '## Done\n\n- Adds **the form** with `a_b`\n- 2 * 3 tests' })).toBe(
      'Done Adds the form with a_b 2 * 3 tests',
    )
    expect(reasonOf(done)).toBeNull()
    expect([agentOf(done), agentOf({ ...done, completedAt: null })]).toEqual(['dev-2', 'dev-1'])
  })
})

describe('a column', () => {
  test('counts apart what its name does not say', () => {
    const states = { completed: 4_775, failed: 12, cancelled: 3, skipped: 0 }
    const view = { ids: [], count: 4_790, hasMore: false, states }
    expect(columnLabel('done', view)).toBe('Done, 4,775, 12 failed, 3 cancelled')
    expect(columnLabel('inbox', { ...view, states: { queued: 4_790 } })).toBe('To do, 4,790')
  })
})

describe('groups', () => {
  const cards = new Map<string, ShownCard>(
    [
      { id: 'a', project: 'zoo', state: 'queued' as const },
      { id: 'b', project: null, state: 'running' as const },
      { id: 'c', project: 'ark', state: 'completed' as const },
      { id: 'd', project: 'zoo', state: 'queued' as const },
    ].map((change) => [change.id, card(change)]),
  )
  const groups = grouped(['a', 'b', 'c', 'd'], 'project', (id) => cards.get(id))

  test('are in the order of their names, those that belong to none last', () => {
    expect(groups).toEqual([
      { key: 'ark', ids: ['c'] },
      { key: 'zoo', ids: ['a', 'd'] },
      { key: NO_GROUP, ids: ['b'] },
    ])
    expect(
      grouped(
        ['b', 'c'],
        'project',
        (id) => cards.get(id),
        () => 'same',
      ).map(({ key }) => key),
    ).toEqual(['ark', NO_GROUP])
  })

  test('are lanes of cards side by side, closed ones only a head, and long ones cut', () => {
    const columnOfId = (id: string) => TASK_STATES[cards.get(id)!.state].board
    const rows = laneRows(groups, columnOfId, (key) => key !== NO_GROUP, 1)
    expect(rows.map(({ kind, key }) => `${kind} ${key}`)).toEqual([
      'head ark',
      'cards ark',
      'head zoo',
      'cards zoo',
      'more zoo',
      'head ',
    ])
    expect(rows[3]).toMatchObject({ ids: { inbox: ['a'], done: [] } })
    expect(rows[4]).toMatchObject({ count: 1 })
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
  })
})

describe('the list as a file', () => {
  const names = { cardOf: () => undefined, missionOf: () => 'Move, "all"' }
  const rows = (change: Partial<ShownCard>, ...columns: ListColumnName[]) =>
    csvOf([card(change)], columns, names).split('\r\n')

  test('quotes what has commas, quotes and lines', () => {
    expect(rows({ title: 'a "b",\nc', missionId: ID }, 'task', 'mission')).toEqual([
      'Number,Task,Mission',
      '#45,"a ""b"",\nc","Move, ""all"""',
      '',
    ])
  })

  test.each(['=1+1', '+cmd', '-x', '@SUM(A1)', '\t=1', '\r=1'])('has no formulas: %j', (title) => {
    expect(csvOf([card({ title })], ['task'], names)).toContain(`'${title}`)
  })

  test('has amounts as numbers', () => {
    expect(rows({ costUsd: '-0.5', workMs: 90_500, tokensUsed: 12 }, 'cost', 'tokens', 'worked')[1]).toBe(
      '#45,-0.5,12,91',
    )
  })
})

describe('the columns of the list', () => {
  test('are the usual ones unless others are chosen, and the task is always among them', () => {
    expect(chosenColumns(undefined)).toContain('reason')
    expect(chosenColumns(['cost', 'state', 'nonsense'])).toEqual(['state', 'task', 'cost'])
    expect(columnsText(chosenColumns(undefined))).toBeUndefined()
    expect(columnsText(['cost'])).toEqual(['task', 'cost'])
  })
})

describe('a filter', () => {
  test('has each value once, wanted or not', () => {
    const wanted = withValue({ some: ['a'], none: ['b'] }, 'b', 'some')
    expect(wanted).toEqual({ some: ['a', 'b'], none: [] })
    expect(withValue(wanted, 'a', 'none')).toEqual({ some: ['b'], none: ['a'] })
    expect(withValue(wanted, 'a', null)).toEqual({ some: ['b'], none: [] })
  })

  test('is said in a few words', () => {
    const asIs = (value: string) => value
    expect(wantedWords({ some: ['a'], none: ['b', 'c'] }, asIs)).toBe('a, not b, c')
    expect(wantedWords({ some: ['a', 'b', 'c', 'd', 'e'], none: [] }, asIs)).toBe('a, b, c and 2 more')
  })

  test('in the address is left out if the server would refuse it', () => {
    const { search, dropped } = readSearch(BOARD_SEARCH, { state: 'queued,broken', priority: '!5', tag: 'a' })
    expect([search, dropped]).toEqual([{ priority: '!5', tag: 'a' }, ['state']])
    expect([
      onlyValue({ project: 'shop' }, 'project'),
      onlyValue({ project: 'shop,zoo' }, 'project'),
    ]).toEqual(['shop', undefined])
  })

  test('offers what is chosen although it is not known', () => {
    expect(
      choicesFor([{ value: 'a', words: 'A' }], { some: ['x'], none: [] }, '').map(({ value }) => value),
    ).toEqual(['x', 'a'])
    expect(choicesFor([{ value: 'a', words: 'Alpha' }], { some: [], none: [] }, 'ALP')).toHaveLength(1)
  })
})

describe('saved views', () => {
  const one = withView([], 'Mine', { state: 'failed', task: ID })

  test('keep what is shown, not what is open beside it', () => {
    expect(one).toEqual([{ name: 'Mine', address: '/board?state=failed', isDefault: false }])
    expect(isShown(one[0]!, { state: 'failed', new: 'task' })).toBe(true)
    const [both] = withView([], 'Both', { q: 'x', view: 'list' })
    expect(isShown(both!, { view: 'list', q: 'x' })).toBe(true)
  })

  test('are renamed, replaced, deleted, and one is the default', () => {
    const two = withView(one, 'Other', {})
    expect(withView(withDefault(two, 'Mine'), 'Mine', { q: 'x' })[0]).toEqual({
      name: 'Mine',
      address: '/board?q=x',
      isDefault: true,
    })
    expect(renamed(two, 'Other', 'Mine')).toEqual([{ name: 'Mine', address: '/board', isDefault: false }])
    expect(without(two, 'Mine').map(({ name }) => name)).toEqual(['Other'])
    expect(withDefault(withDefault(two, 'Mine'), 'Other').map(({ isDefault }) => isDefault)).toEqual([
      false,
      true,
    ])
  })

  test.each([
    null,
    'nonsense',
    '7',
    '[{"name":1}]',
    '[null]',
    '[{"name":"x","address":"https://elsewhere"}]',
  ])('are none where the browser kept something else: %s', (text) => expect(readViews(text)).toEqual([]))
})
