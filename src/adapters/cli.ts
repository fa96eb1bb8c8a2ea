import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { wholeJson } from '../pure/json-in-text.ts'
import type { Json } from '../transcript/json.ts'
import { failureOf } from './child/failure.ts'
import { type ChildEnd, invocationOf, runChild } from './child/run-child.ts'
import {
  type FileReader,
  type OutputReader,
  type ReaderEvent,
  sessionIdIn,
  type Verdict,
} from './cli-lines.ts'
import { type ProbeOf, probeCli } from './cli-probe.ts'
import { askedOf, type TaskFlags } from './cli-task.ts'
import type { Config } from './config.ts'
import { Following, readLeft } from './files/follow.ts'
import type { FindFiles, Place } from './files/places.ts'
import { quietHooks } from './hooks.ts'
import {
  type AdapterHooks,
  type AdapterInvokeInput,
  type AdapterInvokeResult,
  type AgentRunAdapter,
  PROTOCOL_VERSION,
} from './protocol.ts'

/** Shared by the adapters of agent programs: one run of a program, and one fresh start when its session no longer exists. */

interface Session {
  id: string
  isNew: boolean
}

interface CliSettings {
  command: string
  model?: string | undefined
  graceSec: number
  extraArgs: readonly string[]
  grantableTools?: readonly string[] | undefined
}

export interface Cli<S extends CliSettings> extends ProbeOf<S> {
  type: string
  config: Config<S>
  inheritsEnv: readonly string[]
  /** Whether Baton chooses the session id, so that it is known before the program runs. */
  choosesSessions: boolean
  /** The prompt is never an argument: it may hold secrets, be long, or begin with a dash. It goes to stdin. */
  argumentsFor(settings: S, session: Session | null): string[]
  /** Flags that older versions refuse: one of those is started again without them. */
  newerFlags?: readonly string[]
  /** Its flags for what a task asks for, if it has any. */
  taskFlags?: TaskFlags
  /** The model is that of the settings, if they name one. */
  reader(runtimeState: Json, model: string | null): OutputReader | FileReader
  /** Lines that are parsed and not logged. */
  isUnlogged?(line: string): boolean
  /** Where its files are. Its reader is then one of files. */
  files?(place: Place): FindFiles
  providerOf(settings: S): string | null
  /** The variables that may hold its key; without a key, the folder in which it stores its login. */
  keys: readonly string[]
  loginFolder(env: Record<string, string>): string
  /** The name of the file with its tokens there. */
  loginFile: string
  /** As AgentRunAdapter has them. */
  keyVariables?: readonly string[]
  loginHasKey?(login: unknown): boolean
}

export function cliAdapter<S extends CliSettings>(cli: Cli<S>): AgentRunAdapter {
  return {
    type: cli.type,
    protocolVersion: PROTOCOL_VERSION,
    capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
    takes: ['systemPrompt', 'tools'],
    configSchema: cli.config.schema,
    inheritsEnv: cli.inheritsEnv,
    loginFiles: (env) => [join(cli.loginFolder(env), cli.loginFile)],
    ...(cli.keyVariables && { keyVariables: cli.keyVariables }),
    ...(cli.loginHasKey && { loginHasKey: cli.loginHasKey }),
    validateConfig: cli.config.validate,
    invoke: (input, hooks, signal) => invoke(cli, input, hooks, signal),
    credentialOf: ({ env }) => {
      const key = cli.keys.map((name) => env[name]).find(Boolean)
      return `${cli.type}:${shortHash(key ?? `folder ${cli.loginFolder(env)}`)}`
    },
    async probe(input, signal) {
      const read = cli.config.read(input.adapterConfig)
      if (!read.ok)
        return [
          { name: 'settings', ok: false, detail: read.result.errorMessage!, hint: 'Correct the settings.' },
        ]
      return probeCli(cli, read.settings, input, signal)
    },
    readLines(lines, runtimeState) {
      const reader = cli.reader(runtimeState, null)
      for (const line of lines) reader.take(line)
      return readFrom(reader)
    },
    async readLineStream(lines, runtimeState, at) {
      const reader = cli.reader(runtimeState, null)
      for await (const line of lines) reader.take(line)
      if (at && cli.files && 'left' in reader) {
        const files = cli.files({ home: cli.loginFolder(at.env), cwd: at.cwd })
        await readLeft(await files(reader.traces()), (line) => reader.left(line))
      }
      return readFrom(reader)
    },
  }
}

function readFrom(reader: OutputReader) {
  const { rawResult: _, ...facts } = reader.facts()
  return facts
}

const shortHash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16)

interface Attempt {
  end: ChildEnd
  reader: OutputReader
  verdict: Verdict
}

async function invoke<S extends CliSettings>(
  cli: Cli<S>,
  input: AdapterInvokeInput,
  rawHooks: AdapterHooks,
  signal: AbortSignal,
): Promise<AdapterInvokeResult> {
  const read = cli.config.read(input.adapterConfig)
  if (!read.ok) return read.result
  const { settings } = read
  const hooks = quietHooks(rawHooks)
  const endsAt = performance.now() + input.timeoutSec * 1_000
  const report = reporter(hooks)
  const asked = askedOf(cli.taskFlags, settings, input)
  if (asked.notGranted.length > 0) await hooks.log({ stream: 'system', chunk: notGranted(asked.notGranted) })
  const start = async (session: Session | null, flags: readonly string[]): Promise<Attempt> => {
    const reader = cli.reader(input.runtimeState, settings.model ?? null)
    // Reported before the spawn: whatever happens from now on, the session can be resumed.
    if (session?.isNew && !signal.aborted) await report({ kind: 'session', sessionId: session.id })
    const spec = {
      command: settings.command,
      args: [...flags, ...cli.argumentsFor(settings, session), ...asked.args],
      cwd: input.cwd,
      env: input.env,
      stdin: asked.prompt,
      timeoutMs: input.timeoutSec === 0 ? 0 : Math.max(1, endsAt - performance.now()),
      graceMs: settings.graceSec * 1_000,
      runId: input.runId,
      isUnlogged: cli.isUnlogged,
    }
    const onLine = async (line: string) => {
      for (const event of reader.take(line)) await report(event)
    }
    if (!signal.aborted) await hooks.event('invocation', invocationOf(spec))
    const following = followed(cli, input, reader, session, report)
    await following?.begin(session?.isNew === false)
    // Whatever becomes of the program, nothing is looked at any more when this is over.
    const end = await runChild(spec, rawHooks, onLine, signal).finally(() => following?.end())
    const verdict = reader.end({ code: end.exitCode, stderrTail: end.stderrTail })
    return { end, reader, verdict }
  }
  const attempt = async (session: Session | null): Promise<Attempt> => {
    const { newerFlags = [] } = cli
    const first = await start(session, newerFlags)
    return isRefused(first, newerFlags) ? start(session, []) : first
  }
  const fresh = () => attempt(cli.choosesSessions ? { id: randomUUID(), isNew: true } : null)
  const known = sessionIdIn(input.runtimeState.sessionId)
  if (known === null) return resultOf(cli, settings, await fresh(), false)
  const resumed = await attempt({ id: known, isNew: false })
  const isUnknown = resumed.verdict.kind === 'unknown_session' && !isStopped(resumed.end)
  if (!isUnknown) return resultOf(cli, settings, resumed, false)
  const message = 'session not found, starting a new one'
  await report({ kind: 'status', message, color: 'yellow' })
  return resultOf(cli, settings, await fresh(), true)
}

const notGranted = (tools: readonly string[]) =>
  `Tools that the task asks for and its agent may not use: ${tools.join(', ')}.\n`

/** It ended at once, and its complaint names one of them. */
const isRefused = ({ end, verdict }: Attempt, flags: readonly string[]) =>
  verdict.kind === 'unknown_session' && !isStopped(end) && flags.some((flag) => end.stderrTail.includes(flag))

/** Reads what its program writes while it runs. */
function followed<S extends CliSettings>(
  cli: Cli<S>,
  { env, cwd }: AdapterInvokeInput,
  reader: OutputReader | FileReader,
  session: Session | null,
  report: (event: ReaderEvent) => Promise<void>,
): Following | null {
  const find = cli.files?.({ home: cli.loginFolder(env), cwd })
  if (!find || !('left' in reader)) return null
  return new Following({
    find() {
      const traces = reader.traces()
      return find({ ...traces, sessionId: traces.sessionId ?? session?.id ?? null })
    },
    before: (line) => reader.before(line),
    take: (line) => reader.written(line),
    looked() {
      const usage = reader.usage()
      if (usage) void report({ kind: 'usage', usage })
    },
  })
}

const isStopped = ({ stopped, spawnError }: ChildEnd) => stopped !== null || spawnError !== null

/** Forwards events to the hooks; unchanged values are not repeated. */
function reporter(hooks: Required<AdapterHooks>): (event: ReaderEvent) => Promise<void> {
  let lastStatus = ''
  let lastSession = ''
  let lastUsage = ''
  return async (event) => {
    switch (event.kind) {
      case 'status':
        if (event.message === lastStatus) return
        lastStatus = event.message
        return hooks.status({ message: event.message, color: event.color })
      case 'session':
        if (event.sessionId === lastSession) return
        lastSession = event.sessionId
        return hooks.event('session', { sessionId: event.sessionId })
      case 'usage':
        if (JSON.stringify(event.usage) === lastUsage) return
        lastUsage = JSON.stringify(event.usage)
        return hooks.usage(event.usage)
      case 'call':
        return hooks.event('call', {
          ...{ signature: event.signature, isError: event.isError },
          ...(event.tookMs !== undefined && { tookMs: event.tookMs }),
        })
      case 'rate_limit':
        return hooks.event('rate_limit', { until: event.until })
      case 'activity':
        return hooks.event('activity', {})
    }
  }
}

function resultOf<S extends CliSettings>(
  cli: Cli<S>,
  settings: S,
  { end, reader, verdict }: Attempt,
  isSecondStart: boolean,
): AdapterInvokeResult {
  const facts = reader.facts()
  const ended = {
    exitCode: end.exitCode,
    signal: end.signal,
    ...facts,
    model: facts.model ?? settings.model ?? null,
    provider: cli.providerOf(settings),
  }
  if (isStopped(end)) return { ...ended, ...stoppedOf(cli, settings, end) }
  switch (verdict.kind) {
    case 'done':
      return { ...ended, outcome: 'succeeded', ...madeOf(verdict) }
    case 'unknown_session': {
      const errorCode = isSecondStart
        ? 'resume_session_invalid'
        : end.exitCode === 0
          ? 'output_parse_error'
          : 'nonzero_exit'
      return { ...ended, outcome: 'failed', errorCode, errorMessage: verdict.message }
    }
    case 'failed': {
      const outcome = verdict.code === 'cancelled' ? 'cancelled' : 'failed'
      const retry = verdict.code === 'rate_limited' ? { retryAt: verdict.retryAt ?? null } : {}
      return { ...ended, outcome, errorCode: verdict.code, errorMessage: verdict.message, ...retry }
    }
  }
}

function stoppedOf<S extends CliSettings>(cli: Cli<S>, settings: S, end: ChildEnd) {
  const failure = failureOf(end, settings.command)!
  if (failure.errorCode !== 'adapter_not_installed') return failure
  return { ...failure, errorMessage: `${failure.errorMessage} ${cli.installHint}` }
}

const LONGEST_SUMMARY = 10_000

function madeOf({ text, structured, wantsMore }: Extract<Verdict, { kind: 'done' }>) {
  const summary = text?.slice(0, LONGEST_SUMMARY).toWellFormed() ?? null
  if (wantsMore) return { summary, wantsMore }
  return { summary, wantsMore: false, result: structured ?? wholeJson(text ?? '') ?? { text: text ?? '' } }
}
