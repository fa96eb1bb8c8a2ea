import { describe, expect, test } from 'vitest'
import type { LogStream } from '../src/logs/lines.ts'
import { RunTail } from '../src/pages/watch/run-tail.ts'
import {
  afterEvent,
  type Heard,
  shownAt,
  troubleOf,
  type WatchedRun,
  watched,
  withEarlier,
} from '../src/pages/watch/wall.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')

/** Writes to a tail as a program does, at a time and an offset that grow. */
function printing(adapterType: string, start = 0) {
  const tail = new RunTail(adapterType)
  let offset = start
  const print = (text: string, stream: LogStream = 'stdout') => {
    tail.take({ offset, stream, text, at: NOW })
    offset += Buffer.byteLength(text)
  }
  const skip = (bytes: number) => {
    offset += bytes
  }
  const texts = (isLive = true) => tail.lines(isLive).map(({ text }) => text)
  return { tail, print, skip, texts }
}

const said = (...content: object[]) => `${JSON.stringify({ type: 'assistant', message: { content } })}\n`
const bash = (id: string, command: string) => ({ type: 'tool_use', id, name: 'Bash', input: { command } })
const returned = (id: string, output: string, isError = false) =>
  `${JSON.stringify({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content: output, is_error: isError }] },
  })}\n`

describe('the end of what an agent prints', () => {
  test('is steps in words, and never its JSON', () => {
    const { tail, print, texts } = printing('claude_local')
    tail.open([])
    print(said({ type: 'text', text: 'I will run\nthe **tests** first.' }))
    print(said(bash('a', 'npm test')))
    expect(tail.lines(true)).toMatchObject([
      { text: 'I will run the tests first.', look: 'said', since: null },
      { text: '$ npm test', since: NOW },
    ])
    print(returned('a', 'one\n\ntwo\nPASS test/login.test.ts\n'))
    expect(texts()).toEqual([
      'I will run the tests first.',
      '$ npm test',
      '  two',
      '  PASS test/login.test.ts',
      'thinks,',
    ])
    expect(texts(false).at(-1)).toBe('  PASS test/login.test.ts')
  })

  test('says how long it thinks, and what failed', () => {
    const { tail, print } = printing('claude_local')
    tail.open([])
    print(said(bash('a', 'npm test')))
    print(returned('a', 'exit 1', true))
    expect(tail.lines(true)).toMatchObject([
      { text: '$ npm test', look: 'bad' },
      { text: '  exit 1', look: 'bad' },
      { text: 'thinks,', look: 'quiet', since: NOW },
    ])
    print(said({ type: 'thinking', thinking: 'The port is taken.' }))
    expect(tail.lines(true).at(-1)).toMatchObject({ text: 'thinks: The port is taken.', since: NOW })
  })

  test('is plain text of other programs, eight lines at most, with the line that is being written', () => {
    const { tail, print, texts } = printing('process')
    tail.open([])
    for (let line = 1; line <= 20; line++) print(`\u001b[32mline ${line}\u001b[0m\n`)
    print('Downloading 10 %\rDownloading 60 %')
    expect(texts()).toEqual([
      ...Array.from({ length: 7 }, (_, place) => `line ${14 + place}`),
      'Downloading 60 %',
    ])
  })

  test('begins with the end of its log; output that arrives during the read is not shown twice', () => {
    const { tail, print, texts } = printing('process', 103)
    print('two\n')
    print('three\n')
    expect(texts()).toEqual([])
    tail.open([{ offset: 100, stream: 'stdout', at: NOW, text: 'ne\ntwo\nth' }])
    expect(texts()).toEqual(['two', 'three'])
  })

  test('leaves out the rest of a line of JSON whose beginning it does not know', () => {
    const { tail, print, skip, texts } = printing('claude_local', 500)
    tail.open([])
    print(said({ type: 'text', text: 'whole' }))
    skip(1_000)
    print('ent":[{"type":"text"}]}}\n')
    print(said({ type: 'text', text: 'after the hole' }))
    expect(texts(false)).toEqual(['whole', 'after the hole'])
  })

  test('counts calls that are the same, until another one comes', () => {
    const { tail, print } = printing('claude_local')
    tail.open([])
    for (const id of ['a', 'b', 'c']) {
      print(said(bash(id, 'curl localhost')))
      print(returned(id, 'refused'))
    }
    expect(tail.equalCalls).toBe(3)
    print(said(bash('d', 'npm start')))
    expect(tail.equalCalls).toBe(1)
  })
})

describe('the wall', () => {
  const run = (id: string, rest: Partial<WatchedRun> = {}) =>
    ({
      ...watched({ id, status: 'running', statusMessage: null, finishedAt: null } as never),
      ...rest,
    }) as WatchedRun
  const event = (type: string, runId: string, payload: object, missionId: string | null = null) =>
    ({ type, runId, missionId, payload, at: '2026-01-01T11:59:50Z' }) as never
  const LOOPS = { words: 'the same call 3 times', isLoop: true }
  const quiet = (): Heard | undefined => undefined
  const ids = (runs: readonly WatchedRun[], heard: Record<string, Partial<Heard>> = {}) =>
    shownAt(runs, NOW, (id) => ({ heardAt: null, equalCalls: 0, ...heard[id] })).map(({ run: { id } }) => id)

  test('shows trouble first, then what runs longest, then what ended, for half a minute', () => {
    const runs = [
      run('b'),
      run('a', { status: 'failed', finishedAt: '2026-01-01T11:59:31Z' }),
      run('d', { flag: LOOPS }),
      run('c', { status: 'succeeded', finishedAt: '2026-01-01T11:59:29Z' }),
      run('e'),
      run('f', { budgetPercent: 93 }),
    ]
    expect(ids(runs)).toEqual(['d', 'f', 'b', 'e', 'a'])
    expect(ids(runs, { e: { heardAt: NOW - 200_000 }, b: { equalCalls: 3 } })).toEqual([
      'b',
      'd',
      'e',
      'f',
      'a',
    ])
  })

  test('says what is wrong', () => {
    const words = (heard: Partial<Heard>, rest: Partial<WatchedRun> = {}) =>
      troubleOf(run('a', rest), { heardAt: NOW, equalCalls: 0, ...heard }, NOW)?.words ?? null
    expect(words({})).toBe(null)
    expect(words({ equalCalls: 2, heardAt: NOW - 179_000 }, { budgetPercent: 89 })).toBe(null)
    expect(words({ equalCalls: 4 })).toBe('same call 4 times')
    expect(words({ heardAt: NOW - 180_000 })).toBe('silent for 3 m')
    expect(words({}, { budgetPercent: 90.4 })).toBe('90 % of the mission’s budget is spent')
    expect(words({ equalCalls: 4 }, { status: 'succeeded' })).toBe(null)
  })

  test('follows the events of its runs, and no others', () => {
    const runs = [run('a'), run('b', { missionId: 'm' })]
    expect(afterEvent(runs, event('run_flagged', 'x', { detail: 'loops' }))).toBe(runs)
    expect(afterEvent(runs, event('cost_snapshot', 'x', { percentUsed: 95 }, 'other'))).toBe(runs)
    expect(ids(afterEvent(runs, event('cost_snapshot', 'x', { percentUsed: 95 }, 'm')))).toEqual(['b', 'a'])
    const flagged = afterEvent(runs, event('run_flagged', 'b', { detail: 'loops' }))
    expect(ids(flagged)).toEqual(['b', 'a'])
    const ended = afterEvent(
      flagged,
      event('run_finished', 'b', { status: 'cancelled', errorCode: 'cancelled' }),
    )
    expect(ended[1]).toMatchObject({
      ...{ status: 'cancelled', errorCode: 'cancelled', finishedAt: '2026-01-01T11:59:50Z' },
    })
  })

  test('a loop is over with another call, and silence with any sign of life', () => {
    const said = event('run_status', 'a', { message: 'waits', color: 'yellow' })
    expect(afterEvent([run('a')], said)).toMatchObject([{ statusMessage: 'waits', statusColor: 'yellow' }])
    const status = (runs: readonly WatchedRun[], message: string) =>
      afterEvent(runs, event('run_status', 'a', { message }))
    const flag = (code: string) =>
      afterEvent(
        status(status([run('a')], 'uses Bash'), 'uses Read'),
        event('run_flagged', 'a', { code, detail: 'x' }),
      )
    const isFlagged = (runs: readonly WatchedRun[]) => shownAt(runs, NOW, quiet)[0]!.trouble !== null
    expect(isFlagged(status(flag('loop_detected'), 'uses Bash'))).toBe(true)
    expect(isFlagged(status(flag('loop_detected'), 'uses Edit'))).toBe(false)
    expect(isFlagged(status(flag('no_progress'), 'uses Bash'))).toBe(false)
  })

  test('keeps what it noticed and what ended when it is read again', () => {
    const earlier = [
      run('a', { flag: LOOPS, budgetPercent: 95 }),
      run('b', { status: 'failed', finishedAt: '2026-01-01T11:59:50Z' }),
      run('c'),
    ]
    const again = withEarlier([run('a'), run('d')], earlier)
    expect(again.map(({ id }) => id)).toEqual(['a', 'd', 'b'])
    expect(again[0]).toMatchObject({ flag: LOOPS, budgetPercent: 95 })
  })
})
