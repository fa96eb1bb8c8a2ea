#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import * as fake from './fake.mjs'

/**
 * A stand-in for the Codex CLI: its flags, its events, its threads with their files, and its counters, which count over the whole
 * thread.
 */

const args = process.argv.slice(2)
if (args[0] === '--version')
  await fake.print(`codex-cli ${process.env.FAKE_CLI_VERSION ?? '0.166.0'}\n`).then(() => process.exit(0))
if (args[0] === 'login') {
  const isLoggedIn = process.env.FAKE_CLI_LOGGED_IN !== 'no'
  await fake.quit(isLoggedIn ? 0 : 1, isLoggedIn ? 'Logged in using ChatGPT' : 'Not logged in')
}
const refuse = (flag) => {
  process.stderr.write(`error: unexpected argument '${flag}' found\n`)
  process.exit(2)
}
if (args[0] === '--search') args.shift()
if (args.shift() !== 'exec') refuse(args[0])
const given = fake.parse(args, {
  switches: ['--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
  values: ['--model', '--sandbox', '--config'],
  refuse,
})
const [verb, id] = given.rest
if (given.rest.at(-1) !== '-')
  await fake.quit(1, 'No prompt provided. Either specify one as an argument or pipe the prompt into stdin.')

const prompt = await fake.stdin()
const mode = fake.beginRun('codex', prompt)
const resumed = verb === 'resume' ? id : null
const threadId = resumed ?? randomUUID()
const counted = fake.sessionOf('codex', threadId)
const isGone = resumed && (mode === 'unknown_session' || !counted)
if (isGone || mode === 'never_begins')
  await fake.quit(
    1,
    `Error: thread/resume: thread/resume failed: no rollout found for thread id ${threadId} (code -32600)`,
  )
if (mode === 'silent') await fake.forever()

const ZERO = { input: 0, cached: 0, output: 0, reasoning: 0 }
const total = counted ?? { ...ZERO }
const turn = { ...ZERO }
const turnId = randomUUID()
/** One for a thread, by the day on which it began. */
const file =
  counted?.file ??
  join(
    process.env.CODEX_HOME || join(process.env.HOME, '.codex'),
    'sessions/2026/11/17',
    `rollout-2026-11-17T20-29-39-${threadId}.jsonl`,
  )
const write = (type, payload) =>
  fake.writeLines(file, { timestamp: new Date().toISOString(), ordinal: ++total.ordinal, type, payload })
total.file = file
total.ordinal ??= -1
total.answers ??= 0
const inRollout = ({ input, cached, output, reasoning }) => ({
  ...{ input_tokens: input, cached_input_tokens: cached, cache_write_input_tokens: 0, output_tokens: output },
  ...{ reasoning_output_tokens: reasoning, total_tokens: input + output },
})
let item = 0
const completed = (fields) =>
  fake.printLine({ type: 'item.completed', item: { id: `item_${item++}`, ...fields } })
const used = (input, cached, output, reasoning = 2) => {
  for (const all of [total, turn]) {
    all.input += input
    all.cached += cached
    all.output += output
    all.reasoning += reasoning
  }
  const last = inRollout({ input, cached, output, reasoning })
  if (!process.env.FAKE_CLI_NO_RECORDS)
    write('token_usage_record', {
      ...{ thread_id: threadId, turn_id: turnId, response_id: `resp_${threadId}_${++total.answers}` },
      ...{ usage: last, turn_token_usage: inRollout(turn), thread_token_usage: inRollout(total) },
    })
  const info = { total_token_usage: inRollout(total), last_token_usage: last }
  write('event_msg', { type: 'token_count', info })
  fake.keepSession('codex', threadId, total)
}
async function failTurn(message) {
  await fake.printLine({ type: 'error', message })
  await fake.printLine({ type: 'turn.failed', error: { message } })
  process.exit(1)
}
async function command(text, exitCode = 0) {
  used(100, 40, 7)
  const fields = { type: 'command_execution', command: `/bin/bash -lc '${text}'`, aggregated_output: '' }
  await fake.printLine({
    type: 'item.started',
    item: { id: `item_${item}`, ...fields, exit_code: null, status: 'in_progress' },
  })
  await completed({ ...fields, exit_code: exitCode, status: exitCode === 0 ? 'completed' : 'failed' })
}

await fake.printLine({ type: 'thread.started', thread_id: threadId })
if (!counted) write('session_meta', { id: threadId, cwd: process.cwd() })
write('turn_context', { turn_id: turnId, model: given['--model'] ?? 'gpt-5.1' })
fake.keepSession('codex', threadId, total)
await completed({ type: 'error', message: 'Model metadata for `gpt-x` not found.' })
await fake.printLine({ type: 'turn.started' })
switch (mode) {
  case 'http401':
    await failTurn('unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1/')
    break
  case 'http429':
    await failTurn('exceeded retry limit, last status: 429 Too Many Requests')
    break
  case 'http529':
    await failTurn('unexpected status 529 Overloaded: come back later')
    break
  case 'turn_failed':
    await failTurn("Codex ran out of room in the model's context window.")
    break
  case 'sigint_exit0':
    process.exit(0)
    break
  case 'transient':
    for (const attempt of [1, 2, 3])
      await fake.printLine({ type: 'error', message: `Reconnecting... ${attempt}/5` })
    break
  case 'loop':
    for (;;) {
      await command('echo hi')
      await fake.pause(10)
    }
  case 'errors':
    for (;;) {
      await command(`cat ${item}`, 1)
      await fake.pause(10)
    }
  case 'tool':
  case 'hang':
  case 'killed':
    await command('echo hi')
    break
}
await fake.misbehave(mode)
used(100, 40, 7)
const message = {
  type: 'item.completed',
  item: { id: `item_${item}`, type: 'agent_message', text: fake.says },
}
if (mode === 'split_utf8') await fake.printByByte(message)
else await fake.printLine(message)
await fake.printLine({
  type: 'turn.completed',
  usage: {
    input_tokens: total.input,
    cached_input_tokens: total.cached,
    cache_write_input_tokens: 0,
    output_tokens: total.output,
    reasoning_output_tokens: total.reasoning,
  },
})
process.exit(0)
