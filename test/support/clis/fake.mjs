import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, sep } from 'node:path'

/**
 * What the fake agent programs share. They behave as FAKE_CLI says: one word, or several with commas, one for each run, the
 * last for all further ones. Sessions and counters are stored in FAKE_CLI_HOME. FAKE_CLI_SAYS is their answer, or the file `says`
 * there: secret values of their environment are redacted.
 */

const env = process.env
const home = env.FAKE_CLI_HOME ?? join(tmpdir(), 'fake-clis')
mkdirSync(home, { recursive: true })

// From the start: a test that sees its first output may rely on it.
if (env.FAKE_CLI?.includes('ignores_sigterm'))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})

const answer = join(home, 'says')
export const says = existsSync(answer)
  ? readFileSync(answer, 'utf8')
  : (env.FAKE_CLI_SAYS ?? 'Hello from fake')
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
export const forever = () => new Promise(() => setInterval(() => {}, 60_000))

/** Parses the flags as the real program would, and refuses unknown ones. */
export function parse(args, { switches, values, refuse }) {
  const given = { rest: [] }
  for (let at = 0; at < args.length; at++) {
    const [flag, value] = args[at].startsWith('--') ? args[at].split(/=(.*)/s) : [args[at]]
    if (switches.includes(flag)) given[flag] = true
    else if (values.includes(flag)) given[flag] = value ?? args[++at]
    else if (flag.startsWith('-') && flag !== '-') refuse(flag)
    else given.rest.push(flag)
  }
  return given
}

export async function stdin() {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** How this run is to go. Every run is recorded, so that tests can see how it was called. */
export function beginRun(program, prompt) {
  const record = { program, pid: process.pid, args: process.argv.slice(2), prompt, cwd: process.cwd() }
  const calls = join(home, 'calls.jsonl')
  const earlier = existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n').length : 0
  appendFileSync(calls, `${JSON.stringify(record)}\n`)
  const modes = (env.FAKE_CLI ?? 'success').split(',')
  return modes[Math.min(earlier, modes.length - 1)]
}

const fileOf = (program, id) => join(home, `${program}-${id.replace(/[^A-Za-z0-9_-]/g, '_')}.json`)
export const sessionOf = (program, id) => {
  const file = fileOf(program, id)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null
}
export const keepSession = (program, id, session) =>
  writeFileSync(fileOf(program, id), JSON.stringify(session))

/** Appends lines to a file of the program's own, as the real one does: within FAKE_CLI_HOME, unless FAKE_CLI_NO_FILES is set. */
export function writeLines(path, ...lines) {
  if (env.FAKE_CLI_NO_FILES || !path.startsWith(`${home}${sep}`)) return
  mkdirSync(dirname(path), { recursive: true })
  appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

/** Waits until it is read, as a program that prints much must. */
export const print = (text) => new Promise((resolve) => process.stdout.write(text, resolve))
export const printLine = (event) => print(`${JSON.stringify(event)}\n`)

export async function quit(code, complaint = '') {
  if (complaint) await new Promise((resolve) => process.stderr.write(`${complaint}\n`, resolve))
  process.exit(code)
}

/** What any program may do to its parent, between its first event and its last. */
export async function misbehave(mode) {
  if (mode === 'flood') {
    const noise = `${JSON.stringify({ type: 'noise', filling: 'x'.repeat(100_000) })}\n`
    for (let printed = 0; printed < Number(process.env.FAKE_CLI_FLOOD) * 1024 * 1024; printed += noise.length)
      await print(noise)
  }
  if (mode === 'ignores_sigterm' || mode === 'silent' || mode === 'hang') await forever()
  if (mode === 'pipe_holder') await grandchild({ stdio: ['ignore', 'inherit', 'inherit'] })
  if (mode === 'setsid_grandchild') await grandchild({ stdio: 'ignore', detached: true })
  if (mode === 'killed') process.kill(process.pid, 'SIGKILL')
  if (mode === 'crash') await quit(3, 'Something broke.')
}

async function grandchild(options) {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], options)
  await new Promise((resolve) => child.once('spawn', resolve))
  writeFileSync(join(home, 'grandchild.pid'), String(child.pid))
  child.unref()
}

/** Prints a line byte by byte, so that every multi-byte character is split. */
export async function printByByte(event) {
  for (const byte of Buffer.from(`${JSON.stringify(event)}\n`)) {
    await new Promise((resolve) => process.stdout.write(Buffer.from([byte]), resolve))
    await new Promise(setImmediate)
  }
}
