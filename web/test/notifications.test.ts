import { describe, expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { choiceIn } from '../src/notifications/choice.ts'
import { type Notice, noticeOf, WaitingNotices, type Waits, waitsIn } from '../src/notifications/waiting.ts'
import type { InboxTab } from '../src/things/inbox/kinds.ts'

/** What is told of what waits, when, and in which words. */

const question = (id: string, about: string | null = null): Waits => ({ id, tab: 'questions', about })
const result = (id: string): Waits => ({ id, tab: 'results', about: null })

/** A page that nobody sees, and a clock that the test moves. */
function page() {
  const timers: { at: number; run: () => void }[] = []
  const shown = new Map<InboxTab, Notice>()
  const told: Notice[] = []
  const state = { now: 0, isInView: false, muted: [] as InboxTab[] }
  const notices = new WaitingNotices(
    {
      after: (waitMs, run) => timers.push({ at: state.now + waitMs, run }),
      now: () => state.now,
      isMuted: (tab) => state.muted.includes(tab),
      isInView: async () => state.isInView,
      show: (notice) => {
        told.push(notice)
        shown.set(notice.tab, notice)
      },
      withdraw: (tab) => shown.delete(tab),
    },
    'Shop',
  )
  async function pass(ms: number) {
    const end = state.now + ms
    for (;;) {
      const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      timers.splice(timers.indexOf(next), 1)
      state.now = next.at
      next.run()
      // Whether anybody sees the page is asked of the browser.
      for (let n = 0; n < 5; n++) await Promise.resolve()
    }
    state.now = end
  }
  const titles = () => told.map(({ title }) => title)
  return { state, notices, pass, shown, told, titles }
}

describe('what waits while nobody looks', () => {
  test('is one notification for each kind, however much comes together', async () => {
    const { notices, pass, titles } = page()
    for (const id of ['a', 'b', 'c']) notices.add(question(id))
    notices.add(result('d'))
    await pass(1_000)
    expect(titles()).toEqual(['3 questions wait for you', 'A result waits for your review'])
  })

  test('replaces what was told of its kind, counts all that nobody has seen, and waits ten seconds', async () => {
    const { notices, pass, titles, shown } = page()
    notices.add(question('a'))
    await pass(2_000)
    notices.add(question('b'))
    await pass(8_000)
    expect(titles()).toHaveLength(1)
    await pass(1_000)
    expect(titles()).toEqual(['A question waits for you', '2 questions wait for you'])
    expect(shown.size).toBe(1)
  })

  test('is not told when it was answered first, and withdrawn when it is answered later', async () => {
    const { notices, pass, titles, shown } = page()
    notices.add(question('a'))
    notices.remove('a')
    await pass(20_000)
    expect(titles()).toEqual([])
    notices.add(question('b'))
    notices.add(question('c'))
    await pass(20_000)
    notices.remove('b')
    expect(shown.has('questions')).toBe(true)
    notices.remove('c')
    expect(shown.size).toBe(0)
  })

  test('is not told when the page is in view, nor counted afterwards', async () => {
    const { notices, pass, titles, state } = page()
    state.isInView = true
    notices.add(question('a'))
    await pass(1_000)
    state.isInView = false
    notices.add(question('b'))
    await pass(20_000)
    expect(titles()).toEqual(['A question waits for you'])
  })

  test('is withdrawn when somebody looks', async () => {
    const { notices, pass, shown } = page()
    notices.add(question('a'))
    notices.add(result('b'))
    await pass(1_000)
    expect(shown.size).toBe(2)
    notices.seen()
    expect(shown.size).toBe(0)
  })

  test('is not told of a kind that is muted', async () => {
    const { notices, pass, titles, state } = page()
    state.muted = ['questions']
    notices.add(question('a'))
    notices.add(result('b'))
    await pass(1_000)
    expect(titles()).toEqual(['A result waits for your review'])
  })
})

const event = (change: Partial<LiveEvent>) =>
  ({ seq: 1, type: 'inbox_added', taskId: null, payload: {}, ...change }) as LiveEvent
const added = (item: Record<string, unknown>, title?: string) => waitsIn(event({ payload: { item } }), title)

describe('words', () => {
  test('say of one thing what it is about and lead to it, and of several how many they are', () => {
    expect(noticeOf('questions', [question('task:a:1', 'Build · alpha')], 'Shop')).toEqual({
      tab: 'questions',
      title: 'A question waits for you',
      text: 'Build · alpha\nShop',
      to: '/inbox?kind=questions&item=task%3Aa%3A1',
    })
    expect(noticeOf('results', [result('a'), result('b')], 'Shop')).toMatchObject({
      text: 'Shop',
      to: '/inbox?kind=results',
    })
  })

  test('are cut when a title is long', () => {
    const { text } = noticeOf('questions', [question('a', 'x'.repeat(5_000))], 'Shop')
    expect(text.length).toBeLessThan(250)
  })

  test('are those of the task and the agent, and of an alert its sentence; codes are not shown', () => {
    expect(added({ id: 'task:a:1', kind: 'review', agent: 'alpha', reason: 'verify' }, 'Build')).toEqual({
      id: 'task:a:1',
      tab: 'results',
      about: 'Build · alpha',
    })
    expect(added({ id: 'raised:a', kind: 'alert', agent: null, reason: 'The disk is full.' })).toEqual({
      id: 'raised:a',
      tab: 'problems',
      about: 'The disk is full.',
    })
    expect(added({ id: 'plan:a', kind: 'plan', agent: null, reason: null })?.about).toBeNull()
  })

  test('are none of other events, of kinds that are newer than the page, and of what is no item', () => {
    expect(waitsIn(event({ type: 'inbox_closed', payload: { id: 'a' } }), undefined)).toBeNull()
    expect(added({ id: 'a', kind: 'constructor' })).toBeNull()
    expect(added({ id: 'a', kind: 'tomorrow' })).toBeNull()
    expect(waitsIn(event({}), undefined)).toBeNull()
  })
})

test('the choice is the usual one after stored text of another version', () => {
  const usual = { isOn: null, muted: ['finished'] }
  expect(choiceIn(null)).toEqual(usual)
  for (const text of ['', '{', 'null', '7', '{"isOn":"yes","muted":7}']) expect(choiceIn(text)).toEqual(usual)
  expect(choiceIn('{"isOn":true,"muted":["questions","tomorrow"]}')).toEqual({
    isOn: true,
    muted: ['questions'],
  })
})
