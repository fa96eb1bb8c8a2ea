import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { ClaudeReader } from '../../src/adapters/claude/reader.ts'
import type { OutputReader, Verdict } from '../../src/adapters/cli-lines.ts'
import { dollarText, picoDollars, sessionIdIn, signatureOf } from '../../src/adapters/cli-lines.ts'
import { CodexReader } from '../../src/adapters/codex/reader.ts'
import { GeminiReader } from '../../src/adapters/gemini/reader.ts'
import { OpencodeReader } from '../../src/adapters/opencode/reader.ts'
import { timeOf } from '../../src/transcript/json.ts'
import { rounds } from '../support/rounds.ts'

/** How long a call took is no part of what was recorded. */
beforeEach(() => {
  vi.spyOn(performance, 'now').mockReturnValue(0)
  return () => vi.restoreAllMocks()
})

const folder = join(import.meta.dirname, '../contracts')
const part = (name: string, kind: string) => readFileSync(join(folder, `${name}.${kind}`), 'utf8')
const recording = (name: string) => ({
  lines: part(name, 'stdout').split('\n'),
  code: Number(part(name, 'rc')),
  stderrTail: part(name, 'stderr'),
})

type Json = Record<string, unknown>
const READERS: Record<string, (state: Json) => OutputReader> = {
  claude: (state) => new ClaudeReader(state),
  codex: (state) => new CodexReader(state),
  gemini: () => new GeminiReader(),
  opencode: () => new OpencodeReader(),
}
const readerFor = (name: string, state: Json = {}) => READERS[name.split('.')[0]!]!(state)

function read(name: string, state: Json = {}, change: (lines: string[]) => string[] = (lines) => lines) {
  const { lines, ...exit } = recording(name)
  return readLines(name, change(lines), exit, state)
}

function readLines(
  name: string,
  lines: string[],
  exit: { code: number; stderrTail: string },
  state: Json = {},
) {
  const reader = readerFor(name, state)
  const happenings = lines.flatMap((line) => reader.take(line))
  const verdict = reader.end(exit)
  return { happenings, verdict, facts: reader.facts() }
}

const tokens = (inputTokens: number, cachedInputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cachedInputTokens,
})
const kinds = (happenings: { kind: string }[], kind: string) =>
  happenings.filter((happening) => happening.kind === kind)

const ENDS: [name: string, verdict: Partial<Verdict>][] = [
  ['claude.stream.tool', { kind: 'done', text: 'Hello from fake' }],
  ['claude.json.success', { kind: 'done', text: 'Hello from fake' }],
  ['claude.json.resume', { kind: 'done', text: 'Hello from fake' }],
  ['claude.stream.max_turns', { kind: 'done', wantsMore: true }],
  ['claude.stream.http401', { kind: 'failed', code: 'not_logged_in' }],
  ['claude.stream.not_logged_in', { kind: 'failed', code: 'not_logged_in' }],
  ['claude.stream.http429', { kind: 'failed', code: 'rate_limited' }],
  ['claude.stream.resume_unknown', { kind: 'unknown_session' }],
  ['codex.success', { kind: 'done', text: 'Hello from fake' }],
  ['codex.resume', { kind: 'done', text: 'Hello from fake' }],
  ['codex.tool', { kind: 'done', text: 'Hello from fake' }],
  ['codex.http401', { kind: 'failed', code: 'not_logged_in' }],
  ['codex.turn_failed', { kind: 'failed', code: 'nonzero_exit' }],
  ['codex.resume_unknown', { kind: 'unknown_session' }],
  ['gemini.stream.tool', { kind: 'done', text: 'Hello from fake' }],
  ['opencode.success', { kind: 'done', text: 'Hello from fake' }],
  ['opencode.tool', { kind: 'done', text: 'Hello from fake' }],
]
const DONE = ENDS.filter(([, { kind }]) => kind === 'done').map(([name]) => name)

describe('recorded output of the programs', () => {
  test.each(ENDS)('%s is parsed', (name, verdict) => {
    expect(read(name).verdict).toMatchObject(verdict)
  })

  test.each(ENDS)('%s means the same with garbage between its lines', (name) => {
    const nonsense = [
      '',
      'YOLO mode is enabled.',
      '{"type":',
      '{}',
      '[]',
      'null',
      '{"type":7}',
      '{"type":"new"}',
    ]
    const whole = read(name)
    const mangled = read(name, {}, (lines) => lines.flatMap((line) => [...nonsense, line]))
    // A line of an unknown type means that something began, which never happens with an unknown session.
    if (whole.verdict.kind !== 'unknown_session') expect(mangled.verdict).toEqual(whole.verdict)
    expect(mangled.facts).toEqual(whole.facts)
    expect(mangled.happenings).toEqual(whole.happenings)
  })

  test.each(ENDS)('%s means the same whatever the order of its keys', (name) => {
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, inner]) => [key, turned(inner)]),
      )
    }
    const whole = read(name)
    const other = read(name, {}, (lines) =>
      lines.map((line) => (line === '' ? '' : JSON.stringify(turned(JSON.parse(line))))),
    )
    expect(other).toEqual(whole)
  })

  test.each(DONE)('%s is successful only when all of it has arrived', (name) => {
    const { lines, ...exit } = recording(name)
    const text = lines.join('\n').trimEnd()
    const lastLine = text.lastIndexOf('\n') + 1
    // Every cut within the last line, and many before it.
    for (let end = 0; end < text.length; end += end < lastLine ? 97 : 1) {
      const { verdict } = readLines(name, text.slice(0, end).split('\n'), { ...exit, code: 0 })
      const isWholeStep = name.startsWith('opencode.tool') && end > text.indexOf('"step_finish"')
      if (!isWholeStep) expect(verdict.kind, `after ${end} characters`).not.toBe('done')
    }
    expect(readLines(name, text.split('\n'), exit).verdict.kind).toBe('done')
  })
})

describe('parsers', () => {
  const value = fc.jsonValue({ maxDepth: 3 })
  const line = fc.oneof(
    fc.string(),
    fc
      .record({ type: fc.constantFrom('result', 'assistant', 'user', 'system', 'init', 'message', 'text') })
      .chain((event) =>
        fc
          .dictionary(fc.constantFrom('message', 'part', 'item', 'usage', 'stats', 'content'), value)
          .map((more) => JSON.stringify({ ...event, ...more })),
      ),
    value.map((any) => JSON.stringify(any)),
    fc.constantFrom(...ENDS.flatMap(([name]) => recording(name).lines)),
  )

  test.each(Object.keys(READERS))('of %s accept any lines, and never count below zero', (name) => {
    const state = fc.record({ sessionId: value, counted: value })
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 30 }),
        state,
        fc.integer({ min: 0, max: 255 }),
        (lines, before, code) => {
          const { facts } = readLines(name, lines, { code, stderrTail: '' }, before)
          if (facts.usage) {
            expect(facts.usage.inputTokens).toBeGreaterThanOrEqual(0)
            expect(facts.usage.outputTokens).toBeGreaterThanOrEqual(0)
          }
          expect(JSON.parse(JSON.stringify(facts))).toEqual(facts)
        },
      ),
      { numRuns: rounds(100, 500) },
    )
  })
})

describe('claude', () => {
  const resultOf = (fields: Json) =>
    JSON.stringify({ type: 'result', session_id: 's-1', subtype: 'success', is_error: false, ...fields })
  const init = (fields: Json = {}) =>
    JSON.stringify({ type: 'system', subtype: 'init', session_id: 's-1', model: 'm', ...fields })
  const assistant = (id: string, output: number, content: Json[] = []) =>
    JSON.stringify({
      type: 'assistant',
      message: {
        id,
        content,
        usage: { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: output },
      },
    })
  const readClaude = (lines: string[], { state = {}, code = 0 }: { state?: Json; code?: number } = {}) =>
    readLines('claude', lines, { code, stderrTail: 'It said so.' }, state)

  test('reports session, tools, usage and cost', () => {
    const { facts, happenings } = read('claude.stream.tool')
    expect(facts).toMatchObject({
      sessionId: '00273c0e-22a3-4cea-a888-c99f654c595f',
      usage: tokens(200, 80, 27),
      usageBasis: 'reported',
      costUsd: '0.001356',
      model: 'claude-opus-5-5',
    })
    expect(kinds(happenings, 'call')).toEqual([
      {
        kind: 'call',
        signature: 'Bash {"command":"echo hi","description":"say hi"}',
        isError: false,
        tookMs: 0,
      },
    ])
    expect(kinds(happenings, 'activity')).toHaveLength(2)
    expect(kinds(happenings, 'session')).toHaveLength(1)
    expect(kinds(happenings, 'usage').map((happening) => (happening as unknown as Json).usage)).toMatchObject(
      [tokens(100, 40, 1), tokens(200, 80, 2), tokens(200, 80, 27)],
    )
  })

  test('that counts dollars over the session is charged for this run only', () => {
    const first = read('claude.json.success')
    expect(first.facts.costUsd).toBe('0.000548')
    const second = read('claude.json.resume', first.facts.runtimeStatePatch)
    expect(second.facts.costUsd).toBe('0.000548')
    expect(second.facts.usage).toMatchObject(tokens(100, 40, 7))
  })

  test('that counts dollars for the process is charged for all of it', () => {
    const first = read('claude.json.success')
    const again = read('claude.json.success', first.facts.runtimeStatePatch)
    expect(again.facts.costUsd).toBe('0.000548')
  })

  test('that used much more in this process than ever before is not treated as counting over the session', () => {
    const counted = (cost: number, input: number) => ({
      total_cost_usd: cost,
      usage: { input_tokens: input, output_tokens: 10 },
      modelUsage: { m: { inputTokens: input, outputTokens: 10, costUSD: cost } },
    })
    const before = readClaude([init(), resultOf(counted(0.001, 100))]).facts.runtimeStatePatch
    const after = readClaude([init(), resultOf(counted(0.5, 50_000))], { state: before })
    expect(after.facts.costUsd).toBe('0.5')
  })

  test('of an old version with busy subagents is charged for all of it, of a new one for the difference', () => {
    const counted = (cost: number, input: number, all: number) => ({
      total_cost_usd: cost,
      usage: { input_tokens: input, output_tokens: 10 },
      modelUsage: { m: { inputTokens: all, outputTokens: 1_000 } },
    })
    const before = readClaude([init(), resultOf(counted(0.001, 100, 100))]).facts.runtimeStatePatch
    const lines = (version: string) => [
      init({ claude_code_version: version }),
      resultOf(counted(0.5, 50, 50_000)),
    ]
    expect(
      readClaude(lines('2.1.257'), {
        state: { counted: { ...(before!.counted as Json), models: { m: [100, 10, 0, 0] } } },
      }).facts.costUsd,
    ).toBe('0.5')
    expect(
      readClaude(lines('2.1.325'), {
        state: { counted: { ...(before!.counted as Json), models: { m: [100, 10, 0, 0] } } },
      }).facts.costUsd,
    ).toBe('0.499')
  })

  test.each([
    ['of another model', 0.5, { other: { inputTokens: 50_000, outputTokens: 1_000 } }, '0.5'],
    ['of less money', 0.0005, { m: { inputTokens: 50_000, outputTokens: 1_000 } }, '0.0005'],
    ['of more of all', 0.5, { m: { inputTokens: 50_000, outputTokens: 1_000 } }, '0.499'],
  ])('that reports %s than before is charged accordingly', (_, cost, modelUsage, charged) => {
    const state = { counted: { sessionId: 's-1', costUsd: '0.001', models: { m: [100, 10, 0, 0] } } }
    const result = resultOf({
      total_cost_usd: cost,
      usage: { input_tokens: 50, output_tokens: 10 },
      modelUsage,
    })
    expect(readClaude([init(), result], { state }).facts.costUsd).toBe(charged)
  })

  test('whose cost was counted in another session starts at zero', () => {
    const before = read('claude.json.success').facts.runtimeStatePatch!
    const state = { counted: { ...(before.counted as Json), sessionId: 'another' } }
    expect(read('claude.json.resume', state).facts.costUsd).toBe('0.001096')
  })

  test('that was lost midway is charged for each message once, with its last figures', () => {
    const lines = [init(), assistant('a', 1), assistant('a', 5), assistant('b', 2), assistant('a', 9)]
    const { facts, verdict } = readClaude(lines, { code: 143 })
    expect(facts).toMatchObject({ usage: tokens(200, 80, 11), usageBasis: 'partial', costUsd: null })
    expect(verdict).toMatchObject({ kind: 'failed', code: 'nonzero_exit' })
  })

  test('that lost count itself is charged for its messages', () => {
    const { facts } = readClaude([init(), assistant('a', 5), resultOf({ usage: { input_tokens: 0 } })])
    expect(facts).toMatchObject({ usage: tokens(100, 40, 5), usageBasis: 'partial' })
  })

  test('that reports several results is charged for each, unless the later one contains the earlier', () => {
    const result = (input: number, all: number) =>
      resultOf({ usage: { input_tokens: input }, modelUsage: { m: { inputTokens: all } } })
    expect(readClaude([init(), result(100, 100), result(50, 150)]).facts.usage).toMatchObject(
      tokens(150, 0, 0),
    )
    expect(readClaude([init(), result(100, 100), result(150, 150)]).facts.usage).toMatchObject(
      tokens(150, 0, 0),
    )
  })

  test('counts what was written to its cache as uncached input', () => {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 500,
      cache_read_input_tokens: 40,
      output_tokens: 7,
    }
    expect(readClaude([init(), resultOf({ usage })]).facts.usage).toEqual({
      ...tokens(503, 40, 7),
      cacheWriteInputTokens: 500,
    })
  })

  test.each([
    ['seconds', 1_794_769_200],
    ['milliseconds', 1_794_769_200_000],
  ])('that is limited reports until when, given as %s', (_, resetsAt) => {
    const limit = JSON.stringify({
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt },
    })
    const failure = resultOf({
      is_error: true,
      api_error_status: 429,
      terminal_reason: 'api_error',
      result: 'No',
    })
    const { verdict, happenings } = readClaude([init(), limit, failure], { code: 1 })
    const until = '2026-11-15T19:00:00.000Z'
    expect(verdict).toMatchObject({ code: 'rate_limited', retryAt: until })
    expect(happenings).toContainEqual({ kind: 'rate_limit', until })
  })

  test.each(['allowed', 'allowed_warning'])('that may continue (%s) is not limited', (status) => {
    const info = { status, resetsAt: 1_794_769_200, overageStatus: 'rejected', isUsingOverage: false }
    const limit = JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info })
    const { verdict, happenings } = readClaude([init(), limit, resultOf({ result: 'Done' })])
    expect(kinds(happenings, 'rate_limit')).toEqual([])
    expect(verdict).toMatchObject({ kind: 'done', text: 'Done' })
  })

  test.each([
    [401, 'not_logged_in'],
    [403, 'not_logged_in'],
    [429, 'rate_limited'],
    [529, 'api_error'],
    [500, 'api_error'],
    [404, 'api_error'],
  ])('whose API answers %i ends as %s, whatever it calls that', (status, code) => {
    const failure = resultOf({ is_error: true, api_error_status: status, result: 'Success!' })
    expect(readClaude([init(), failure], { code: 1 }).verdict).toMatchObject({ kind: 'failed', code })
    // Even if it does not flag the result as an error.
    const quiet = resultOf({ api_error_status: status, result: 'Success!' })
    expect(readClaude([init(), quiet]).verdict).toMatchObject({ kind: 'failed', code })
  })

  test('that writes about errors and logins is not judged by its text', () => {
    const result =
      'API Error: 401 Invalid API key. Please run /login. No conversation found with session ID: x'
    expect(readClaude([init(), resultOf({ result })]).verdict).toMatchObject({ kind: 'done', text: result })
  })

  test.each([
    [{ subtype: 'error_max_budget_usd', is_error: true }, 'budget_blocked'],
    [{ stop_reason: 'refusal' }, 'refused'],
    [{ subtype: 'error_during_execution', is_error: true, num_turns: 3 }, 'nonzero_exit'],
    [{ is_error: undefined }, 'nonzero_exit'],
  ])('that ends with %j has not succeeded', (fields, code) => {
    expect(readClaude([init(), resultOf(fields)], { code: 1 }).verdict).toMatchObject({
      kind: 'failed',
      code,
    })
  })

  test('that is interrupted ends with exit code 0 and has not succeeded', () => {
    const { verdict } = readClaude([init(), assistant('a', 1)])
    expect(verdict).toMatchObject({ kind: 'failed', code: 'output_parse_error' })
  })

  test('that ended before its first message has no session to resume, unless a signal ended it', () => {
    expect(readClaude([], { code: 1 }).verdict.kind).toBe('unknown_session')
    expect(readClaude([], { code: 143 }).verdict.kind).toBe('failed')
  })

  test('that started a new session is not charged or judged by its first start', () => {
    const unknown = recording('claude.stream.resume_unknown').lines
    const { facts, verdict } = readClaude([...unknown, init(), assistant('a', 5)], { code: 143 })
    expect(facts).toMatchObject({ sessionId: 's-1', usage: tokens(100, 40, 5), usageBasis: 'partial' })
    expect(facts).toMatchObject({ costUsd: null, rawResult: null })
    expect(verdict).toMatchObject({ code: 'nonzero_exit', message: expect.stringContaining('143') })
    expect(readClaude(unknown, { code: 1 }).facts).toMatchObject({
      sessionId: null,
      runtimeStatePatch: {},
      usage: null,
    })
  })

  test.each(['claude.stream.http401', 'claude.stream.http429'])(
    'whose API refuses (%s) made no progress',
    (name) => {
      expect(kinds(read(name).happenings, 'activity')).toEqual([])
    },
  )

  test('that retries its API makes no progress', () => {
    const retry = JSON.stringify({ type: 'system', subtype: 'api_retry', attempt: 1 })
    expect(readClaude([init(), retry, retry]).happenings).toEqual([{ kind: 'session', sessionId: 's-1' }])
  })

  test('that was denied a tool reports it', () => {
    const { verdict, happenings, facts } = readClaude([
      init(),
      resultOf({ result: 'Done', permission_denials: [{ tool_name: 'Bash' }] }),
    ])
    expect(verdict.kind).toBe('done')
    expect(happenings).toContainEqual({
      kind: 'status',
      message: '1 tool call denied',
      color: 'yellow',
    })
    expect(facts.rawResult).toMatchObject({ permission_denials: [{ tool_name: 'Bash' }] })
  })

  test('with structured output returns that', () => {
    const { verdict } = readClaude([init(), resultOf({ result: 'Done', structured_output: { a: 1 } })])
    expect(verdict).toEqual({ kind: 'done', text: 'Done', structured: { a: 1 } })
  })
})

describe('codex', () => {
  const thread = (id: string) => JSON.stringify({ type: 'thread.started', thread_id: id })
  const turn = (input: number, cached: number, output: number) =>
    JSON.stringify({
      type: 'turn.completed',
      usage: { input_tokens: input, cached_input_tokens: cached, output_tokens: output },
    })
  const failed = (message: string) => JSON.stringify({ type: 'turn.failed', error: { message } })
  const readCodex = (lines: string[], { state = {}, code = 0 }: { state?: Json; code?: number } = {}) =>
    readLines('codex', lines, { code, stderrTail: '' }, state)

  test('counts over the thread and is charged for this run only', () => {
    const first = read('codex.success')
    expect(first.facts).toMatchObject({ usage: tokens(60, 40, 7), usageBasis: 'reported' })
    const second = read('codex.resume', first.facts.runtimeStatePatch)
    expect(second.facts).toMatchObject({ usage: tokens(60, 40, 7), usageBasis: 'delta' })
    expect(second.facts.sessionId).toBe(first.facts.sessionId)
  })

  test('of a chain of runs of any length is charged for all it counted, once', () => {
    const run = fc.record({
      input: fc.nat(1e6),
      cached: fc.nat(1e5),
      output: fc.nat(1e6),
      isLost: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 20 }), (runs) => {
        let state: Json = {}
        const counted = { input: 0, cached: 0, output: 0 }
        const charged = { input: 0, cached: 0, output: 0 }
        for (const { input, cached, output, isLost } of [
          ...runs,
          { input: 0, cached: 0, output: 0, isLost: false },
        ]) {
          counted.input += input + cached
          counted.cached += cached
          counted.output += output
          const lines = isLost
            ? [thread('t')]
            : [thread('t'), turn(counted.input, counted.cached, counted.output)]
          const { facts } = readCodex(lines, { state, code: isLost ? 143 : 0 })
          charged.input += facts.usage?.inputTokens ?? 0
          charged.cached += facts.usage?.cachedInputTokens ?? 0
          charged.output += facts.usage?.outputTokens ?? 0
          state = { ...state, ...facts.runtimeStatePatch }
        }
        expect({ ...charged, input: charged.input + charged.cached }).toEqual(counted)
      }),
    )
  })

  test('whose counter is lower than before started again', () => {
    const state = { counted: { sessionId: 't', input: 500, cached: 100, output: 50 } }
    expect(readCodex([thread('t'), turn(100, 40, 7)], { state }).facts.usage).toEqual(tokens(60, 40, 7))
  })

  test('in another thread starts at zero', () => {
    const state = { counted: { sessionId: 'other', input: 50, cached: 10, output: 5 } }
    expect(readCodex([thread('t'), turn(100, 40, 7)], { state }).facts.usage).toEqual(tokens(60, 40, 7))
  })

  test('reports its commands, and warnings as such', () => {
    const { happenings } = read('codex.tool')
    expect(kinds(happenings, 'call')).toEqual([
      {
        kind: 'call',
        signature: `command "/bin/bash -lc 'echo hi'"`,
        isError: false,
        tookMs: 0,
      },
    ])
    expect(kinds(happenings, 'activity')).toHaveLength(2)
    expect(kinds(happenings, 'status')[0]).toMatchObject({ color: 'yellow' })
  })

  test('that reconnects makes no progress and may still succeed', () => {
    const lost = JSON.stringify({ type: 'error', message: 'Reconnecting... 1/5' })
    const { happenings, verdict } = readCodex([thread('t'), lost, lost, turn(100, 40, 7)])
    expect(happenings.map(({ kind }) => kind)).toEqual(['session', 'usage'])
    expect(verdict.kind).toBe('done')
  })

  test.each([
    ['unexpected status 401 Unauthorized: Incorrect API key', 'not_logged_in'],
    ['unexpected status 429 Too Many Requests', 'rate_limited'],
    ['exceeded retry limit, last status: 429 Too Many Requests, request id: x', 'rate_limited'],
    ['unexpected status 503 Service Unavailable', 'api_error'],
    ['exceeded retry limit, last status: 502 Bad Gateway, request id: x', 'api_error'],
    // For a 500 and for an overloaded 503 it does not report the number.
    ["We're currently experiencing high demand, which may cause temporary errors.", 'api_error'],
    ['Selected model is at capacity. Please try a different model.', 'api_error'],
    ['stream disconnected before completion: stream closed before response.completed', 'api_error'],
    ['Connection failed: error sending request', 'api_error'],
    ['The page says: unexpected status 401', 'nonzero_exit'],
    ['The page says: Selected model is at capacity. Please try a different model.', 'nonzero_exit'],
    ["Codex ran out of room in the model's context window.", 'nonzero_exit'],
  ])('that fails with "%s" ends as %s', (message, code) => {
    // Only turn.failed decides, whatever the exit code.
    for (const exit of [0, 1])
      expect(readCodex([thread('t'), failed(message)], { code: exit }).verdict).toMatchObject({
        kind: 'failed',
        code,
      })
  })

  test('that exits cleanly without having completed its turn has not succeeded', () => {
    expect(readCodex([thread('t')]).verdict).toMatchObject({ code: 'output_parse_error' })
    expect(readCodex([thread('t'), turn(1, 0, 1)], { code: 1 }).verdict).toMatchObject({
      code: 'nonzero_exit',
    })
  })
})

describe('gemini', () => {
  const init = JSON.stringify({ type: 'init', session_id: 's-1', model: 'gemini-x' })
  const result = (status: string, stats: Json = {}) => JSON.stringify({ type: 'result', status, stats })
  const readGemini = (lines: string[], code = 0) => readLines('gemini', lines, { code, stderrTail: 'Why' })

  test('reports session, tools and usage', () => {
    const { facts, happenings } = read('gemini.stream.tool')
    expect(facts).toMatchObject({
      sessionId: '3ea69537-04f4-4a55-97d8-b7b3abcab7b1',
      usage: tokens(120, 80, 14),
      usageBasis: 'reported',
      model: 'gemini-2.5-pro',
      costUsd: null,
    })
    expect(kinds(happenings, 'call')).toEqual([
      {
        kind: 'call',
        signature: 'list_directory {"dir_path":"."}',
        isError: false,
        tookMs: 0,
      },
    ])
  })

  test('is charged for its thoughts as output', () => {
    const stats = { total_tokens: 300, input_tokens: 200, output_tokens: 14, cached: 80 }
    expect(readGemini([init, result('success', stats)]).facts.usage).toMatchObject({
      ...tokens(120, 80, 100),
      reasoningTokens: 86,
    })
  })

  test.each([
    [41, { kind: 'failed', code: 'not_logged_in' }],
    [42, { kind: 'failed', code: 'nonzero_exit' }],
    [53, { kind: 'done', wantsMore: true }],
    [130, { kind: 'failed', code: 'cancelled' }],
    [429 & 0xff, { kind: 'failed', code: 'rate_limited' }],
    [401 & 0xff, { kind: 'failed', code: 'not_logged_in' }],
    [503 & 0xff, { kind: 'failed', code: 'api_error' }],
    [1, { kind: 'failed', code: 'nonzero_exit' }],
  ])('that ends with %i ends as %j', (code, verdict) => {
    expect(readGemini([init], code).verdict).toMatchObject(verdict)
  })

  test('that refuses its input before it began does not know its session', () => {
    expect(readGemini([], 42).verdict.kind).toBe('unknown_session')
  })

  test('that exits cleanly succeeded only if it says so', () => {
    expect(readGemini([init]).verdict).toMatchObject({ code: 'output_parse_error' })
    expect(readGemini([init, result('error')]).verdict).toMatchObject({ code: 'api_error' })
    expect(readGemini([init, result('success')]).verdict.kind).toBe('done')
  })
})

describe('opencode', () => {
  const error = (name: string, data: Json) =>
    JSON.stringify({ type: 'error', timestamp: 1_794_769_200_000, sessionID: 'ses_1', error: { name, data } })
  const finish = (id: string, reason = 'stop', more: Json = {}) =>
    JSON.stringify({
      type: 'step_finish',
      sessionID: 'ses_1',
      part: {
        id,
        reason,
        tokens: { input: 60, output: 7, reasoning: 3, cache: { write: 5, read: 40 } },
        cost: 0.1,
        ...more,
      },
    })
  const readOpencode = (lines: string[], code = 0) => readLines('opencode', lines, { code, stderrTail: '' })

  test('is charged for each of its steps once', () => {
    const { facts, happenings } = read('opencode.tool')
    expect(facts).toMatchObject({
      sessionId: 'ses_e21c5bf9affe0vkt7W5nRosfG9',
      usage: tokens(160, 40, 27),
      usageBasis: 'reported',
      costUsd: '0.000214',
    })
    expect(kinds(happenings, 'call')).toEqual([
      { kind: 'call', signature: 'bash {"command":"echo hi","description":"say hi"}', isError: false },
    ])
    const twice = readOpencode([finish('a'), finish('a'), finish('b'), finish('c')])
    expect(twice.facts).toMatchObject({ usage: tokens(195, 120, 30), costUsd: '0.3' })
  })

  test('that was stopped midway is charged for the completed steps', () => {
    expect(readOpencode([finish('a')], 143).facts).toMatchObject({
      usage: tokens(65, 40, 10),
      usageBasis: 'partial',
    })
  })

  test.each([
    ['ProviderAuthError', {}, 'not_logged_in', null],
    ['APIError', { statusCode: 403 }, 'not_logged_in', null],
    [
      'APIError',
      { statusCode: 429, responseHeaders: { 'retry-after': '60' } },
      'rate_limited',
      '2026-11-15T19:01:00.000Z',
    ],
    ['APIError', { statusCode: 429 }, 'rate_limited', null],
    ['APIError', { statusCode: 500 }, 'api_error', null],
    ['MessageAbortedError', {}, 'cancelled', null],
    ['UnknownError', { message: 'It broke' }, 'api_error', null],
  ])('that reports %s %j ends as %s, even with exit code 0', (name, data, code, retryAt) => {
    for (const exit of [0, 1])
      expect(readOpencode([error(name, data)], exit).verdict).toMatchObject({ kind: 'failed', code, retryAt })
  })

  test('that continued after an error is judged by its end', () => {
    expect(readOpencode([error('UnknownError', {}), finish('a')]).verdict.kind).toBe('done')
    expect(readOpencode([finish('a'), error('UnknownError', {})]).verdict.kind).toBe('failed')
    expect(readOpencode([finish('a')], 1).verdict).toMatchObject({ code: 'nonzero_exit' })
  })

  test('whose model refuses is refused', () => {
    expect(readOpencode([finish('a', 'content-filter')]).verdict).toMatchObject({ code: 'refused' })
  })

  test('that prints nothing does not know its session, whatever its exit code', () => {
    expect(readOpencode([], 0).verdict.kind).toBe('unknown_session')
    expect(readOpencode([], 1).verdict.kind).toBe('unknown_session')
  })
})

describe('helpers', () => {
  test('the same call has the same signature whatever the order of its keys, and always a short one', () => {
    expect(signatureOf('Edit', { b: [1, { d: 1, c: 2 }], a: 1 })).toBe(
      signatureOf('Edit', { a: 1, b: [1, { c: 2, d: 1 }] }),
    )
    expect(signatureOf('Edit', { a: 1 })).not.toBe(signatureOf('Edit', { a: 2 }))
    const long = (end: string) => signatureOf('Write', { content: 'x'.repeat(100_000) + end })
    expect(long('a').length).toBeLessThan(200)
    expect(long('a')).not.toBe(long('b'))
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)
    expect(signatureOf('Deep', deep).length).toBeLessThan(200)
  })

  test('dollars are added and subtracted exactly', () => {
    expect(dollarText(picoDollars(0.1)! + picoDollars(0.2)!)).toBe('0.3')
    expect(dollarText(picoDollars(0.001096)! - picoDollars(0.000548)!)).toBe('0.000548')
    expect(dollarText(picoDollars(7.4e-7)!)).toBe('0.00000074')
    expect(dollarText(picoDollars(12)!)).toBe('12')
    expect(dollarText(picoDollars(0)!)).toBe('0')
    for (const nonsense of [-1, Number.NaN, Number.POSITIVE_INFINITY, '1', null, 1e22])
      expect(picoDollars(nonsense)).toBe(null)
  })

  test('a session id that could be a flag or a path is rejected', () => {
    for (const bad of ['--help', '-r', '', 'a b', '$(id)', 'a;b', 'a\nb', 'x'.repeat(300), 7, null])
      expect(sessionIdIn(bad)).toBe(null)
    expect(sessionIdIn('ses_e21c5ce4affe')).toBe('ses_e21c5ce4affe')
  })

  test('an invalid time is rejected', () => {
    for (const nonsense of [0, -1, Number.NaN, 1e300, '2026', null]) expect(timeOf(nonsense)).toBe(null)
  })
})
