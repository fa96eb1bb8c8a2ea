import { expect, test } from 'vitest'
import { LogFeed, type LogRead } from '../src/logs/log-feed.ts'
import { linesOfLog, pageOfLog, recorded } from './recorded-log.ts'

/** A log that grows, and a feed of it whose timers the test fires. */
function growing(first: string) {
  const pieces: [string, string][] = [['stdout', first]]
  const asked: LogRead[] = []
  let timer: (() => void) | null = null
  let stored = 1
  const log = () => recorded(pieces.slice(0, stored))
  const feed = new LogFeed({
    read: async (wanted) => {
      asked.push(wanted)
      const now = log()
      const size = now.bytes.length
      const [offset, limitBytes] =
        'tail' in wanted ? [Math.max(0, size - wanted.tail), wanted.tail] : [wanted.offset, wanted.limitBytes]
      return { ...pageOfLog(now, offset, limitBytes), status: 'writing', bytes: size, truncated: false }
    },
    later: (call) => {
      timer = call
      return () => {
        timer = null
      }
    },
  })
  return {
    feed,
    asked,
    /** Adds to the log; the store may have it later than the readers. */
    write(text: string, { isSent = true, isStored = true } = {}) {
      const offset = recorded(pieces).bytes.length
      pieces.push(['stdout', text])
      if (isStored) stored = pieces.length
      if (isSent) feed.take({ offset, stream: 'stdout', at: 1, text })
    },
    store() {
      stored = pieces.length
    },
    async tick() {
      const call = timer
      timer = null
      call?.()
      await new Promise((resolve) => setTimeout(resolve))
    },
    texts: () => feed.state.window.lines.map(({ raw }) => raw),
    all: () => linesOfLog(recorded(pieces)).map(({ raw }) => raw),
  }
}

test('live output is appended to what was read', async () => {
  const log = growing('one\n')
  await log.feed.openEnd()
  log.write('two\n')
  log.write('three\n')
  await log.tick()
  expect(log.texts()).toEqual(['one', 'two', 'three'])
  expect(log.asked).toEqual([{ tail: 262_144 }])
})

test('output that arrives while the log is opened is neither lost nor doubled', async () => {
  const log = growing('one\n')
  const opened = log.feed.openEnd()
  log.write('two\n')
  await opened
  log.write('three\n')
  await log.tick()
  expect(log.texts()).toEqual(log.all())
})

test('what the socket left out is read by range', async () => {
  const log = growing('one\n')
  await log.feed.openEnd()
  log.write('lost\n', { isSent: false })
  log.write('seen\n')
  await log.tick()
  expect(log.texts()).toEqual(log.all())
  expect(log.asked.slice(1)).toEqual([{ offset: 4, limitBytes: 262_144 }])
})

test('a hole that is not stored yet is read again', async () => {
  const log = growing('one\n')
  await log.feed.openEnd()
  log.write('late\n', { isSent: false, isStored: false })
  log.write('seen\n', { isStored: false })
  await log.tick()
  expect(log.texts()).toEqual(['one'])
  log.store()
  await log.tick()
  expect(log.texts()).toEqual(log.all())
})

test('a hole that is never stored is given up', async () => {
  const log = growing('one\n')
  await log.feed.openEnd()
  log.write('never\n', { isSent: false, isStored: false })
  log.write('seen\n', { isStored: false })
  for (let turn = 0; turn < 100; turn += 1) await log.tick()
  expect(log.asked.length).toBeLessThan(30)
})

test('the end of a run that nobody saw is read when the run is over', async () => {
  const log = growing('one\n')
  await log.feed.openEnd()
  log.write('last words\n', { isSent: false })
  await log.feed.catchUp()
  expect(log.texts()).toEqual(['one', 'last words'])
})

test('lines that come while the reader looks elsewhere are counted until they follow again', async () => {
  const log = growing('one\n')
  await log.feed.openEnd()
  log.feed.setFollowing(false)
  log.write('two\nthree\nfo')
  await log.tick()
  expect(log.feed.state.newLines).toBe(2)
  log.feed.setFollowing(true)
  expect(log.feed.state.newLines).toBe(0)
})

test('an answer for a place that was left is dropped', async () => {
  const log = growing('x\n'.repeat(400_000))
  const first = log.feed.openAround(0)
  const second = log.feed.openEnd()
  await Promise.all([first, second])
  expect(log.feed.state.window.end).toBe(800_000)
})

test('pages are read at either end, one at a time', async () => {
  const log = growing('x\n'.repeat(400_000))
  await log.feed.openEnd()
  const before = log.feed.state.window.start
  await Promise.all([log.feed.extendBefore(), log.feed.extendBefore()])
  expect(log.asked).toHaveLength(2)
  expect(log.feed.state.window.start).toBe(before - 262_144)
  await log.feed.extendAfter()
  expect(log.asked).toHaveLength(2)
})
