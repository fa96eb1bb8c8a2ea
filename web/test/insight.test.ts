import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { BOARD_SEARCH, wantedOf } from '../src/pages/board/search.ts'
import {
  belongs,
  type EventPage,
  type ListedEvent,
  placeIn,
  queryOf,
  withHead,
  withOlder,
} from '../src/pages/events/event-list.ts'
import { aboutOf, actorWords, isTypeText, sentenceOf } from '../src/pages/events/event-words.ts'
import {
  agentBars,
  bottleneckBars,
  causeWords,
  failureBars,
  failureText,
  fromOf,
  retryBars,
  verdictBars,
} from '../src/pages/insight/insight-words.ts'
import {
  endWords,
  healthOf,
  lagWords,
  loadWords,
  recoveredWords,
  runsWords,
  type Status,
} from '../src/pages/nodes/node-words.ts'
import { parseSearch, readSearch } from '../src/search-params.ts'

/** The log, the figures of a period and the nodes, in the words of their pages. */

const NOW = new Date(2026, 4, 4, 10, 0, 0).getTime()

const event = (seq: number, more: object = {}) =>
  ({
    ...{
      seq,
      type: 'task_failed',
      entityType: 'task',
      entityId: 't',
      taskId: 't',
      missionId: null,
      runId: null,
    },
    ...{
      actor: 'agent:dev-1',
      by: { kind: 'agent', id: 'dev-1', name: 'dev-1' },
      level: 'ERROR',
      payload: {},
    },
    ...more,
  }) as unknown as ListedEvent

const page = (seqs: number[], upTo: number, nextCursor: string | null): EventPage => ({
  items: seqs.map((seq) => event(seq)),
  upTo,
  nextCursor,
})
const seqsOf = (list: { events: readonly ListedEvent[] }) => list.events.map(({ seq }) => seq)

describe('the log', () => {
  test('takes up what is new if it meets what is loaded, and begins again if there is a hole', () => {
    const first = withHead(null, 'a', page([10, 9, 8], 8, '8'))
    const longer = withOlder(first, page([7, 6], 6, '6'))
    expect([seqsOf(longer), longer.cursor]).toEqual([[10, 9, 8, 7, 6], '6'])
    const next = withHead(longer, 'a', page([12, 11, 10], 10, '10'))
    expect([seqsOf(next), next.cursor]).toEqual([[12, 11, 10, 9, 8, 7, 6], '6'])
    const touching = withHead(longer, 'a', page([13, 12, 11], 11, '11'))
    expect(seqsOf(touching)).toEqual([13, 12, 11, 10, 9, 8, 7, 6])
    const far = withHead(longer, 'a', page([30, 29, 28], 28, '28'))
    expect([seqsOf(far), far.cursor]).toEqual([[30, 29, 28], '28'])
    expect(seqsOf(withHead(longer, 'another filter', page([3], 1, null)))).toEqual([3])
  })

  test('has an event that is written now if the server would list it', () => {
    const one = event(1, { payload: { agent: 'dev-2' } }) as LiveEvent
    const cases: [Parameters<typeof belongs>[0], boolean][] = [
      [{}, true],
      [{ type: 'task_*' }, true],
      [{ type: 'run_*,task_failed' }, true],
      [{ type: 'task_' }, false],
      [{ entity: 'run' }, false],
      [{ by: 'agent' }, true],
      [{ by: 'key' }, false],
      [{ agent: 'dev-1' }, true],
      [{ agent: 'dev-2' }, true],
      [{ agent: 'dev-3' }, false],
      [{ task: 't' }, true],
      [{ mission: 'm' }, false],
      [{ level: 'WARN' }, true],
      [{ level: 'CRITICAL' }, false],
    ]
    for (const [filter, isIn] of cases) expect([filter, belongs(filter, one)]).toEqual([filter, isIn])
  })

  test('is asked for a level and all above it, and for a time before now', () => {
    const query = queryOf({ level: 'WARN', since: '1h' }, NOW)
    expect(query.level).toBe('WARN,ERROR,CRITICAL')
    expect(query.from).toBe(new Date(NOW - 3_600_000).toISOString())
    expect(queryOf({}, NOW).from).toBeUndefined()
  })

  test('goes to a number, a time of day or a date', () => {
    expect(placeIn('48,211', NOW)).toEqual({ seq: 48_211 })
    expect(placeIn('#7', NOW)).toEqual({ seq: 7 })
    expect(placeIn('09:30', NOW)).toEqual({ at: new Date(2026, 4, 4, 9, 30).getTime() })
    expect(placeIn('11:00', NOW)).toEqual({ at: new Date(2026, 4, 3, 11, 0).getTime() })
    expect(placeIn('2026-05-01 14:05', NOW)).toEqual({ at: new Date(2026, 4, 1, 14, 5).getTime() })
    expect(placeIn('2026-05-01', NOW)).toEqual({ at: new Date(2026, 4, 1).getTime() })
    for (const text of ['', 'soon', '25:00', '2026-02-31', '1.5']) expect(placeIn(text, NOW)).toBeNull()
  })

  test('names who acted and what it is about, without codes', () => {
    const by = (kind: string, name: string | null) => ({ by: { kind, id: 'x', name } }) as LiveEvent
    expect(
      [by('coordinator', null), by('system', null), by('key', 'anna'), by('key', null)].map(actorWords),
    ).toEqual(['the coordinator', 'Baton', 'anna', 'a key'])
    const about = {
      entityType: 'agent',
      entityId: 'dev-1',
      taskId: null,
      missionId: null,
      runId: null,
    } as const
    expect(aboutOf(about)).toEqual({ words: 'dev-1', to: '/agents/dev-1' })
    expect(aboutOf({ ...about, entityType: 'session', entityId: 'agent:dev-1' }).words).toBe('dev-1')
    expect(sentenceOf({ type: 'task_failed' })).toBe('Task failed')
    expect([isTypeText('task_*,run_started'), isTypeText('Task'), isTypeText('task_*_*')]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('the bars of a period', () => {
  test('lead to their tasks', () => {
    const [cause] = failureBars(
      [{ cause: 'nonzero_exit', failures: 3, tasks: 2, completed: 1, lastAt: '' }],
      '7d',
    )
    expect(cause).toMatchObject({
      words: 'The process exited with an error',
      text: '3 times',
      to: '/insight?window=7d&cause=nonzero_exit',
      more: ['3', '2', '1 (50 %)'],
    })
    const names = {
      key: 'B-1',
      taskType: 'x',
      agent: null,
      missionId: null,
      state: 'completed',
      attempts: 1,
    } as const
    const [waited] = bottleneckBars([
      { ...names, taskId: 't', title: 'Schema', delayMs: 60_000, blocks: 1_000 },
    ])
    expect(waited).toMatchObject({ to: '/tasks/B-1', text: '1 m', more: ['1 m', '1,000 or more', 'nobody'] })
  })

  test('add up to what ended: done, failed and ended otherwise', () => {
    const one = { taskType: 'code', successRate: 0.5, attempts: 1.25 }
    const bars = agentBars([
      { ...one, agent: 'a', tasks: 2, completed: 1, failed: 0 },
      { ...one, agent: 'b', tasks: 4, completed: 1, failed: 2 },
    ])
    expect(bars.map(({ words, text }) => [words, text])).toEqual([
      ['b, code', '25 % of 4'],
      ['a, code', '50 % of 2'],
    ])
    expect(bars[0]!.parts.map(({ value }) => value)).toEqual([1, 2, 1])
    expect(bars[0]!.to).toBe('/board?view=list&agent=b&type=code')
    const [odd] = agentBars([{ ...one, agent: 'a', taskType: '!a,b', tasks: 1, completed: 1, failed: 0 }])
    expect(wantedOf(readSearch(BOARD_SEARCH, parseSearch(odd!.to!.split('?')[1]!)).search, 'type')).toEqual({
      some: ['!a,b'],
      none: [],
    })
  })

  test('say how many retries helped, and how often a person overruled a verifier', () => {
    const [retried] = retryBars(
      [{ failureClass: 'quality', retries: 5, tasks: 4, completed: 3, successRate: 0.75 }],
      '24h',
    )
    expect(retried).toMatchObject({ words: 'The work was not good enough', text: '75 % of 4' })
    const verdicts = {
      ...{ passed: 5, passedOverruled: 1, failed: 2, failedOverruled: 2 },
      ...{ unsure: 3, unsureApproved: 1, unsureRejected: 1 },
    }
    const bars = verdictBars(verdicts, '30d')
    expect(bars.map(({ parts }) => parts.map(({ value }) => value))).toEqual([
      [4, 1, 0],
      [0, 2, 0],
      [1, 1, 1],
    ])
    expect(bars[0]!.to).toBe('/events?type=task_verification_passed&since=30d')
  })

  test('name causes that nobody has heard of by their words', () => {
    expect([causeWords('lease_expired'), causeWords('sun_storm')]).toEqual([
      'Its holder fell silent until the lease ended',
      'Sun storm',
    ])
    expect(fromOf('7d', NOW)).toBe(new Date(NOW - 168 * 3_600_000).toISOString())
  })
})

describe('the coordinator', () => {
  const at = (ms: number) => new Date(ms).toISOString()
  const status = {
    ...{
      active: true,
      instanceId: 'n',
      term: 1,
      workspaces: [],
      lastHeartbeat: at(NOW),
      terms: [],
      nodes: [],
    },
    thisNode: { id: 'n', leads: true, passes: 3, lastPassAt: at(NOW), lastPassMs: 2 },
  } as unknown as Status

  test('is said to be well, late or absent', () => {
    expect(healthOf(status, NOW)).toMatchObject({ hue: 'done', title: 'This node coordinates' })
    expect(healthOf(status, NOW + 90_000)).toMatchObject({
      hue: 'ask',
      title: 'This node coordinates, and is late',
    })
    expect(healthOf({ ...status, active: false }, NOW)).toMatchObject({
      hue: 'bad',
      title: 'No node coordinates',
    })
  })

  test('says what a node does, and how busy it is', () => {
    expect(runsWords({ runs: 0, mostRuns: 0 })).toBe('executes no runs')
    expect(runsWords({ runs: 1, mostRuns: 64 })).toBe('1 run of at most 64')
    expect(runsWords({ runs: 2, mostRuns: null })).toBe('2 runs')
    expect([loadWords(0.124), lagWords(3), lagWords(1_200)]).toEqual([
      ...['12 % of a core', 'answers at once', 'answers 1,200 ms late'],
    ])
  })

  test('says what a recovery did, and nothing of what it did not', () => {
    expect(recoveredWords({ tasksMoved: 2, agentsWoken: 0, thingsDone: 1 })).toBe(
      'Done: 2 tasks moved, 1 thing done.',
    )
    expect(recoveredWords({ tasksMoved: 0 })).toBe('There was nothing to recover.')
    expect([endWords('EXPIRED'), endWords(null)]).toEqual(['its node fell silent', 'ended'])
  })
})

test('a failed attempt is told without the time of the next one, which is over', () => {
  expect(
    failureText('Attempt 3 failed; the task is retried at 19 Nov 2026, 05:28 UTC: it exited with code 3.'),
  ).toBe('Attempt 3 failed: it exited with code 3.')
  const last = 'The task failed for good (no attempt is left, attempt 4): sh exited with code 3.'
  expect(failureText(last)).toBe(last)
})
