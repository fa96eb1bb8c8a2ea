import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LONGEST_LINE } from '../../src/adapters/child/lines.ts'
import { codexAdapter } from '../../src/adapters/codex/adapter.ts'
import { processAdapter } from '../../src/adapters/process.ts'
import type { AgentRunAdapter } from '../../src/adapters/protocol.ts'
import { FirstAndLast, linesOf } from '../../src/executor/lines.ts'
import { readLostLog } from '../../src/executor/lost-log.ts'
import { localFileStore } from '../../src/logs/local-file.ts'
import type { LogEntry, RunLogHandle, RunLogStore } from '../../src/logs/protocol.ts'

/** The log of a lost run is read as a stream, however large it is. */

const MB = 1024 * 1024
/** Windows of 1 MiB, of which one may be on its way while the next is read. */
const MOST_AT_ONCE = 3 * MB
const TIMES = 56

let folder: string
let store: RunLogStore
let large: RunLogHandle

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-lost-log-'))
  store = localFileStore(folder)
  large = await store.begin({ workspaceId: '1', agentId: 'a', runId: 'large' })
  const line = `${JSON.stringify({ baton: 'status', message: 'x'.repeat(1_000) })}\n`
  const megabyte = line.repeat(Math.ceil(MB / line.length))
  await append(large, `{"baton":"session","sessionId":"s-1"}\n`)
  for (let time = 0; time < TIMES; time++) await append(large, megabyte)
  await append(large, 'It said why.\n', 'stderr')
  await append(large, '{"baton":"usage","usage":{"inputTokens":5,"outputTokens":7}}\n')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const append = (handle: RunLogHandle, chunk: string, stream: LogEntry['stream'] = 'stdout') =>
  store.append(handle, [{ stream, chunk, ts: '2026-01-01T00:00:00.000Z' }])

/** Counts the bytes the log returned and the adapter read: the difference is in memory. */
function watched(adapter: AgentRunAdapter) {
  const seen = { given: 0, taken: 0, mostAtOnce: 0, longestPiece: 0 }
  const counting: RunLogStore = {
    ...store,
    async *stream(handle, stream) {
      for await (const piece of store.stream(handle, stream)) {
        seen.given += piece.length
        seen.longestPiece = Math.max(seen.longestPiece, piece.length)
        seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.given - seen.taken)
        yield piece
      }
    },
  }
  const reading: Pick<AgentRunAdapter, 'readLineStream'> = {
    readLineStream(lines, state) {
      const counted = async function* () {
        for await (const line of lines) {
          yield line
          seen.taken += line.length + 1
        }
      }
      return adapter.readLineStream!(counted(), state)
    },
  }
  return { seen, counting, reading }
}

test('a log of more than 50 MB is never in memory as a whole, and is read to its end', async () => {
  const { seen, counting, reading } = watched(processAdapter)
  const { read, excerpts } = await readLostLog(counting, large, reading, {})
  expect(read).toMatchObject({
    usage: { inputTokens: 5, outputTokens: 7 },
    usageBasis: 'partial',
    sessionId: 's-1',
  })
  expect(excerpts.stdout).toMatch(/^\{"baton":"session".*"outputTokens":7\}\}\n$/s)
  expect(excerpts.stderr).toBe('It said why.\n')
  expect(seen.given).toBeGreaterThan(50 * MB)
  expect(seen.longestPiece).toBeLessThanOrEqual(MB)
  expect(seen.mostAtOnce).toBeLessThanOrEqual(MOST_AT_ONCE)
})

test('an adapter that accepts only lists of lines gets the first and the last', async () => {
  let length = 0
  const first: string[] = []
  let last = ''
  const { read } = await readLostLog(
    store,
    large,
    {
      readLines(lines) {
        for (const line of lines) {
          length += line.length
          if (first.length < 1) first.push(line)
          last = line
        }
        return { sessionId: 'known' }
      },
    },
    {},
  )
  expect(read).toEqual({ sessionId: 'known' })
  expect(first).toEqual(['{"baton":"session","sessionId":"s-1"}'])
  expect(last).toContain('"outputTokens":7')
  expect(length).toBeLessThan(18 * MB)
  expect(length).toBeGreaterThan(15 * MB)
})

test('an adapter that stops reading early costs no excerpt', async () => {
  const handle = await store.begin({ workspaceId: '1', agentId: 'a', runId: 'early' })
  await append(handle, '{"a":1}\n{"b":2}\nthe end\n')
  const readLineStream = async (lines: AsyncIterable<string>) => {
    for await (const line of lines) return { sessionId: line }
    return {}
  }
  const { read, excerpts } = await readLostLog(store, handle, { readLineStream }, {})
  expect(read).toEqual({ sessionId: '{"a":1}' })
  expect(excerpts.stdout).toBe('{"a":1}\n{"b":2}\nthe end\n')
})

test('the built-in adapters read a stream as they read a list', async () => {
  const lines = [
    '{"type":"thread.started","thread_id":"t-1"}',
    '{"type":"turn.completed","usage":{"input_tokens":9,"cached_input_tokens":2,"output_tokens":3}}',
  ]
  async function* oneByOne() {
    yield* lines
  }
  expect(await codexAdapter.readLineStream!(oneByOne(), {})).toEqual(codexAdapter.readLines!(lines, {}))
})

test('a line without an end does not fill the memory, and costs only itself', async () => {
  async function* pieces() {
    yield '{"a":1}\n{"long":"'
    for (let at = 0; at <= LONGEST_LINE; at += MB) yield 'x'.repeat(MB)
    yield '"}\n{"b":2}'
  }
  const lines: string[] = []
  for await (const line of linesOf(pieces(), () => undefined)) lines.push(line)
  expect(lines).toEqual(['{"a":1}', '{"b":2}'])
})

test('of many lines the first and the last are kept, in order, and the very last in any case', () => {
  const kept = new FirstAndLast({ firstLength: 4, lastLength: 6 })
  for (const line of ['aa', 'bb', 'cc', 'dd', 'ee', 'ff', 'gg']) kept.take(line)
  expect([...kept]).toEqual(['aa', 'bb', 'ee', 'ff', 'gg'])
  kept.take('a very long line')
  expect([...kept]).toEqual(['aa', 'bb', 'a very long line'])
})
