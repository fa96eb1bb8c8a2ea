#!/usr/bin/env node
import { randomUUID } from 'node:crypto'
import { basename, join } from 'node:path'
import * as fake from './fake.mjs'

/** A stand-in for the Gemini CLI: its flags, its events, its chat files and its exit codes. Its figures are those of the process. */

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
const MODEL = given['--model'] ?? 'gemini-2.5-pro'
const run = { input: 0, cached: 0, output: 0, thoughts: 0, calls: 0 }
/** Its output leaves the thoughts out; the total has them. */
const used = () => ({
  total_tokens: run.input + run.output + run.thoughts,
  input_tokens: run.input,
  output_tokens: run.output,
  cached: run.cached,
  input: run.input - run.cached,
})
const stats = () => ({ ...used(), duration_ms: 114, tool_calls: run.calls, models: { [MODEL]: used() } })

const chats = join(
  process.env.GEMINI_CLI_HOME || process.env.HOME,
  '.gemini/tmp',
  basename(process.cwd()),
  'chats',
)
const chatOf = (minute) => join(chats, `session-2026-11-17T20-${minute}-${sessionId.slice(0, 8)}.jsonl`)
const file = chatOf('31')
const header = () => ({ sessionId, startTime: new Date().toISOString(), kind: 'main' })
const answers = []
const write = (line) => fake.writeLines(file, line, { $set: { lastUpdated: new Date().toISOString() } })

/** An answer; it is written again, the same, when its tool is done. */
const turn = (more = {}) => {
  run.input += 100
  run.cached += 40
  run.output += 5
  run.thoughts += 2
  const tokens = { input: 100, output: 5, cached: 40, thoughts: 2, tool: 0, total: 107 }
  answers.push({ id: randomUUID(), type: 'gemini', content: 'An answer', thoughts: [], tokens, model: MODEL })
  write(answers.at(-1))
  return () => write({ ...answers.at(-1), ...more })
}
async function useTool(parameters, isError = false) {
  const again = turn({ toolCalls: [{ name: 'list_directory', args: parameters }] })
  const id = `list_directory_${run.calls++}`
  await tell('tool_use', { tool_name: 'list_directory', tool_id: id, parameters })
  await tell('tool_result', { tool_id: id, status: isError ? 'error' : 'success' })
  again()
}
async function fail(code, type, message) {
  await tell('result', { status: 'error', error: { type, message }, stats: stats() })
  process.exit(code)
}

await tell('init', { session_id: sessionId, model: MODEL })
if (resumed) {
  // The old answers without their tokens, in the old file; and a second file that stays without answers.
  const messages = [{ id: 'old', type: 'gemini', content: [{ text: 'An answer' }] }]
  fake.writeLines(file, { $set: { sessionId } }, { $set: { messages } })
  fake.writeLines(chatOf('33'), header(), { $set: { messages: [] } })
} else fake.writeLines(file, header())
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
