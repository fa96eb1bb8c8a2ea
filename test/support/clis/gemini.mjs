#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import * as fake from './fake.mjs'

/** A stand-in for the Gemini CLI: its flags, its events and its exit codes. Its figures are those of the process. */

const args = process.argv.slice(2)
if (args[0] === '--version')
  await fake.print(`${process.env.FAKE_CLI_VERSION ?? '0.61.0'}\n`).then(() => process.exit(0))
const given = fake.parse(args, {
  switches: ['--yolo', '--sandbox'],
  values: ['--output-format', '--resume', '--session-id', '--model', '--approval-mode', '--prompt', '-p'],
  refuse: (flag) => {
    process.stderr.write(`Unknown arguments: ${flag.replace(/^-+/, '')}\n`)
    process.exit(1)
  },
})
const piped = await fake.stdin()
const prompt = [piped, given['--prompt'] ?? given['-p']].filter(Boolean).join('\n\n')
if (prompt === '') await fake.quit(42, 'No input provided via stdin.')
const mode = fake.beginRun('gemini', prompt)
const resumed = given['--resume']
const sessionId = resumed ?? given['--session-id'] ?? randomUUID()
const isGone = resumed && (mode === 'unknown_session' || !fake.sessionOf('gemini', sessionId))
if (isGone || mode === 'never_begins')
  await fake.quit(42, `Error resuming session: Invalid session identifier "${sessionId}".`)
if (mode === 'http401' || mode === 'not_logged_in')
  await fake.quit(41, 'Please set an Auth method in your settings.json or specify GEMINI_API_KEY')
if (mode === 'silent') await fake.forever()

const event = (type, fields) => ({ type, timestamp: new Date().toISOString(), ...fields })
const tell = (type, fields) => fake.printLine(event(type, fields))
const run = { input: 0, cached: 0, output: 0, calls: 0 }
const stats = () => ({
  total_tokens: run.input + run.output,
  input_tokens: run.input,
  output_tokens: run.output,
  cached: run.cached,
  input: run.input - run.cached,
  duration_ms: 114,
  tool_calls: run.calls,
})
const turn = () => {
  run.input += 100
  run.cached += 40
  run.output += 7
}
async function useTool(parameters, isError = false) {
  turn()
  const id = `list_directory_${run.calls++}`
  await tell('tool_use', { tool_name: 'list_directory', tool_id: id, parameters })
  await tell('tool_result', { tool_id: id, status: isError ? 'error' : 'success' })
}
async function fail(code, type, message) {
  await tell('result', { status: 'error', error: { type, message }, stats: stats() })
  process.exit(code)
}

await tell('init', { session_id: sessionId, model: given['--model'] ?? 'gemini-2.5-pro' })
fake.keepSession('gemini', sessionId, {})
await tell('message', { role: 'user', content: prompt })
switch (mode) {
  case 'http429':
    await fail(429, 'ApiError', 'You exceeded your current quota')
    break
  case 'max_turns':
    await useTool({ dir_path: '.' })
    await fail(53, 'FatalTurnLimitedError', 'Reached max session turns for this session.')
    break
  case 'cancelled':
    await fake.quit(130, 'Operation cancelled.')
    break
  case 'sigint_exit0':
    process.exit(0)
    break
  case 'transient':
    await tell('error', { severity: 'warning', message: 'Retrying' })
    break
  case 'loop':
    for (;;) {
      await useTool({ dir_path: '.' })
      await fake.pause(10)
    }
  case 'errors':
    for (;;) {
      await useTool({ dir_path: String(run.calls) }, true)
      await fake.pause(10)
    }
  case 'tool':
  case 'hang':
  case 'killed':
    await useTool({ dir_path: '.' })
    break
}
await fake.misbehave(mode)
turn()
const half = Math.ceil(fake.says.length / 2)
for (const content of [fake.says.slice(0, half), fake.says.slice(half)]) {
  const piece = event('message', { role: 'assistant', content, delta: true })
  if (mode === 'split_utf8') await fake.printByByte(piece)
  else await fake.printLine(piece)
}
await tell('result', { status: 'success', stats: stats() })
process.exit(0)
