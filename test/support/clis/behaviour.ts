import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { AgentRunAdapter, TokenUsage } from '../../../src/adapters/protocol.ts'
import { adapterConformance } from '../adapter-conformance.ts'
import { gone, isAlive } from '../adapter-runs.ts'
import { rounds } from '../rounds.ts'
import { eventsOf, grandchildOf, scriptOf, useCli } from './runs.ts'

/** What is true of every adapter of an agent program, tested on its fake program. */

/** Several times what may be kept. */
const FLOOD_MB = rounds(50, 100)

/** What is still referenced after garbage collection. */
function keptBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export interface Expected {
  /** Flags it sets itself, and so refuses in extraArgs. */
  ownArgs: string[]
  /** How it names the session it resumes. */
  resumeArgs: (sessionId: string) => string[]
  /** The variable that may hold its key. */
  keyName: string
  /** The usage of one plain run. */
  perRun: Figures
  /** What a run has used that hangs after its first tool. */
  untilItHangs: Figures
  /** What its log tells of that. */
  inItsLog: Figures | null
}

interface Figures {
  inputTokens: number
  cachedInputTokens: number
  outputTokens: number
}

const figuresOf = ({ inputTokens, cachedInputTokens = 0, outputTokens }: TokenUsage): Figures => ({
  ...{ inputTokens, cachedInputTokens, outputTokens },
})
const isSame = (usage: TokenUsage, figures: Figures) =>
  JSON.stringify(figuresOf(usage)) === JSON.stringify(figuresOf(figures))

export function behavesAsCli(adapter: AgentRunAdapter, program: string, expected: Expected) {
  const cli = useCli(adapter, program)

  adapterConformance(adapter.type, {
    adapter,
    succeeds: () => cli.scenario('tool'),
    fails: () => cli.scenario('crash'),
    lasts: () => cli.scenario('silent'),
    badConfigs: [
      [{ command: '' }, 'command'],
      [{ command: '--print' }, 'command must not begin with a dash'],
      [{ model: '--help' }, 'model is not a valid model name'],
      [{ model: 'a b' }, 'model is not a valid model name'],
      [{ extraArgs: 'x' }, 'extraArgs must be a list'],
      [{ extraArgs: [7] }, 'extraArgs[0] must be a string'],
      [{ extraArgs: ['--'] }, 'extraArgs[0] contains --, which the adapter sets itself'],
      [{ extraArgs: ['a\0b'] }, 'extraArgs[0]'],
      [{ timeoutSec: 'soon' }, 'timeoutSec'],
      [{ graceSec: -1 }, 'graceSec'],
      [{ env: { BATON_URL: 'x' } }, 'env.BATON_URL'],
      [{ secretEnv: ['A'] }, 'secretEnv[0] names A'],
      [{ url: 'http://example.com' }, `url is not a setting of ${adapter.type}`],
    ],
  })

  describe(`${adapter.type} on a first run`, () => {
    test('returns its program’s answer, usage and session', async () => {
      const home = await cli.fresh()
      const { result, heard } = await cli.run(home)
      expect(result).toMatchObject({
        outcome: 'succeeded',
        exitCode: 0,
        summary: 'Hello from fake',
        result: { text: 'Hello from fake' },
        wantsMore: false,
        usage: expected.perRun,
      })
      expect(result.sessionId).toBeTruthy()
      expect(result.runtimeStatePatch).toMatchObject({ sessionId: result.sessionId })
      expect(eventsOf(heard, 'session')).toEqual([{ sessionId: result.sessionId }])
      expect(eventsOf(heard, 'process')).toHaveLength(1)
      expect(eventsOf(heard, 'activity').length).toBeGreaterThan(0)
      expect(figuresOf(result.usage!)).toEqual(expected.perRun)
      expect(heard.usages.at(-1)).toEqual(result.usage)
      expect(JSON.parse(JSON.stringify(result))).toEqual(result)
    })

    test('returns a JSON answer as JSON', async () => {
      const says = '{"files": ["a", "ü"], "ok": true}'
      const { result } = await cli.run(await cli.fresh(), { env: { FAKE_CLI_SAYS: says } })
      expect(result).toMatchObject({ summary: says, result: { files: ['a', 'ü'], ok: true } })
    })

    test.each([
      ['begins with a dash', '--help'],
      ['holds shell words', '$(touch /tmp/baton-was-here) `id` "; rm -rf / #'],
      ['is long', 'ü🦀 '.repeat(150_000)],
      ['has many lines', 'one\n\n--two\n\tthree\n'],
    ])('passes a prompt that %s to its program unchanged, and not as an argument', async (_, prompt) => {
      const home = await cli.fresh()
      const { result } = await cli.run(home, { prompt })
      expect(result.outcome).toBe('succeeded')
      const [call] = cli.calls(home)
      expect(call!.prompt).toBe(prompt)
      expect(call!.args).not.toContain(prompt)
    })

    test('reports each tool call when its result is known', async () => {
      const { heard } = await cli.run(await cli.fresh(), { mode: 'tool' })
      const calls = eventsOf(heard, 'call')
      // Where its program reports the begin of a call, how long it took as well.
      expect(calls).toMatchObject([{ signature: expect.any(String), isError: false }])
      expect(heard.statuses.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^uses /))
    })

    test.each([
      ['loop', false],
      ['errors', true],
    ])('reports each call of a program that loops (%s)', async (mode, isError) => {
      const stop = new AbortController()
      let calls = 0
      const { heard } = await cli.run(await cli.fresh(), {
        mode,
        signal: stop.signal,
        onEvent: (type) => void (type === 'call' && ++calls === 8 && stop.abort()),
      })
      const reported = eventsOf(heard, 'call')
      expect(reported.length).toBeGreaterThanOrEqual(8)
      expect(reported.every((call) => call.isError === isError)).toBe(true)
      expect(new Set(reported.map(({ signature }) => signature)).size).toBe(
        mode === 'loop' ? 1 : reported.length,
      )
    })
  })

  describe(`${adapter.type} on a second run`, () => {
    test('resumes its session, and each run is charged for its own usage', async () => {
      const home = await cli.fresh()
      let state: Record<string, unknown> = {}
      const total = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 }
      const ids = new Set<unknown>()
      for (let run = 0; run < 4; run++) {
        const { result } = await cli.run(home, { state })
        expect(figuresOf(result.usage!)).toEqual(expected.perRun)
        for (const figure of ['inputTokens', 'cachedInputTokens', 'outputTokens'] as const)
          total[figure] += result.usage![figure]!
        ids.add(result.sessionId)
        state = { ...state, ...result.runtimeStatePatch }
      }
      expect(ids.size).toBe(1)
      expect(total).toEqual({
        inputTokens: 4 * expected.perRun.inputTokens,
        cachedInputTokens: 4 * expected.perRun.cachedInputTokens,
        outputTokens: 4 * expected.perRun.outputTokens,
      })
      const [sessionId] = ids as Set<string>
      for (const { args } of cli.calls(home).slice(1))
        expect(args.join(' ')).toContain(expected.resumeArgs(sessionId!).join(' '))
    })

    test('starts a new session, once, when its program does not know the session', async () => {
      const home = await cli.fresh()
      const state = { sessionId: '00000000-0000-4000-8000-000000000000' }
      const { result, heard } = await cli.run(home, { state })
      expect(result).toMatchObject({ outcome: 'succeeded', usage: expected.perRun })
      expect(result.sessionId).not.toBe(state.sessionId)
      expect(result.runtimeStatePatch!.sessionId).toBe(result.sessionId)
      expect(cli.calls(home)).toHaveLength(2)
      expect(eventsOf(heard, 'session').at(-1)).toEqual({ sessionId: result.sessionId })
      expect(heard.statuses).toContainEqual(expect.objectContaining({ color: 'yellow' }))
    })

    test('gives up when a new session fails too', async () => {
      const home = await cli.fresh()
      const state = { sessionId: '00000000-0000-4000-8000-000000000000' }
      const { result } = await cli.run(home, { state, mode: 'never_begins' })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'resume_session_invalid' })
      expect(cli.calls(home)).toHaveLength(2)
    })

    test('tries once, and does not mention a session, when there was none to resume', async () => {
      const home = await cli.fresh()
      const { result } = await cli.run(home, { mode: 'never_begins' })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'nonzero_exit' })
      expect(cli.calls(home)).toHaveLength(1)
    })

    test.each(['--help', '$(id)', 'a b', '', 42])('treats %j as no session', async (sessionId) => {
      const home = await cli.fresh()
      const { result } = await cli.run(home, { state: { sessionId } })
      expect(result.outcome).toBe('succeeded')
      const [call] = cli.calls(home)
      expect(call!.args).not.toContain(sessionId)
    })
  })

  describe(`${adapter.type} whose program misbehaves`, () => {
    test(`reads ${FLOOD_MB} MB of output without keeping them`, async () => {
      const before = keptBytes()
      const env = { FAKE_CLI_FLOOD: String(FLOOD_MB) }
      const { result, heard } = await cli.run(await cli.fresh(), { mode: 'flood', env })
      expect(result.outcome).toBe('succeeded')
      expect(heard.logBytes).toBeGreaterThan(FLOOD_MB * 1024 * 1024)
      expect(keptBytes() - before).toBeLessThan(20 * 1024 * 1024)
    }, 120_000)

    test('reads characters that arrive in pieces', async () => {
      const says = 'Grüße 🦀 κόσμε 日本'
      const { result, heard } = await cli.run(await cli.fresh(), {
        mode: 'split_utf8',
        env: { FAKE_CLI_SAYS: says },
      })
      expect(result.summary).toBe(says)
      expect(heard.stdout).not.toContain('\ufffd')
    })

    test('does not wait for a grandchild that holds its pipe, and leaves none behind', async () => {
      const home = await cli.fresh()
      const { result } = await cli.run(home, { mode: 'pipe_holder' })
      expect(result.outcome).toBe('succeeded')
      expect(isAlive(grandchildOf(home))).toBe(false)
    })

    test('ends a grandchild that has a session of its own', async () => {
      const home = await cli.fresh()
      const { result } = await cli.run(home, { mode: 'setsid_grandchild' })
      expect(result.outcome).toBe('succeeded')
      expect(isAlive(grandchildOf(home))).toBe(false)
    })

    test('kills it after its grace period when it ignores SIGTERM', async () => {
      const home = await cli.fresh()
      const stop = new AbortController()
      const { result } = await cli.run(home, {
        mode: 'ignores_sigterm',
        signal: stop.signal,
        onOutput: () => stop.abort(),
      })
      expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled', signal: 'SIGKILL' })
      expect(isAlive(cli.calls(home)[0]!.pid)).toBe(false)
    })

    test('stops it at its timeout when it prints nothing, and does not treat that as an unknown session', async () => {
      const home = await cli.fresh()
      const state = { sessionId: (await cli.run(home)).result.sessionId }
      const { result, heard } = await cli.run(home, { mode: 'silent', timeoutSec: 1, state })
      expect(result).toMatchObject({ outcome: 'timed_out', errorCode: 'timeout' })
      expect(eventsOf(heard, 'process')).toHaveLength(1)
    })

    test('stops it on request, and keeps what it knows', async () => {
      const home = await cli.fresh()
      const stop = new AbortController()
      const running = cli.run(home, {
        mode: 'hang',
        signal: stop.signal,
        onEvent: (type) => void (type === 'call' && stop.abort()),
      })
      const { result } = await running
      expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
      expect(result.sessionId).toBeTruthy()
      await gone(cli.calls(home)[0]!.pid)
    })

    test('does not start it when it was stopped before', async () => {
      const home = await cli.fresh()
      for (const state of [{}, { sessionId: 'known' }]) {
        const { result, heard } = await cli.run(home, { signal: AbortSignal.abort(), state })
        expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
        expect(heard.events).toEqual([])
      }
      expect(cli.calls(home)).toEqual([])
    })

    test('does not accept exit code 0 without a result', async () => {
      const { result } = await cli.run(await cli.fresh(), { mode: 'sigint_exit0' })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'output_parse_error', exitCode: 0 })
    })

    test('reports its error output when it breaks', async () => {
      const { result } = await cli.run(await cli.fresh(), { mode: 'crash' })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'nonzero_exit', exitCode: 3 })
      expect(result.errorMessage).toContain('Something broke.')
    })

    test('recognizes a refused login', async () => {
      const { result } = await cli.run(await cli.fresh(), { mode: 'http401' })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'not_logged_in' })
      expect(result).not.toHaveProperty('retryAt')
    })

    test('recognizes a spent limit', async () => {
      const { result } = await cli.run(await cli.fresh(), { mode: 'http429' })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'rate_limited' })
      expect(result).toHaveProperty('retryAt')
    })

    test('reads the session of a lost run from its log, and of its usage what the log tells', async () => {
      const home = await cli.fresh()
      const stop = new AbortController()
      const readIn = (stdout: string) => adapter.readLines!(stdout.split('\n'), {})
      const figuresIn = ({ usage }: { usage?: TokenUsage | null }) => (usage ? figuresOf(usage) : null)
      const tellsAll = (stdout: string) =>
        JSON.stringify(figuresIn(readIn(stdout))) === JSON.stringify(expected.inItsLog)
      const { result, heard } = await cli.run(home, {
        mode: 'hang',
        signal: stop.signal,
        // The program prints on after its call: it is lost only when all that it tells is in its log.
        onOutput: (stdout) => void (readIn(stdout).sessionId && tellsAll(stdout) && stop.abort()),
      })
      const read = readIn(heard.stdout)
      expect(read.sessionId).toBe(result.sessionId)
      expect(figuresIn(read)).toEqual(expected.inItsLog)
      expect(read.usageBasis).toBe(read.usage ? 'partial' : null)
    })

    test('is not disturbed by hooks that fail, or that are missing', async () => {
      const fails = async () => {
        throw new Error('The database is unreachable')
      }
      const hooks = { status: fails, log: fails, usage: fails, event: fails }
      for (const each of [hooks, {}]) {
        const { result } = await cli.run(await cli.fresh(), { mode: 'tool', hooks: each })
        expect(result.outcome).toBe('succeeded')
      }
    })
  })

  describe(`${adapter.type} while it runs`, () => {
    test('reports what it has used, before its program ends', async () => {
      const stop = new AbortController()
      const { result, heard } = await cli.run(await cli.fresh(), {
        mode: 'hang',
        signal: stop.signal,
        onUsage: (usage) => void (isSame(usage, expected.untilItHangs) && stop.abort()),
      })
      expect(result).toMatchObject({ outcome: 'cancelled', usageBasis: 'partial' })
      expect(figuresOf(result.usage!)).toEqual(expected.untilItHangs)
      expect(heard.usages.at(-1)).toEqual(result.usage)
    })

    test('is charged for what was complete when it is killed, and the run that resumes it for the rest only', async () => {
      const home = await cli.fresh()
      const { result: killed } = await cli.run(home, { mode: 'killed' })
      expect(killed).toMatchObject({ outcome: 'failed', signal: 'SIGKILL', usageBasis: 'partial' })
      expect(figuresOf(killed.usage!)).toEqual(expected.untilItHangs)
      const { result } = await cli.run(home, { state: killed.runtimeStatePatch! })
      expect(result).toMatchObject({ outcome: 'succeeded', sessionId: killed.sessionId })
      expect(figuresOf(result.usage!)).toEqual(expected.perRun)
    })

    test('is charged for the same without its files, when its program ends', async () => {
      const home = await cli.fresh()
      let state: Record<string, unknown> = {}
      for (const mode of ['tool', 'success']) {
        const options = { mode: `${mode},${mode}`, state }
        const with_ = await cli.run(await cli.fresh(), { mode })
        const { result } = await cli.run(home, { ...options, env: { FAKE_CLI_NO_FILES: '1' } })
        expect(figuresOf(result.usage!)).toEqual(figuresOf(with_.result.usage!))
        state = { ...state, ...result.runtimeStatePatch }
      }
    })
  })

  describe(`${adapter.type} that cannot be run`, () => {
    test('explains how to install its program', async () => {
      const { result } = await cli.run(await cli.fresh(), { config: { command: 'no-such-program' } })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'adapter_not_installed', exitCode: null })
      expect(result.errorMessage).toMatch(/no-such-program.*npm install/s)
      expect(result.sessionId).toBe(null)
    })

    test('reports a folder that does not exist, or is no folder', async () => {
      const home = await cli.fresh()
      for (const cwd of [join(home, 'nowhere'), scriptOf(program)]) {
        const { result } = await cli.run(home, { cwd })
        expect(result).toMatchObject({ outcome: 'failed', errorCode: 'invalid_working_directory' })
      }
      expect(cli.calls(home)).toEqual([])
    })

    test('starts nothing with settings it refuses', async () => {
      const home = await cli.fresh()
      const { result } = await cli.run(home, { config: { extraArgs: [expected.ownArgs[0]] } })
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'invalid_configuration' })
      expect(cli.calls(home)).toEqual([])
    })

    test.each(expected.ownArgs)('refuses %s among extraArgs', (arg) => {
      expect(adapter.validateConfig({ extraArgs: [arg] })).toMatchObject({ ok: false })
    })

    test('needs no settings at all, and has a schema for forms', () => {
      expect(adapter.validateConfig({})).toEqual({ ok: true })
      expect(adapter.configSchema).toMatchObject({ type: 'object', properties: { model: {}, extraArgs: {} } })
    })
  })

  describe(`${adapter.type} probed`, () => {
    test('reports its version and success', async () => {
      const home = await cli.fresh()
      const checks = await cli.probe(home, { env: { [expected.keyName]: 'a key' } })
      expect(checks.filter(({ ok }) => !ok)).toEqual([])
      expect(checks.map(({ name }) => name)).toEqual(['program', 'login', 'folder'])
      expect(checks[0]!.detail).toMatch(/\d+\.\d+/)
      expect(cli.calls(home)).toEqual([])
    })

    test('reports what is missing, with a hint', async () => {
      const home = await cli.fresh()
      const missing = await cli.probe(home, { config: { command: 'no-such-program' } })
      expect(missing[0]).toMatchObject({
        name: 'program',
        ok: false,
        hint: expect.stringContaining('npm install'),
      })
      const nowhere = await cli.probe(home, { cwd: join(home, 'nowhere') })
      expect(nowhere.at(-1)).toMatchObject({ name: 'folder', ok: false, hint: expect.any(String) })
      const wrong = await cli.probe(home, { config: { model: '--x' } })
      expect(wrong).toEqual([
        { name: 'settings', ok: false, detail: expect.stringContaining('model'), hint: expect.any(String) },
      ])
    })

    test('identifies whose limits it shares: by key, else by login', () => {
      const of = (env: Record<string, string>) => adapter.credentialOf!({ cwd: null, adapterConfig: {}, env })
      const key = of({ [expected.keyName]: 'sk-secret', HOME: '/a' })
      expect(key).toBe(of({ [expected.keyName]: 'sk-secret', HOME: '/b' }))
      expect(key).not.toBe(of({ [expected.keyName]: 'sk-other', HOME: '/a' }))
      expect(of({ HOME: '/a' })).not.toBe(of({ HOME: '/b' }))
      expect(key).toMatch(new RegExp(`^${adapter.type}:[0-9a-f]{16}$`))
    })
  })

  return cli
}
