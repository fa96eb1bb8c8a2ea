#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import * as fake from './fake.mjs'

/**
 * A stand-in for the opencode CLI: its flags and events. It reports its usage after each step, and never that it is done.
 */

const args = process.argv.slice(2)
if (args[0] === '--version')
  await fake.print(`${process.env.FAKE_CLI_VERSION ?? '1.18.0'}\n`).then(() => process.exit(0))
if (args.shift() !== 'run') await fake.quit(1, 'Unknown command')
const given = fake.parse(args, {
  switches: ['--dangerously-skip-permissions', '--thinking', '--share'],
  values: ['--format', '--session', '-s', '--model', '--agent', '--variant', '--title'],
  refuse: (flag) => {
    process.stderr.write(`Unknown argument: ${flag}\n`)
    process.exit(1)
  },
})
const prompt = [given.rest.join(' '), await fake.stdin()].filter(Boolean).join('\n')
if (prompt.trim() === '') await fake.quit(1, 'You must provide a message or a command')
const mode = fake.beginRun('opencode', prompt)
const resumed = given['--session'] ?? given['-s']
const sessionID = resumed ?? `ses_${randomUUID().replaceAll('-', '')}`
const isGone = resumed && (mode === 'unknown_session' || !fake.sessionOf('opencode', sessionID))
if (mode === 'unknown_session_exit0' && resumed) await fake.quit(0, 'NotFoundError: Session not found')
if (isGone || mode === 'never_begins') await fake.quit(1, 'Error: Session not found')
if (mode === 'silent') await fake.forever()

let part = 0
const event = (type, fields, more = {}) => ({
  type,
  timestamp: Date.now(),
  sessionID,
  ...(fields && { part: { id: `prt_${sessionID}_${part++}`, sessionID, ...fields } }),
  ...more,
})
const tell = (type, fields, more) => fake.printLine(event(type, fields, more))
const start = () => tell('step_start', { type: 'step-start' })
const finish = (reason, tokens, cost) =>
  tell('step_finish', {
    reason,
    type: 'step-finish',
    tokens: {
      total: tokens.input + tokens.output + tokens.cached,
      input: tokens.input,
      output: tokens.output,
      reasoning: 0,
      cache: { write: 0, read: tokens.cached },
    },
    cost,
  })
async function useTool(command, isError = false) {
  await start()
  const state = { status: isError ? 'error' : 'completed', input: { command }, output: 'hi\n' }
  await tell('tool_use', { type: 'tool', tool: 'bash', callID: 'call_1', state })
  await finish('tool-calls', { input: 100, output: 20, cached: 0 }, 0.00014)
}
async function fail(name, data) {
  await tell('error', null, { error: { name, data } })
  process.exit(1)
}

fake.keepSession('opencode', sessionID, {})
switch (mode) {
  case 'http401':
    await fail('APIError', { message: 'Invalid API key', statusCode: 401, isRetryable: false })
    break
  case 'not_logged_in':
    await fail('ProviderAuthError', { providerID: 'x', message: 'No key' })
    break
  case 'http429':
    await fail('APIError', {
      message: 'Too many requests',
      statusCode: 429,
      isRetryable: true,
      responseHeaders: { 'retry-after': '60' },
    })
    break
  case 'error_exit0':
    await tell('error', null, { error: { name: 'UnknownError', data: { message: 'It broke' } } })
    process.exit(0)
    break
  case 'refusal':
    await start()
    await finish('content-filter', { input: 60, output: 0, cached: 40 }, 0)
    process.exit(0)
    break
  case 'sigint_exit0':
    await start()
    process.exit(0)
    break
  case 'loop':
    for (;;) {
      await useTool('echo hi')
      await fake.pause(10)
    }
  case 'errors':
    for (;;) {
      await useTool(`cat ${part}`, true)
      await fake.pause(10)
    }
  case 'tool':
  case 'hang':
  case 'killed':
    await useTool('echo hi')
    break
}
await start()
await fake.misbehave(mode)
const text = event('text', { type: 'text', text: fake.says })
if (mode === 'split_utf8') await fake.printByByte(text)
else await fake.printLine(text)
// It has no price for some models, and then reports 0.
await finish('stop', { input: 60, output: 7, cached: 40 }, mode === 'unpriced' ? 0 : 0.000074)
process.exit(0)
