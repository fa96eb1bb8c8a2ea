import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { InboxCount } from '../src/live/inbox-count.ts'
import { closedWords } from '../src/pages/inbox/rows.ts'
import { plainWords, sentence } from '../src/parts/wording.ts'
import { param } from '../src/search-params.ts'
import { endedMission } from '../src/shell/mission-ends.ts'
import { actWords, canBe, type Hit, nameOfHit, verbIn } from '../src/shell/palette-words.ts'
import { headline, type InboxItem, lookOf, OLDER_INBOX_TABS } from '../src/things/inbox/kinds.ts'

const hit = (kind: Hit['kind'], state: string) =>
  ({ kind, state, id: 'dev-1', title: 'Migrate billing' }) as Hit
const event = (seq: number, type: string, payload: object) =>
  ({ seq, type, payload, missionId: 'm' }) as unknown as LiveEvent

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

test('addresses with the old word for problems still open', () => {
  expect(param.oneOf(['problems'], OLDER_INBOX_TABS)('trouble')).toBe('problems')
})
