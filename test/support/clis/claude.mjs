#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import * as fake from './fake.mjs'

/** A stand-in for the Claude CLI: its flags, its events, its sessions with their files, and its counters. */

const version = process.env.FAKE_CLI_VERSION ?? '2.1.325'
const [major, minor, patch] = version.split('.').map(Number)
const isCumulative = patch >= 277
const tellsTurns = patch >= 325 && !process.env.FAKE_CLI_NO_TURNS
const knowsPieces = major > 2 || (major === 2 && minor >= 1)
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
  switches: [
    ...['--print', '-p', '--verbose', '--dangerously-skip-permissions'],
    ...(knowsPieces ? ['--include-partial-messages'] : []),
  ],
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
/** What the last result has told. */
let told = { ...NOTHING }
/** What the agent itself has used since then. */
let own = { ...NOTHING }
let results = 0

const folder = join(process.env.CLAUDE_CONFIG_DIR || join(process.env.HOME, '.claude'), 'projects')
const project = join(folder, process.cwd().replace(/[^A-Za-z0-9]/g, '-'))
const file = join(project, `${sessionId}.jsonl`)

const less = (all, some) =>
  Object.fromEntries(Object.keys(all).map((figure) => [figure, all[figure] - some[figure]]))
const overSession = () => {
  const base = isCumulative && before ? before : NOTHING
  return Object.fromEntries(Object.keys(run).map((figure) => [figure, base[figure] + run[figure]]))
}
const byModel = (all) =>
  all.input === 0
    ? {}
    : {
        [MODEL]: {
          inputTokens: all.input,
          outputTokens: all.output,
          cacheReadInputTokens: all.cached,
          cacheCreationInputTokens: 0,
          costUSD: all.cost / 1_000_000,
          thinkingTokens: 0,
        },
      }
const result = (fields) => {
  const all = overSession()
  const [turn, mine] = [less(run, told), own]
  told = { ...run }
  own = { ...NOTHING }
  const cost = all.cost / 1_000_000
  return {
    ...(tellsTurns && { result_index: results++, model_usage_since_last_result: byModel(turn) }),
    duration_api_ms: 62,
    stop_reason: 'end_turn',
    session_id: sessionId,
    total_cost_usd: cost,
    usage: {
      input_tokens: mine.input,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: mine.cached,
      output_tokens: mine.output,
    },
    modelUsage: byModel(all),
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
/** Counters and their line in the file: when it exits, also when it is terminated, and not when it is killed. */
const remember = () => {
  const all = overSession()
  fake.keepSession('claude', sessionId, isCumulative ? all : NOTHING)
  const line = { type: 'cost-state', sessionId, totalCostUSD: all.cost / 1_000_000, modelUsage: byModel(all) }
  fake.writeLines(file, line)
}
const leave = (code) => {
  remember()
  process.exit(code)
}
if (!process.env.FAKE_CLI?.includes('ignores_sigterm')) process.on('SIGTERM', () => leave(143))

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
if (!before) fake.keepSession('claude', sessionId, NOTHING)

let turn = 0
/**
 * A message. Its lines tell one token of output; its stream tells all of them when it is complete, and so does the file. Subagents
 * have no stream, and files of their own.
 */
async function say(content, { input = 100, cached = 40, output = 7, cost = 548, agent = null } = {}) {
  turn++
  const [id, by] = [`msg_${sessionId}_${turn}`, agent ? 'toolu_agent' : null]
  const usage = (told) => ({
    input_tokens: input,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: told,
  })
  const message = { id, role: 'assistant', model: MODEL, content, stop_reason: null, usage: usage(1) }
  const piece = (event) =>
    given['--include-partial-messages'] && !agent
      ? fake.printLine({
          ...{ type: 'stream_event', event, session_id: sessionId },
          ...{ parent_tool_use_id: by, api_message_id: id },
        })
      : undefined
  await piece({ type: 'message_start', message: { ...message, content: [] } })
  for (const text of ['piece ', 'by ', 'piece'])
    await piece({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  await fake.printLine({
    ...{ type: 'assistant', message, parent_tool_use_id: by, session_id: sessionId },
    ...(agent && { agent_id: agent }),
  })
  if (mode === 'cut_off') await fake.forever()
  await piece({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: usage(output) })
  await piece({ type: 'message_stop' })
  for (const all of [run, ...(agent ? [] : [own])]) {
    all.input += input
    all.cached += cached
    all.output += output
    all.cost += cost
  }
  const path = agent ? join(project, sessionId, 'subagents', `agent-${agent}.jsonl`) : file
  const line = { type: 'assistant', isSidechain: agent !== null, sessionId, version }
  const whole = { ...message, stop_reason: 'end_turn', usage: usage(output) }
  // Once for each part of it.
  fake.writeLines(path, { ...line, message: whole }, { ...line, message: whole })
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
  leave(1)
}
const fail = async (fields) => {
  const { result: _, ...rest } = result(fields)
  await fake.printLine(rest)
  leave(1)
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
    leave(0)
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
  // One in the background: the turn ends, and a second one begins when it is done.
  case 'subagent':
  case 'subagent_hangs':
    await say([{ type: 'tool_use', id: 'toolu_agent', name: 'Agent', input: { prompt: 'Look' } }], {
      output: 20,
      cost: 808,
    })
    await say([{ type: 'text', text: 'I looked' }], { agent: 'a8f8', output: 30, cost: 1008 })
    if (mode === 'subagent_hangs') await fake.forever()
    await say([{ type: 'text', text: 'It looks' }])
    await fake.printLine(result({ result: 'It looks' }))
    await fake.printLine({
      type: 'system',
      subtype: 'init',
      session_id: sessionId,
      model: MODEL,
      claude_code_version: version,
    })
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
leave(0)
