#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import * as fake from './fake.mjs'

/** A stand-in for the Claude CLI: its flags, its events, its sessions and its counters. */

const version = process.env.FAKE_CLI_VERSION ?? '2.1.325'
const isCumulative = Number(version.split('.')[2]) >= 277
const MODEL = 'claude-opus-5-5'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const args = process.argv.slice(2)
if (args[0] === '--version') await fake.print(`${version} (Claude Code)\n`).then(() => process.exit(0))
if (args[0] === 'auth') {
  const loggedIn = process.env.FAKE_CLI_LOGGED_IN !== 'no'
  await fake.print(`${JSON.stringify({ loggedIn }, null, 2)}\n`)
  process.exit(loggedIn ? 0 : 1)
}
const given = fake.parse(args, {
  switches: ['--print', '-p', '--verbose', '--dangerously-skip-permissions'],
  values: [
    '--output-format',
    '--session-id',
    '--resume',
    '--model',
    '--max-turns',
    '--max-budget-usd',
    '--mcp-config',
    '--append-system-prompt',
    '--allowedTools',
  ],
  refuse: (flag) => {
    process.stderr.write(`error: unknown option '${flag}'\n`)
    process.exit(1)
  },
})
if (given['--output-format'] === 'stream-json' && !given['--verbose'])
  await fake.quit(1, 'Error: When using --print, --output-format=stream-json requires --verbose')
if (given['--dangerously-skip-permissions'] && process.getuid?.() === 0 && !process.env.IS_SANDBOX)
  await fake.quit(
    1,
    '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons',
  )

const prompt = await fake.stdin()
const mode = fake.beginRun('claude', prompt)
const resumed = given['--resume']
const sessionId = resumed ?? given['--session-id'] ?? randomUUID()
if (given['--session-id'] && !UUID.test(sessionId))
  await fake.quit(1, 'Error: Invalid session ID. Must be a valid UUID.')
if (given['--session-id'] && fake.sessionOf('claude', sessionId))
  await fake.quit(1, `Error: Session ID ${sessionId} is already in use.`)

const NOTHING = { input: 0, output: 0, cached: 0, cost: 0 }
const before = fake.sessionOf('claude', sessionId)
const run = { ...NOTHING }
const result = (fields) => {
  const base = isCumulative && before ? before : NOTHING
  const all = Object.fromEntries(Object.keys(run).map((figure) => [figure, base[figure] + run[figure]]))
  const cost = all.cost / 1_000_000
  return {
    duration_api_ms: 62,
    stop_reason: 'end_turn',
    session_id: sessionId,
    total_cost_usd: cost,
    usage: {
      input_tokens: run.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: run.cached,
      output_tokens: run.output,
    },
    modelUsage:
      all.input === 0
        ? {}
        : {
            [MODEL]: {
              inputTokens: all.input,
              outputTokens: all.output,
              cacheReadInputTokens: all.cached,
              cacheCreationInputTokens: 0,
              costUSD: cost,
            },
          },
    permission_denials: [],
    terminal_reason: 'completed',
    is_error: false,
    num_turns: 1,
    subtype: 'success',
    api_error_status: null,
    result: fake.says,
    type: 'result',
    uuid: randomUUID(),
    ...fields,
  }
}
const remember = () => {
  const base = before ?? NOTHING
  const all = Object.fromEntries(Object.keys(run).map((figure) => [figure, base[figure] + run[figure]]))
  fake.keepSession('claude', sessionId, all)
}

const isGone = mode === 'unknown_session' || mode === 'never_begins'
if ((resumed && (isGone || !before)) || mode === 'never_begins') {
  const error = `No conversation found with session ID: ${sessionId}`
  const { result: _, terminal_reason: __, api_error_status: ___, ...lone } = result({})
  await fake.printLine({
    ...lone,
    subtype: 'error_during_execution',
    is_error: true,
    num_turns: 0,
    stop_reason: null,
    errors: [error],
  })
  await fake.quit(1, error)
}
if (mode === 'silent') await fake.forever()
if (mode === 'no_output') process.exit(0)

await fake.printLine({
  type: 'system',
  subtype: 'init',
  cwd: process.cwd(),
  session_id: sessionId,
  model: MODEL,
  claude_code_version: version,
})
remember()

let turn = 0
/** A message and, as the real one does, fewer output tokens in it than it will be charged for. */
async function say(content, { input = 100, cached = 40, output = 7, cost = 548 } = {}) {
  run.input += input
  run.cached += cached
  run.output += output
  run.cost += cost
  remember()
  turn++
  await fake.printLine({
    type: 'assistant',
    message: {
      id: `msg_${sessionId}_${turn}`,
      role: 'assistant',
      model: MODEL,
      content,
      usage: {
        input_tokens: input,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: cached,
        output_tokens: 1,
      },
    },
    session_id: sessionId,
  })
}
async function useTool(command, isError = false) {
  const id = `toolu_${turn}`
  await say([{ type: 'tool_use', id, name: 'Bash', input: { command } }], { output: 20, cost: 808 })
  await fake.printLine({
    type: 'user',
    message: {
      role: 'user',
      content: [{ tool_use_id: id, type: 'tool_result', content: 'hi', is_error: isError }],
    },
    session_id: sessionId,
  })
}
async function apiError(status, error, text) {
  await fake.printLine({
    type: 'assistant',
    message: { id: randomUUID(), model: '<synthetic>', content: [{ type: 'text', text }], usage: {} },
    session_id: sessionId,
    error,
    is_api_error_message: true,
  })
  await fake.printLine(
    result({ is_error: true, api_error_status: status, terminal_reason: 'api_error', result: text }),
  )
  process.exit(1)
}
const fail = async (fields) => {
  const { result: _, ...rest } = result(fields)
  await fake.printLine(rest)
  process.exit(1)
}

switch (mode) {
  case 'http401':
    await apiError(401, 'authentication_failed', 'Invalid API key · Fix external API key')
    break
  case 'not_logged_in':
    await apiError(null, 'authentication_failed', 'Not logged in · Please run /login')
    break
  case 'http429': {
    const resetsAt = Number(process.env.FAKE_CLI_RESETS_AT ?? Math.floor(Date.now() / 1000) + 3600)
    await fake.printLine({
      type: 'rate_limit_event',
      rate_limit_info: { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false },
      session_id: sessionId,
    })
    await apiError(429, 'rate_limit', 'API Error: Request rejected (429)')
    break
  }
  case 'http529':
    await apiError(529, 'server_error', 'API Error: Overloaded')
    break
  case 'max_turns':
    await useTool('echo hi')
    await fail({
      is_error: true,
      subtype: 'error_max_turns',
      terminal_reason: 'max_turns',
      errors: ['Reached maximum number of turns (1)'],
    })
    break
  case 'max_budget':
    await say([{ type: 'text', text: 'Costly' }])
    await fail({ is_error: true, subtype: 'error_max_budget_usd', errors: ['Reached maximum budget'] })
    break
  case 'refusal':
    await say([{ type: 'text', text: 'No' }])
    await fake.printLine(result({ stop_reason: 'refusal', result: 'No' }))
    process.exit(0)
    break
  case 'sigint_exit0':
    await say([{ type: 'text', text: 'On my way' }])
    process.exit(0)
    break
  case 'transient':
    for (const attempt of [1, 2, 3])
      await fake.printLine({ type: 'system', subtype: 'api_retry', attempt, session_id: sessionId })
    break
  case 'loop':
    for (;;) {
      await useTool('echo hi')
      await fake.pause(10)
    }
  case 'errors':
    for (;;) {
      await useTool(`cat ${turn}`, true)
      await fake.pause(10)
    }
  case 'tool':
    await useTool('echo hi')
    break
  case 'denied':
    await useTool('rm -rf /', true)
    break
}
if (mode === 'hang' || mode === 'killed') {
  await useTool('echo hi')
  await say([{ type: 'text', text: 'On my way' }])
}
await fake.misbehave(mode)
await say([{ type: 'text', text: fake.says }])
const last = result(
  mode === 'denied' ? { permission_denials: [{ tool_name: 'Bash', tool_use_id: 'toolu_0' }] } : {},
)
if (mode === 'split_utf8') await fake.printByByte(last)
else await fake.printLine(last)
process.exit(0)
