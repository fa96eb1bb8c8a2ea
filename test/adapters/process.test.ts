import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { processAdapter } from '../../src/adapters/process.ts'
import { accountOf, NO_FACTS, type ProcessFacts, takeLine } from '../../src/adapters/process-lines.ts'
import type { AdapterInvokeInput } from '../../src/adapters/protocol.ts'
import { inputFor, never, PLAIN_ENV, recordingHooks } from '../support/adapter-runs.ts'

/** Any program as an agent. */

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-process-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function invoke(script: string, more: Partial<AdapterInvokeInput> = {}) {
  const recorded = recordingHooks()
  const adapterConfig = { command: 'sh', args: ['-c', script] }
  const input = inputFor({ adapterConfig, cwd: folder, ...more })
  return { ...recorded, input, result: await processAdapter.invoke(input, recorded.hooks, never) }
}
/** A script that prints these lines. */
const printing = (...lines: unknown[]) =>
  lines
    .map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
    .map((line) => `printf '%s\\n' '${line}'`)
    .join('; ')

describe('the prompt', () => {
  test('arrives on stdin and in a private file, which is deleted afterwards', async () => {
    const prompt = '--version $(touch pwned) `id` "\'; é😀\nline two'
    const script =
      'cat > by-stdin; cp "$BATON_PROMPT_FILE" by-file; stat -c "%a %n" "$BATON_PROMPT_FILE" "$(dirname "$BATON_PROMPT_FILE")"'
    const { logged } = await invoke(script, { prompt })
    expect(readFileSync(join(folder, 'by-stdin'), 'utf8')).toBe(prompt)
    expect(readFileSync(join(folder, 'by-file'), 'utf8')).toBe(prompt)
    const [file, parent] = logged('stdout').trim().split('\n')
    expect(file).toMatch(/^600 \//)
    expect(parent).toMatch(/^700 \//)
    expect(existsSync(parent!.slice(4))).toBe(false)
    expect(readdirSync(folder)).not.toContain('pwned')
  })

  test('leaves no file behind when the program cannot be started', async () => {
    // Its own: other tests have prompts in the folder of the machine at the same time.
    const own = mkdtempSync(join(folder, 'tmp-'))
    vi.stubEnv('TMPDIR', own)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { result } = await invoke('', { adapterConfig: { command: 'no-such-program' } })
    expect(result).toMatchObject({
      outcome: 'failed',
      errorCode: 'adapter_not_installed',
      errorMessage: 'There is no program "no-such-program".',
    })
    expect(readdirSync(own)).toEqual([])
  })

  test('is not delivered if the working folder is missing', async () => {
    const { result } = await invoke('exit 0', { cwd: join(folder, 'missing') })
    expect(result).toMatchObject({ outcome: 'failed', errorCode: 'invalid_working_directory' })
  })
})

describe('its environment', () => {
  test('is the configured one, without anything of Baton’s own', async () => {
    const { logged, input } = await invoke('env', { env: { ...PLAIN_ENV, GIVEN: 'yes' } })
    const names = logged('stdout')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('=')[0])
    const ofTheShell = ['PWD', 'OLDPWD', 'SHLVL', '_']
    expect(names.filter((name) => !ofTheShell.includes(name!)).sort()).toEqual(
      ['BATON_PROMPT_FILE', 'BATON_RUN_ID', 'GIVEN', 'HOME', 'PATH'].sort(),
    )
    expect(logged('stdout')).toContain(`BATON_RUN_ID=${input.runId}\n`)
  })

  test('names the session of the previous run', async () => {
    const first = await invoke(printing({ baton: 'session', sessionId: 's-1' }))
    expect(first.result).toMatchObject({ sessionId: 's-1', runtimeStatePatch: { sessionId: 's-1' } })
    expect(first.events('session')).toEqual([{ sessionId: 's-1' }])
    const runtimeState = first.result.runtimeStatePatch!
    const second = await invoke('echo "$BATON_AGENT_SESSION"', { runtimeState })
    expect(second.logged('stdout')).toBe('s-1\n')
    const odd = await invoke('env | grep -c BATON_AGENT_SESSION; true', {
      runtimeState: { sessionId: 'a\0b' },
    })
    expect(odd.logged('stdout')).toBe('0\n')
  })
})

describe('its result', () => {
  test('is the last JSON line that has one', async () => {
    const { result } = await invoke(
      printing(
        { result: 'too early', continue: true, usage: { inputTokens: 1, outputTokens: 1 } },
        'text {"result":"in the middle"}',
        {
          result: { files: ['a'] },
          summary: 'Did it',
          usage: { inputTokens: 7, outputTokens: 8, cachedInputTokens: 9 },
          costUsd: 0.25,
        },
        { other: 'line' },
        { baton: 'status', message: 'done', result: 'not this' },
        'bye',
      ),
    )
    expect(result).toEqual({
      outcome: 'succeeded',
      exitCode: 0,
      result: { files: ['a'] },
      summary: 'Did it',
      wantsMore: false,
      usage: { inputTokens: 7, outputTokens: 8, cachedInputTokens: 9 },
      usageBasis: 'reported',
      costUsd: '0.25',
      sessionId: null,
    })
  })

  test('is that line alone, not merged with earlier ones', async () => {
    const { result } = await invoke(printing({ result: 'a draft', continue: true }, { summary: 'Done' }))
    expect(result).toMatchObject({ outcome: 'succeeded', summary: 'Done', wantsMore: false })
    expect(result).not.toHaveProperty('result')
  })

  test('may be empty: exit code zero is success', async () => {
    const { result } = await invoke('echo hello')
    expect(result).toMatchObject({
      outcome: 'succeeded',
      exitCode: 0,
      summary: null,
      usage: null,
      usageBasis: null,
    })
    expect(result).not.toHaveProperty('result')
  })

  test('may ask to continue', async () => {
    expect((await invoke(printing({ continue: true }))).result).toMatchObject({
      outcome: 'succeeded',
      wantsMore: true,
    })
    expect((await invoke(printing({ continue: 'yes' }))).result).toMatchObject({ wantsMore: false })
  })

  test('is no success when it says so but exits with an error; its usage is kept', async () => {
    const { result } = await invoke(
      `${printing({ baton: 'usage', usage: { inputTokens: 3, outputTokens: 4 } }, { result: 'fine', summary: 'Fine' })}; echo broken >&2; exit 9`,
    )
    expect(result).toMatchObject({
      outcome: 'failed',
      exitCode: 9,
      errorCode: 'nonzero_exit',
      errorMessage: 'sh exited with code 9: broken',
      usage: { inputTokens: 3, outputTokens: 4 },
      usageBasis: 'partial',
    })
    expect(result).not.toHaveProperty('result')
  })

  test('is no success when a signal ended it', async () => {
    const { result } = await invoke('kill -9 $$')
    expect(result).toMatchObject({
      outcome: 'failed',
      exitCode: null,
      signal: 'SIGKILL',
      errorCode: 'nonzero_exit',
    })
  })
})

/** What Baton itself reports about the start of a program is tested elsewhere. */
const isItsOwn = ({ hook, type }: { hook: string; type?: string }) =>
  hook !== 'log' && type !== 'process' && type !== 'invocation'

describe('its reports during the run', () => {
  test('may name the model, or several of them, and what each cost', async () => {
    const small = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 3, reasoningTokens: 1 }
    const large = { inputTokens: 10, outputTokens: 20, cacheWriteInputTokens: 4, cacheWrite1hInputTokens: 4 }
    const { reported, result } = await invoke(
      printing(
        { baton: 'usage', usage: { model: 'small', ...small } },
        {
          ...{ result: 1, costUsd: '0.5' },
          usage: [
            { model: 'small', ...small },
            { model: 'large', ...large, costUsd: 0.25 },
          ],
        },
      ),
    )
    expect(reported.filter(isItsOwn)).toEqual([
      { hook: 'usage', what: { ...small, models: [{ model: 'small', ...small }] } },
    ])
    expect(result.usage).toEqual({
      ...{ inputTokens: 11, outputTokens: 22, cachedInputTokens: 3, reasoningTokens: 1 },
      ...{ cacheWriteInputTokens: 4, cacheWrite1hInputTokens: 4 },
      models: [
        { model: 'small', ...small },
        { model: 'large', ...large, costUsd: '0.25' },
      ],
    })
    expect(result.costUsd).toBe('0.5')
  })

  test('are passed on in order', async () => {
    const { reported } = await invoke(
      printing(
        { baton: 'progress', percent: 40, step: 'half' },
        { baton: 'usage', usage: { inputTokens: 1, outputTokens: 2 } },
        { baton: 'checkpoint', data: { at: 3 } },
        { baton: 'status', message: 'busy', color: 'blue' },
        { baton: 'call', signature: 'read a.ts', isError: true },
        { baton: 'activity' },
        { baton: 'rate_limit', until: '2030-01-01T01:00:00+01:00' },
      ),
    )
    expect(reported.filter(isItsOwn)).toEqual([
      { hook: 'event', type: 'progress', what: { percent: 40, step: 'half' } },
      { hook: 'usage', what: { inputTokens: 1, outputTokens: 2 } },
      { hook: 'event', type: 'checkpoint', what: { data: { at: 3 } } },
      { hook: 'status', what: { message: 'busy', color: 'blue' } },
      { hook: 'event', type: 'call', what: { signature: 'read a.ts', isError: true } },
      { hook: 'event', type: 'activity', what: {} },
      { hook: 'event', type: 'rate_limit', what: { until: '2030-01-01T00:00:00.000Z' } },
    ])
  })

  test('of a rate limit make a failed run wait for the reset', async () => {
    const limited = printing({ baton: 'rate_limit', until: '2030-01-01T00:00:00Z' })
    expect((await invoke(`${limited}; exit 1`)).result).toMatchObject({
      outcome: 'failed',
      errorCode: 'rate_limited',
      retryAt: '2030-01-01T00:00:00.000Z',
    })
    expect((await invoke(limited)).result).toMatchObject({ outcome: 'succeeded' })
    const untimed = await invoke(`${printing({ baton: 'rate_limit', until: 'soon' })}; exit 1`)
    expect(untimed.result).toMatchObject({ errorCode: 'rate_limited', retryAt: null })
  })

  test('of a question end a run that succeeds with that question, and a failed one as any other', async () => {
    const asking = printing({ baton: 'ask', question: 'Which?', options: ['this', 'that', 'this'] })
    expect((await invoke(asking)).result).toMatchObject({
      outcome: 'succeeded',
      question: { question: 'Which?', options: ['this', 'that'] },
    })
    expect((await invoke(printing({ baton: 'ask', question: 'Why?' }))).result).toMatchObject({
      question: { question: 'Why?', options: [] },
    })
    expect((await invoke(`${asking}; exit 1`)).result).toMatchObject({ outcome: 'failed' })
  })

  test('of a task are handed on at once, and the last line says which tasks it continues after', async () => {
    const adding = printing({ baton: 'task', tempId: 'one', title: 'Find one' })
    const { reported, result } = await invoke(`${adding}; ${printing({ continue: true, after: ['one'] })}`)
    const what = { tempId: 'one', title: 'Find one' }
    expect(reported.filter(({ type }) => type === 'task')).toMatchObject([{ hook: 'event', what }])
    expect(result).toMatchObject({ outcome: 'succeeded', wantsMore: true, after: ['one'] })
  })

  test.each([
    [{ baton: 'ask' }],
    [{ baton: 'ask', question: '' }],
    [{ baton: 'ask', question: 7 }],
    [{ baton: 'ask', question: 'x'.repeat(4_001) }],
    [{ baton: 'ask', question: 'Which?', options: 'this' }],
    [{ baton: 'ask', question: 'Which?', options: ['this', 2] }],
    [{ baton: 'ask', question: 'Which?', options: ['a\nb'] }],
    [{ baton: 'ask', question: 'Which?', options: Array(21).fill('x') }],
    [{ baton: 'usage', usage: { inputTokens: -1, outputTokens: 2 } }],
    [{ baton: 'usage', usage: { inputTokens: 1.5, outputTokens: 2 } }],
    [{ baton: 'usage', usage: { inputTokens: '1', outputTokens: 2 } }],
    [{ baton: 'usage', usage: { cachedInputTokens: 2 } }],
    [{ baton: 'usage', usage: [] }],
    [{ baton: 'usage', usage: [{ inputTokens: 1, outputTokens: 2 }] }],
    [
      {
        baton: 'usage',
        usage: [
          { model: 'a', inputTokens: 1 },
          { model: 'b', inputTokens: -1 },
        ],
      },
    ],
    [{ baton: 'usage', usage: { inputTokens: 1, reasoningTokens: 0.5 } }],
    [{ baton: 'usage' }],
    [{ baton: 'progress', percent: 101 }],
    [{ baton: 'progress' }],
    [{ baton: 'status' }],
    [{ baton: 'status', message: 5 }],
    [{ baton: 'checkpoint' }],
    [{ baton: 'call', signature: {} }],
    [{ baton: 'session', sessionId: '' }],
    [{ baton: 'task' }],
    [{ baton: 'task', title: 5 }],
    [{ continue: true, after: [] }],
    [{ continue: true, after: 'one' }],
    [{ continue: true, after: [1] }],
    [{ continue: true, after: Array(101).fill('one') }],
    [{ baton: 'dance' }],
    [{ baton: null }],
    [{ usage: { inputTokens: 1e300 } }],
  ])('are ignored with a warning if malformed: %j', async (line) => {
    const { reported, logged, result } = await invoke(printing(line))
    expect(reported.filter(isItsOwn)).toEqual([])
    expect(logged('system')).toMatch(/^Ignored an invalid report: .+\.\n$/)
    expect(result).toMatchObject({ outcome: 'succeeded', usage: null, sessionId: null })
  })

  test('cause a limited number of warnings', async () => {
    const { logged } = await invoke(`for i in $(seq 1 500); do echo '{"baton":"dance"}'; done`)
    expect(logged('system').split('\n').length - 1).toBe(20)
  })
})

describe('the lines of a lost run', () => {
  test('give what its agent keeps: the last state that is an object and not too large', () => {
    const kept = (...states: unknown[]) =>
      processAdapter.readLines!(
        states.map((state) => JSON.stringify({ baton: 'state', state })),
        {},
      ).agentState
    expect(kept()).toBeUndefined()
    expect(kept({ a: 1 }, { b: 'ä\u0000' })).toEqual({ b: 'ä\ufffd' })
    expect(kept({ a: 1 }, [1], 'text', null, { huge: 'ä'.repeat(16_384) })).toEqual({ a: 1 })
  })

  test('give its usage and its session', () => {
    const lines = [
      '{"baton":"session","sessionId":"s-1"}',
      'x',
      '{"baton":"usage","usage":{"inputTokens":1,"outputTokens":2}}',
    ]
    expect(processAdapter.readLines!(lines, {})).toEqual({
      usage: { inputTokens: 1, outputTokens: 2 },
      usageBasis: 'partial',
      costUsd: null,
      sessionId: 's-1',
      runtimeStatePatch: { sessionId: 's-1' },
    })
    expect(
      processAdapter.readLines!([...lines, '{"usage":{"inputTokens":3,"outputTokens":4}}'], {}),
    ).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 4 },
      usageBasis: 'reported',
    })
  })

  test('never break the parser, whatever they are', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('progress', 'usage', 'session', 'rate_limit', 'status'),
    )
    const keys = fc.constantFrom(
      'baton',
      'usage',
      'result',
      'summary',
      'continue',
      'sessionId',
      'until',
      'percent',
    )
    const line = fc.oneof(
      fc.string(),
      fc.dictionary(keys, value).map((said) => JSON.stringify(said)),
    )
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        let facts: ProcessFacts = NO_FACTS
        for (const one of lines) facts = takeLine(facts, one).facts
        const { usage, sessionId } = accountOf(facts)
        for (const count of Object.values(usage ?? {}))
          expect(Number.isSafeInteger(count) && count >= 0).toBe(true)
        expect(sessionId === null || sessionId!.length > 0).toBe(true)
      }),
    )
  })
})
