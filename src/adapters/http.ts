import type { LookupFunction } from 'node:net'
import { z } from 'zod'
import { agentStateIn, MOST_STATE_BYTES } from '../kinds/run/rules/agent-state.ts'
import type { CallbackMessage } from '../kinds/run/shapes/callbacks.ts'
import { FOR_AGENTS, namesForbiddenAddress, withoutValues } from '../outgoing/addresses.ts'
import { exchange } from '../outgoing/exchange.ts'
import { REDACTED } from '../pure/secrets/redaction.ts'
import type { Callbacks, Expected } from './callbacks.ts'
import { commonSettings, configOf, failed } from './config.ts'
import { Deadline } from './deadline.ts'
import { quietHooks } from './hooks.ts'
import { type AgentAnswer, answerIn, failureIn } from './http-answers.ts'
import type {
  AdapterHooks,
  AdapterInvokeInput,
  AdapterInvokeResult,
  AgentRunAdapter,
  BeforeResume,
  TokenUsage,
} from './protocol.ts'
import { PROTOCOL_VERSION } from './protocol.ts'
import { dollarsIn, sessionIn, textIn, usageIn } from './reported.ts'

/** Agents behind a URL: they answer at once (200), or accept the work (202) and report by callbacks. */

const RESERVED_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'expect',
  'upgrade',
])
const HeaderName = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'is not a valid header name')
  .refine((name) => !RESERVED_HEADERS.has(name.toLowerCase()), 'cannot be set: Baton sets it itself')
const HeaderValue = z
  .string()
  .max(8_192)
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'has characters that are not allowed in a header')

const Url = z
  .string()
  .max(4_096)
  .refine((text) => /^https?:$/.test(urlOf(text)?.protocol ?? ''), 'must be a complete http or https URL')
  .refine(
    (text) => !urlOf(text)?.username && !urlOf(text)?.password,
    'must not contain a password: use headers',
  )
  .refine((text) => {
    const url = urlOf(text)
    return !url || !namesForbiddenAddress(url, FOR_AGENTS)
  }, 'must not be a link-local address or a metadata service')

const config = configOf(
  'http',
  z.strictObject({
    ...commonSettings,
    url: Url,
    method: z.enum(['POST', 'PUT']).default('POST'),
    headers: z.record(HeaderName, HeaderValue).default({}),
    /** How long an agent that accepted the work may be silent. */
    heartbeatTimeoutSec: z.int().min(1).max(86_400).default(300),
  }),
)
type HttpSettings = Extract<ReturnType<typeof config.read>, { ok: true }>['settings']

/** The request to stop is a courtesy to the other side: Baton does not wait long for it. */
const LONGEST_STOP_REQUEST_MS = 5_000

/** `lookup` resolves names instead of the system. */
export function httpAdapter(callbacks: Callbacks, lookup?: LookupFunction): AgentRunAdapter {
  async function run(
    [input, hooks, signal]: Parameters<AgentRunAdapter['invoke']>,
    before: BeforeResume | null,
    act: (run: HttpRun, expected: Expected) => Promise<AdapterInvokeResult>,
  ): Promise<AdapterInvokeResult> {
    const read = config.read(input.adapterConfig)
    if (!read.ok) return read.result
    // Before the request: the result may arrive before the 202.
    const expected = await callbacks.expect(input.runId)
    const deadline = new Deadline(signal, input.timeoutSec * 1_000)
    try {
      return await act(new HttpRun(input, read.settings, hooks, deadline, lookup, before), expected)
    } finally {
      deadline.close()
      expected.close()
    }
  }
  return {
    type: 'http',
    protocolVersion: PROTOCOL_VERSION,
    usesFolder: false,
    takes: ['systemPrompt', 'tools'],
    capabilities: { resumableSession: true, statusUpdates: true, logStreaming: true, tokenUsage: true },
    configSchema: config.schema,
    validateConfig: config.validate,
    invoke: (...asked) => run(asked, null, (begun, expected) => begun.execute(expected)),
    resume: (input, hooks, signal, before) =>
      run([input, hooks, signal], before, (begun, expected) => begun.await(expected)),
  }
}

/** One request to an agent, until its work ends. */
class HttpRun {
  readonly #input: AdapterInvokeInput
  readonly #settings: HttpSettings
  readonly #hooks: Required<AdapterHooks>
  readonly #deadline: Deadline
  readonly #url: URL
  readonly #lookup: LookupFunction | undefined
  /** Reported by heartbeats. */
  #usage: TokenUsage | null
  #sessionId: string | null
  /** Where it can be asked to stop. */
  #location: string | null
  /** What the agent keeps for its next run. */
  #agentState: Record<string, unknown> | null = null

  constructor(
    input: AdapterInvokeInput,
    settings: HttpSettings,
    hooks: AdapterHooks,
    deadline: Deadline,
    lookup: LookupFunction | undefined,
    before: BeforeResume | null,
  ) {
    this.#input = input
    this.#settings = settings
    this.#hooks = quietHooks(hooks)
    this.#deadline = deadline
    this.#url = new URL(settings.url)
    this.#lookup = lookup
    this.#sessionId = before?.sessionId ?? sessionIn(input.runtimeState.sessionId)
    this.#usage = before?.usage ?? null
    const location = textIn(before?.state?.location) ?? null
    // Where a secret was left out, there is nothing to ask.
    this.#location = location?.includes(REDACTED) ? null : location
  }

  async execute(expected: Expected): Promise<AdapterInvokeResult> {
    const { method, headers } = this.#settings
    const { signal } = this.#deadline
    const { origin, pathname } = this.#url
    // Without the query string, which may hold a secret.
    await this.#log(`${method} ${origin}${pathname}`)
    const body = JSON.stringify(requestOf(this.#input, this.#sessionId))
    const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json' }
    await this.#hooks.event('invocation', {
      method,
      url: withoutValues(this.#url),
      headers: Object.keys(sent),
    })
    const answer = await exchange({
      ...{ url: this.#url, method, headers: sent, body, signal },
      ...{ rule: FOR_AGENTS, lookup: this.#lookup },
    })
    if (this.#deadline.stopped) return this.#stopped(this.#deadline.stopped)
    if (answer.kind === 'answer' && answer.body !== '')
      await this.#hooks.log({ stream: 'stdout', chunk: `${answer.body}\n` })
    const failure = failureIn(answer, Date.now())
    if (failure || answer.kind !== 'answer') return this.#with(failure!)
    if (answer.status === 202) return this.#later(expected, answer.headers.location ?? null)
    const result = answerIn(answer.status === 204 ? '{}' : answer.body)
    if (!result)
      return this.#with(
        failed('output_parse_error', `The agent answered ${answer.status}, but not a JSON object.`),
      )
    if (result.isStateRefused)
      await this.#log(`The state was not kept: it must be an object of up to ${MOST_STATE_BYTES} bytes.`)
    return this.#done(result)
  }

  async #later(expected: Expected, location: string | null): Promise<AdapterInvokeResult> {
    if (!this.#input.callback)
      return this.#with(failed('adapter_error', 'The agent answers later, but the run has no callback URL.'))
    this.#location = location
    // From here on another node can wait for it.
    await this.#hooks.event('accepted', { state: { location } })
    await this.#log('The agent accepted the work and will report by callbacks.')
    return this.await(expected)
  }

  /** Waits for an agent that has accepted the work. */
  async await(expected: Expected): Promise<AdapterInvokeResult> {
    const { heartbeatTimeoutSec } = this.#settings
    for (;;) {
      const message = await expected.next(heartbeatTimeoutSec * 1_000, this.#deadline.signal)
      if (message?.kind === 'heartbeat') await this.#heartbeat(message)
      else if (message?.kind === 'result') return this.#done(answerOf(message))
      else if (message?.kind === 'failure') return this.#failed(message)
      else if (message?.kind === 'left') return this.#stopped('aborted')
      else {
        await this.#requestStop()
        if (this.#deadline.stopped) return this.#stopped(this.#deadline.stopped)
        const silence = `The agent accepted the work and was silent for ${heartbeatTimeoutSec} seconds.`
        return this.#with(failed('timeout', silence))
      }
    }
  }

  async #heartbeat(message: Extract<CallbackMessage, { kind: 'heartbeat' }>): Promise<void> {
    const { progress, status, usage, checkpoint, sessionId } = message
    const { event } = this.#hooks
    // For the detection of silence; a heartbeat is not progress.
    await event('heartbeat', {})
    if (progress) await event('progress', progress)
    if (status) await this.#hooks.status(status)
    if (checkpoint !== undefined) await event('checkpoint', { data: checkpoint })
    if (usage) {
      this.#usage = usageIn(usage)
      if (this.#usage) await this.#hooks.usage(this.#usage)
    }
    if (sessionId && sessionId !== this.#sessionId) {
      this.#sessionId = sessionId
      await event('session', { sessionId })
    }
  }

  #done({ usage, sessionId, agentState, isStateRefused: _, ...rest }: AgentAnswer): AdapterInvokeResult {
    this.#agentState = agentState
    this.#sessionId = sessionId ?? this.#sessionId
    const reported = usage ?? this.#usage
    const basis = reported ? ('reported' as const) : null
    return {
      ...this.#with({ outcome: 'succeeded', exitCode: null, ...rest }),
      usage: reported,
      usageBasis: basis,
    }
  }

  #failed(failure: Extract<CallbackMessage, { kind: 'failure' }>) {
    const { code = 'nonzero_exit', message, retryAt, usage, state } = failure
    this.#agentState = agentStateIn(state)
    this.#usage = usageIn(usage) ?? this.#usage
    return this.#with({
      ...failed(code, message),
      ...(code === 'rate_limited' && { retryAt: retryAt ?? null }),
    })
  }

  #stopped(why: 'timeout' | 'aborted'): AdapterInvokeResult {
    return this.#with(
      why === 'timeout'
        ? { ...failed('timeout', 'The agent exceeded its timeout.'), outcome: 'timed_out' }
        : {
            ...failed('cancelled', 'The run was stopped; the agent is no longer waited for.'),
            outcome: 'cancelled',
          },
    )
  }

  /** Adds the usage, session and state known so far. */
  #with(result: AdapterInvokeResult): AdapterInvokeResult {
    const [usage, sessionId, agentState] = [this.#usage, this.#sessionId, this.#agentState]
    return {
      ...result,
      usage,
      usageBasis: usage ? 'partial' : null,
      sessionId,
      ...(sessionId !== null && { runtimeStatePatch: { sessionId } }),
      ...(agentState !== null && { agentState }),
    }
  }

  /** Only to the origin of the agent: the headers hold secrets that no other server may get. */
  async #requestStop(): Promise<void> {
    const url = this.#location === null ? null : urlOf(this.#location, this.#url)
    if (url?.origin !== this.#url.origin) return
    const { headers, graceSec } = this.#settings
    const deadline = new Deadline(NEVER, Math.min(graceSec * 1_000, LONGEST_STOP_REQUEST_MS) || 1)
    const { signal } = deadline
    const answer = await exchange({
      ...{ url, method: 'DELETE', headers, signal, rule: FOR_AGENTS, lookup: this.#lookup },
    })
    deadline.close()
    const isDelivered = answer.kind === 'answer' || answer.kind === 'too_large'
    await this.#log(isDelivered ? 'The agent was asked to stop.' : 'The agent could not be asked to stop.')
  }

  #log = (sentence: string) => this.#hooks.log({ stream: 'system', chunk: `${sentence}\n` })
}

const NEVER = new AbortController().signal

/** The body of the request. It holds none of the settings or the environment: the other side must not get them. */
const requestOf = (input: AdapterInvokeInput, sessionId: string | null) => ({
  protocolVersion: input.protocolVersion,
  runId: input.runId,
  agentId: input.agentId,
  companyId: input.companyId,
  wakeupSource: input.wakeupSource,
  triggerDetail: input.triggerDetail ?? null,
  prompt: input.prompt,
  systemPrompt: input.systemPrompt ?? null,
  model: input.model ?? null,
  tools: input.tools ?? [],
  task: input.task ?? null,
  sessionId,
  state: input.agentState,
  timeoutSec: input.timeoutSec,
  callback: input.callback ?? null,
})

const answerOf = (message: Extract<CallbackMessage, { kind: 'result' }>): AgentAnswer => ({
  summary: message.summary ?? null,
  usage: usageIn(message.usage),
  wantsMore: message.continue ?? false,
  sessionId: message.sessionId ?? null,
  costUsd: dollarsIn(message.costUsd),
  agentState: agentStateIn(message.state),
  isStateRefused: false,
  ...(message.result !== undefined && { result: message.result }),
})

function urlOf(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base)
  } catch {
    return null
  }
}
