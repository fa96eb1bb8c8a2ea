import { readdirSync, readFileSync } from 'node:fs'
import { createElement, type ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { InboxCount } from '../src/live/inbox-count.ts'
import type { Excerpts } from '../src/logs/excerpt.tsx'
import { GoneLog } from '../src/logs/gone-log.tsx'
import { closedWords } from '../src/pages/inbox/rows.ts'
import { ClockOffset, CutOffAt } from '../src/parts/clock.ts'
import { Countdown } from '../src/parts/countdown.tsx'
import { endedWhileAway, setWaitingInTitle } from '../src/parts/document-title.ts'
import { Duration } from '../src/parts/duration.tsx'
import { explain } from '../src/parts/explain.ts'
import { Moment } from '../src/parts/moment.tsx'
import { durationText, plainWords, sentence } from '../src/parts/wording.ts'
import { searchTables } from '../src/routes.tsx'
import { parseSearch, readSearch } from '../src/search-params.ts'
import { endedMission } from '../src/shell/mission-ends.ts'
import { actWords, canBe, type Hit, nameOfHit, verbIn } from '../src/shell/palette-words.ts'
import { headline, type InboxItem, lookOf } from '../src/things/inbox/kinds.ts'

const hit = (kind: Hit['kind'], state: string) =>
  ({ kind, state, id: 'dev-1', title: 'Migrate billing' }) as Hit
const event = (seq: number, type: string, payload: object) =>
  ({ seq, type, payload, missionId: 'm' }) as unknown as LiveEvent

test('what is not there is told without its id, which nobody reads', () => {
  const detail = 'There is no mission 01a1f570-0f1e-7178-a660-000000000001 in this workspace.'
  expect(explain({ status: 404, detail })).toMatchObject({
    detail: 'There is no mission with this id in this workspace.',
  })
})

describe('the palette', () => {
  test('knows an act and what it is about', () => {
    expect(verbIn(' Pause  dev 1 ')).toEqual({ verb: 'pause', rest: 'dev 1' })
    for (const text of ['pause', 'pauses x', 'the retry x', '']) expect(verbIn(text)).toBeNull()
  })

  test('offers an act only where the state allows it, in words that name its object', () => {
    expect(canBe('pause', hit('agent', 'idle'))).toBe(true)
    expect(canBe('pause', hit('agent', 'paused'))).toBe(false)
    expect(canBe('resume', hit('agent', 'error'))).toBe(true)
    expect(canBe('retry', hit('agent', 'error'))).toBe(false)
    expect(canBe('retry', hit('mission', 'failed'))).toBe(true)
    expect(canBe('retry', hit('mission', 'completed'))).toBe(false)
    expect(canBe('retry', hit('task', 'failed'))).toBe(true)
    expect(canBe('pause', hit('run', 'running'))).toBe(false)
    expect(actWords('pause', hit('agent', 'idle'))).toBe('Pause dev-1')
    expect(actWords('retry', hit('mission', 'failed'))).toBe('Retry the failed tasks of Migrate billing')
  })

  test('names a task by its key or its number', () => {
    expect(
      [
        { key: 'A-001-x', number: 4 },
        { key: null, number: 4 },
        { key: null, number: null },
      ].map(nameOfHit),
    ).toEqual(['A-001-x', '#4', null])
  })
})

describe('a mission that has ended', () => {
  const added = (id: string, kind: string, seq: number) => event(seq, 'inbox_added', { item: { id, kind } })

  test('is told once, by the event that puts it into the inbox', () => {
    expect(endedMission(added('finished:m', 'finished', 1))).toBe('m')
    expect(endedMission(added('plan:m:1', 'plan', 1))).toBeNull()
    expect(endedMission(event(1, 'mission_completed', {}))).toBeNull()
  })

  test('changes no badge, neither when it ends nor when it is seen', () => {
    const count = new InboxCount(2, 0)
    count.take(added('finished:m', 'finished', 1))
    count.take(event(2, 'inbox_closed', { id: 'finished:m' }))
    expect(count.get()).toBe(2)
    count.take(event(3, 'inbox_closed', { id: 'plan:m:1' }))
    expect(count.get()).toBe(1)
  })

  test('says how it ended, and looks like it', () => {
    const item = { kind: 'finished', title: 'Move house', end: 'failed' } as InboxItem
    expect([headline(item), lookOf(item).hue]).toEqual(['Failed: Move house', 'bad'])
    expect(headline({ ...item, end: 'completed' })).toBe('Completed: Move house')
    expect(closedWords({ by: null, because: 'mission_seen', at: 1 })).toBe('Seen.')
  })
})

test('a text becomes one sentence with one full stop, and loses its Markdown where there is room for one line', () => {
  expect(['cart.', 'cart', ' Why? ', 'Done…'].map(sentence)).toEqual(['cart.', 'cart.', 'Why?', 'Done…'])
  expect(plainWords('# Plan\n\n- **discount** `codes`\n- [link](https://x.y)')).toBe(
    'Plan discount codes link',
  )
  expect(plainWords('a_b * c')).toBe('a_b * c')
})

describe('older addresses', () => {
  test.each([
    ['/inbox', 'kind=trouble', { kind: 'problems' }],
    ['/runs/$id', 'view=nice', { view: 'transcript' }],
    ['/tasks/$idOrKey', 'tab=lineage', { tab: 'attempts' }],
    ['/tasks/$idOrKey', 'tab=comments', { tab: 'activity' }],
    ['/missions/$id', 'view=events', { view: 'activity' }],
    ['/missions/$id', 'view=table', { view: 'tasks' }],
    ['/missions/$id', 'view=code', { view: 'changes' }],
  ])('of %s still open what %s named, and nothing of them is ignored', (path, text, search) => {
    expect(readSearch(searchTables.get(path)!, parseSearch(`?${text}`))).toEqual({ search, dropped: [] })
  })
})

describe('words for people', () => {
  const OLD = [
    [/Keep as it is/, 'Back'],
    [/Look again/, 'Check again'],
    [/created now/i, 'just now'],
    [/awaits a verdict/, 'waiting for review'],
    [
      /[>'"`]\s*(Nice|At once|Lineage|Runs with|Trouble)\s*[<'"`]/,
      'Transcript, Step 1, Attempts, Type, Problems',
    ],
    [/[Gg]enerations? (\$\{|\{|\d|of\b)/, 'attempt'],
    [/inbox: 'Inbox'/, 'To do'],
  ] as const

  test('say one thing by one word: none of the old ones is left in the source of the app', () => {
    const web = new URL('../src/', import.meta.url)
    const files = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.tsx?$/.test(name),
    )
    expect(files.length).toBeGreaterThan(300)
    const found = files.flatMap((name) => {
      const lines = readFileSync(new URL(name, web), 'utf8').split('\n')
      return lines.flatMap((line, n) =>
        OLD.filter(([old]) => old.test(line) && !/^\s*(\/\/|\/?\*)/.test(line)).map(
          ([, now]) => `${name}:${n + 1}: ${now}`,
        ),
      )
    })
    expect(found).toEqual([])
  })
})

describe('the title of the tab', () => {
  /** A tab that nobody looks at, until it gets the focus. */
  const tab = { title: '', isLookedAt: false, onFocus: [] as (() => void)[] }
  beforeEach(() => {
    vi.stubGlobal('document', {
      hasFocus: () => tab.isLookedAt,
      get title() {
        return tab.title
      },
      set title(text: string) {
        tab.title = text
      },
    })
    vi.stubGlobal('addEventListener', (type: string, run: () => void) => {
      expect(type).toBe('focus')
      tab.onFocus.push(run)
    })
  })
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  test('counts the missions that end while nobody looks, beside what waits, until somebody does', () => {
    setWaitingInTitle(0)
    endedWhileAway(1)
    expect(tab.title).toBe('A mission ended · Baton')
    endedWhileAway(2)
    setWaitingInTitle(4)
    expect(tab.title).toBe('(4) 3 missions ended · Baton')
    for (const run of tab.onFocus.splice(0)) run()
    expect(tab.title).toBe('(4) Baton')
    tab.isLookedAt = true
    endedWhileAway(1)
    expect([tab.title, tab.onFocus]).toEqual(['(4) Baton', []])
  })
})

describe('a log that is gone', () => {
  const shown = (excerpts: Excerpts, detail: string | null = null) =>
    renderToStaticMarkup(createElement(GoneLog, { title: 'The log is not there', detail, excerpts }))

  test('shows the beginning and the end of the output that its record keeps, and which is which', () => {
    const both = shown({ stdout: 'Compiling 4 files', stderr: 'ENOSPC: no space left' })
    expect(both).toContain('These are the beginning and the end of')
    expect(both.indexOf('Output')).toBeLessThan(both.indexOf('Compiling 4 files'))
    expect(both.indexOf('Errors')).toBeLessThan(both.indexOf('ENOSPC: no space left'))
    const errors = shown({ stdout: '  \n', stderr: 'Killed' })
    expect(errors).toContain('Killed')
    expect(errors).not.toContain('Output')
  })

  test('says why when nothing is left of it', () => {
    const none = { stdout: null, stderr: null }
    expect(shown(none)).toContain('It was deleted, or is kept elsewhere.')
    expect(shown(none, 'It is on node b.')).toContain('It is on node b.')
    expect(shown(none)).not.toContain('What is left of the log')
  })
})

describe('a clock that is wrong by an hour', () => {
  const HOUR = 3_600_000
  const now = Date.parse('2026-05-04T10:00:00Z')
  /** A page on a machine whose clock is ahead by this much, and that has heard the time from its server. */
  const shown = (aheadMs: number, child: ReactNode, cutOffAt: number | null = null) => {
    vi.useFakeTimers({ now: now + aheadMs })
    try {
      return renderToStaticMarkup(
        createElement(
          ClockOffset,
          { value: () => -aheadMs },
          createElement(CutOffAt, { value: cutOffAt }, child),
        ),
      ).replaceAll(/<[^>]*>/g, '')
    } finally {
      vi.useRealTimers()
    }
  }

  test('changes neither how long something has been running nor how long ago something was', () => {
    for (const aheadMs of [HOUR, 0, -HOUR]) {
      expect(shown(aheadMs, createElement(Moment, { at: now - 8 * 60_000 }))).toBe('8 m ago')
      expect(shown(aheadMs, createElement(Duration, { since: now - 95_000 }))).toBe(durationText(95_000))
      expect(shown(aheadMs, createElement(Countdown, { to: now + 34_000 }))).toBe('34 s')
    }
  })

  test('lets what was running stand at the moment that the connection was lost', () => {
    for (const aheadMs of [HOUR, -HOUR])
      expect(shown(aheadMs, createElement(Duration, { since: now - 95_000 }), now - 5_000)).toBe(
        durationText(90_000),
      )
  })
})
