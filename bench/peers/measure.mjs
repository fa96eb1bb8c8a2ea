import { readFileSync } from 'node:fs'

const WARM_UP_MS = 10_000

/**
 * `node PEER.mjs URL [TASKS [WORKERS [BUILD]]]`: enqueues all tasks, then works them all off, and prints in one line of JSON
 * what it took. With WORKERS, that many take one task each, finish it and take the next; with 0 as many at once as the peer
 * can. `open(url, workers)` makes an empty queue and returns `keeps`, what is left of a completed task; `enqueue(payloads)`;
 * `readyWorkers(count)`, whose `finish()` ends when the server has stored that many tasks as completed; `calm()`; and
 * `close()`, which leaves nothing behind.
 */
export async function measure(name, open) {
  const [, , url, tasks = '20000', workers = '0'] = process.argv
  const peer = await open(url, Number(workers))
  await warmUp(peer, Number(tasks))
  await peer.calm()
  const figures = await round(peer, Number(tasks), tellCaller)
  await peer.close()
  const line = JSON.stringify({
    peer: name,
    version: peer.version ?? versionOf(name),
    keeps: peer.keeps,
    tasks: Number(tasks),
    ...figures,
  })
  process.stdout.write(`${line}\n`, () => process.exit(0))
}

/**
 * As a worker is soon after its start: compiled code, prepared statements, tables with statistics. One round is too short for
 * that: Node compiles what it runs often, and on each connection Postgres plans a statement five times before it keeps a plan.
 */
async function warmUp(peer, count) {
  const until = performance.now() + WARM_UP_MS
  do await round(peer, count, async () => undefined)
  while (performance.now() < until)
}

async function round(peer, count, tell) {
  const payloads = Array.from({ length: count }, (_, n) => ({ n }))
  const workers = await peer.readyWorkers(count)
  await tell('begin')
  const enqueueing = await timed(() => peer.enqueue(payloads))
  await tell('work')
  const working = await timed(() => workers.finish())
  await tell('end')
  await workers.stop()
  return {
    enqueueMs: enqueueing.ms,
    workMs: working.ms,
    enqueueCpuMs: enqueueing.cpuMs,
    workCpuMs: working.cpuMs,
  }
}

async function timed(act) {
  const cpu = process.cpuUsage()
  const start = performance.now()
  await act()
  const ms = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1000 }
}

/** A caller that listens reads the server's CPU at this moment, so that neither set-up nor clean-up is in it. */
async function tellCaller(moment) {
  if (!process.send) return
  const heard = new Promise((resolve) => process.once('message', resolve))
  process.send(moment)
  await heard
}

function versionOf(name) {
  const manifest = new URL(`node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(manifest, 'utf8')).version
}

/** The list in parts, all passed at once: the peer's own connections decide how many are under way. */
export function inParts(list, size, handOver) {
  const parts = Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  )
  return Promise.all(parts.map(handOver))
}

/** `done` resolves when `mark` has been called for this many tasks. */
export function countdown(count) {
  let left = count
  let end
  const done = new Promise((resolve) => {
    end = resolve
  })
  const mark = (tasks) => {
    left -= tasks
    if (left === 0) end()
  }
  return { mark, done }
}
