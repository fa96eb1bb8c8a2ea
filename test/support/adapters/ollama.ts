import type { AdapterHooks, AdapterInvokeInput, AdapterInvokeResult, AgentRunAdapter } from 'baton/adapter'

/** Runs one prompt on a model that Ollama serves. The answer arrives as lines of JSON. */

const SETTINGS = ['url', 'model', 'promptTemplate', 'timeoutSec']

function faultsOf(config: unknown): string[] {
  if (typeof config !== 'object' || config === null) return ['The settings must be an object.']
  try {
    const { url, model } = config as Record<string, unknown>
    const unknown = Object.keys(config).filter((name) => !SETTINGS.includes(name))
    return [
      ...unknown.map((name) => `${name} is not a setting of ollama.`),
      ...(typeof url === 'string' && URL.canParse(url) ? [] : ['url must be the address of Ollama.']),
      ...(typeof model === 'string' && model !== '' ? [] : ['model must be the name of a model.']),
    ]
  } catch {
    return ['The settings cannot be read.']
  }
}

const failed = (
  errorCode: AdapterInvokeResult['errorCode'],
  errorMessage: string,
  outcome: AdapterInvokeResult['outcome'] = 'failed',
): AdapterInvokeResult => ({ outcome, exitCode: null, errorCode, errorMessage })

/** A hook may fail. The outcome of the run must not depend on it. */
async function report(act: () => Promise<void> | undefined): Promise<void> {
  try {
    await act()
  } catch {
    // The caller that passed the hook handles its failure.
  }
}

async function generate(
  { adapterConfig, prompt }: AdapterInvokeInput,
  hooks: AdapterHooks,
  signal: AbortSignal,
): Promise<AdapterInvokeResult> {
  const { url, model } = adapterConfig as { url: string; model: string }
  const body = JSON.stringify({ model, prompt })
  const answer = await fetch(new URL('/api/generate', url), { method: 'POST', body, signal })
  if (!answer.ok || !answer.body) return failed('api_error', `Ollama answered ${answer.status}.`)
  let [text, rest] = ['', '']
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      const part = JSON.parse(line)
      text += part.response
      await report(() => hooks.log?.({ stream: 'stdout', chunk: part.response }))
      if (part.done)
        return {
          outcome: 'succeeded',
          exitCode: null,
          result: text,
          usage: { inputTokens: part.prompt_eval_count, outputTokens: part.eval_count },
          usageBasis: 'reported',
          provider: 'ollama',
          model,
        }
    }
  }
  return failed('output_parse_error', 'The answer is incomplete.')
}

const ollama: AgentRunAdapter = {
  type: 'ollama',
  protocolVersion: 'agent-run/v1',
  capabilities: { resumableSession: false, statusUpdates: false, logStreaming: true, tokenUsage: true },
  usesFolder: false,
  configSchema: {
    type: 'object',
    required: ['url', 'model'],
    properties: { url: { type: 'string' }, model: { type: 'string' } },
  },
  validateConfig(config) {
    const errors = faultsOf(config)
    return errors.length === 0 ? { ok: true } : { ok: false, errors }
  },
  async invoke(input, hooks, signal) {
    const [fault] = faultsOf(input.adapterConfig)
    if (fault) return failed('invalid_configuration', fault)
    const timeout = AbortSignal.timeout(input.timeoutSec * 1000)
    try {
      return await generate(input, hooks, AbortSignal.any([signal, timeout]))
    } catch (error) {
      if (signal.aborted) return failed('cancelled', 'The run was cancelled.', 'cancelled')
      if (timeout.aborted) return failed('timeout', 'The run exceeded its timeout.', 'timed_out')
      return failed('api_error', `Ollama cannot be reached: ${(error as Error).message}.`)
    }
  },
}

export default ollama
