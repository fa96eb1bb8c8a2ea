import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * The program of an agent that Baton runs: `worker.mjs <kind> <home>`. It prints its usage so far and then waits until there
 * is a file `go` in its home; then it submits and ends. Its starts are recorded in `lives.jsonl`, each with the processes of
 * earlier starts at the same task that were still alive.
 */

const [kind, home] = process.argv.slice(2)
const { env } = process
const lives = join(home, 'lives.jsonl')

// The reader of its output may have ended: that alone is no reason to end.
process.stdout.on('error', () => undefined)
const print = (text) => new Promise((resolve) => process.stdout.write(text, resolve))
const say = (line) => print(`${JSON.stringify(line)}\n`)
const used = (inputTokens, cachedInputTokens, outputTokens) => ({
  inputTokens,
  cachedInputTokens,
  outputTokens,
})

const isThere = (pid) => {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
const earlier = existsSync(lives) ? readFileSync(lives, 'utf8').trim().split('\n').map(JSON.parse) : []
const predecessors = earlier
  .filter(({ task }) => task === env.BATON_TASK_ID)
  .flatMap(({ pids }) => pids)
  .filter(isThere)

if (kind === 'deaf') for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined)
// Cleans up when it gets the signal to end, which takes it a moment.
if (kind === 'tidy')
  process.on('SIGTERM', async () => {
    await say({ said: 'tidying up' })
    await sleep(500)
    appendFileSync(join(home, 'tidied'), `${env.BATON_RUN_ID}\n`)
    process.exit(143)
  })

const pids = [process.pid]
const idle = ['-e', "process.on('SIGTERM', () => undefined); setInterval(() => undefined, 60_000)"]
if (kind === 'setsid' || kind === 'pipes') {
  const stdio = kind === 'pipes' ? ['ignore', 'inherit', 'inherit'] : 'ignore'
  const child = spawn(process.execPath, idle, { stdio, detached: kind === 'setsid' })
  await new Promise((resolve) => child.once('spawn', resolve))
  pids.push(child.pid)
}
const life = {
  run: env.BATON_RUN_ID,
  task: env.BATON_TASK_ID ?? null,
  generation: Number(env.BATON_GENERATION ?? 0),
  resumes: env.BATON_AGENT_SESSION ?? null,
}
appendFileSync(lives, `${JSON.stringify({ ...life, pids, predecessors })}\n`)

await say({ baton: 'session', sessionId: `session-of-${env.BATON_TASK_ID ?? 'nothing'}` })
await say({ baton: 'usage', usage: used(10, 3, 1) })
// The next step is taken when the test says so.
while (kind === 'steps' && !existsSync(join(home, 'step'))) await sleep(20)
await say({ baton: 'usage', usage: used(30, 9, 4) })
if (kind === 'submits') await submit()
if (kind === 'continues' && life.resumes === null) {
  await say({ summary: 'More to do.', continue: true, usage: used(50, 12, 9) })
  process.exit(0)
}
await say({ said: 'waiting' })
let lines = 0
while (!existsSync(join(home, 'go'))) {
  if (kind === 'prints') await print(`line ${++lines} of ${env.BATON_RUN_ID} – ü🦀\n`)
  await sleep(kind === 'prints' ? 5 : 20)
}
await say({ result: { by: env.BATON_RUN_ID }, summary: 'Done.', usage: used(50, 12, 9) })
process.exit(0)

/** Submits its result itself, as agents may, and keeps running. */
async function submit() {
  const fence = { session: env.BATON_SESSION, generation: life.generation }
  const response = await fetch(`${env.BATON_URL}/api/v1/tasks/${env.BATON_TASK_ID}/submit`, {
    method: 'POST',
    headers: { authorization: `Bearer ${env.BATON_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...fence, result: { by: env.BATON_RUN_ID } }),
  })
  await say({ said: 'handed in', status: response.status })
}
