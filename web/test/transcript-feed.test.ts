import { expect, test } from 'vitest'
import type { Step } from '../../src/kinds/run/shapes/transcript.ts'
import { transcriptReader } from '../../src/transcript/reader.ts'
import { piecesOf } from '../src/logs/lines.ts'
import { MOST_STEPS, TranscriptFeed } from '../src/logs/transcript-feed.ts'
import { pageOfLog, recorded } from './recorded-log.ts'

const call = (id: number) =>
  `${JSON.stringify({
    type: 'assistant',
    message: {
      content: [{ type: 'tool_use', id: `call ${id}`, name: 'Bash', input: { command: `echo ${id}` } }],
    },
  })}\n`
const result = (id: number) =>
  `${JSON.stringify({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: `call ${id}`, content: `said ${id}` }] },
  })}\n`

/** A server that reads a growing log with the same reader, and a feed whose timers the test fires. */
function growing(first: string[]) {
  const pieces: [string, string][] = first.map((text) => ['stdout', text])
  let timer: (() => void) | null = null
  let known: { count: number; all: ReturnType<typeof readAll> } | null = null
  const read = () => {
    if (known?.count !== pieces.length) known = { count: pieces.length, all: readAll() }
    return known.all
  }
  const readAll = () => {
    const log = recorded(pieces)
    const reader = transcriptReader('claude_local')
    const steps = new Map<number, Step>()
    for (const { offset, stream, text } of piecesOf(pageOfLog(log, 0, log.bytes.length)))
      for (const step of reader.take(offset, stream, text)) steps.set(step.n, step)
    return { log, steps: [...steps.values()], resume: reader.state() }
  }
  const feed = new TranscriptFeed({
    readSteps: async (wanted) => {
      const { log, steps, resume } = read()
      const size = log.bytes.length
      const some =
        'before' in wanted
          ? steps.filter(({ n }) => n < wanted.before).slice(-wanted.limit)
          : steps.filter(({ n }) => n > wanted.after).slice(0, wanted.limit)
      const about = {
        runId: 'a run',
        adapterType: 'claude_local',
        status: 'writing' as const,
        isComplete: true,
      }
      return { ...about, steps: some, total: steps.length, readBytes: size, bytes: size, resume }
    },
    readLog: async ({ offset, limitBytes }) => {
      const { log } = read()
      return {
        ...pageOfLog(log, offset, limitBytes),
        status: 'writing',
        bytes: log.bytes.length,
        truncated: false,
      }
    },
    later: (set) => {
      timer = set
      return () => {
        timer = null
      }
    },
  })
  return {
    feed,
    write(text: string, isSent = true) {
      const offset = recorded(pieces).bytes.length
      pieces.push(['stdout', text])
      if (isSent) feed.take({ offset, stream: 'stdout', at: 1, text })
    },
    async tick() {
      const due = timer
      timer = null
      due?.()
      await new Promise((resolve) => setTimeout(resolve))
    },
    titles: () => feed.snapshot().steps.map(({ n, title, output }) => [n, title, output]),
  }
}

test('live output continues where the server stopped reading, in the middle of a line', async () => {
  const log = growing([call(1), result(1), call(2).slice(0, 40)])
  await log.feed.openEnd()
  expect(log.titles()).toEqual([[1, 'echo 1', 'said 1']])
  log.write(call(2).slice(40))
  await log.tick()
  expect(log.feed.snapshot().steps.at(-1)).toMatchObject({ n: 2, title: 'echo 2', isOpen: true })
  log.write(result(2))
  await log.tick()
  expect(log.titles().at(-1)).toEqual([2, 'echo 2', 'said 2'])
})

test('what the socket left out is read from the log', async () => {
  const log = growing([call(1)])
  await log.feed.openEnd()
  log.write(result(1), false)
  log.write(call(2))
  await log.tick()
  expect(log.titles()).toEqual([
    [1, 'echo 1', 'said 1'],
    [2, 'echo 2', null],
  ])
})

test('the last line of a run counts without its end', async () => {
  const log = growing([call(1)])
  await log.feed.openEnd()
  log.write('Segmentation fault', false)
  await log.feed.catchUp(true)
  expect(log.titles().at(-1)).toEqual([2, 'Segmentation fault', null])
})

test('steps that come while the reader looks elsewhere are counted', async () => {
  const log = growing([call(1)])
  await log.feed.openEnd()
  log.feed.setFollowing(false)
  log.write(result(1) + call(2) + call(3))
  await log.tick()
  expect(log.feed.snapshot().newSteps).toBe(2)
  log.feed.setFollowing(true)
  expect(log.feed.snapshot().newSteps).toBe(0)
})

test('few steps are in memory, however many there are, and they are neighbours', async () => {
  const log = growing(Array.from({ length: MOST_STEPS + 900 }, (_, at) => call(at) + result(at)))
  await log.feed.openEnd()
  for (let page = 0; page < 20; page += 1) await log.feed.extendBefore()
  const numbers = () => log.feed.snapshot().steps.map(({ n }) => n)
  expect([numbers()[0], numbers().length]).toEqual([1, MOST_STEPS])
  // The end is no longer in memory: new steps do not make a gap.
  log.write(call(-1))
  await log.tick()
  expect(numbers().at(-1)).toBe(MOST_STEPS)
  for (let page = 0; page < 20; page += 1) await log.feed.extendAfter()
  expect(numbers().at(-1)).toBe(MOST_STEPS + 901)
  expect(numbers().every((n, at) => at === 0 || n === numbers()[at - 1]! + 1)).toBe(true)
})
