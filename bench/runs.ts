import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { constants, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch, ownerKeyIn } from '../test/support/launched.ts'
import { type Measured, measured } from './drive.ts'

/** Agents as a server runs them: compiled, in a process of its own, on an embedded Postgres, over HTTP. */

export interface RunFigures {
  /** The same program, started by Node alone: no control plane can be faster. */
  bareSpawn: Measured
  /** From the request that wakes an agent to the first action of its program. */
  wakeToWork: Measured
  /** The same from a new task: assigned by the coordinator, claimed, begun. */
  taskToWork: Measured
  output: OutputFigures
}

interface OutputFigures {
  runs: number
  /** Whose log has every byte, with the right checksum. */
  whole: number
  megabytes: number
  seconds: number
  /** Resident memory of the server before, and its maximum. NaN where there is no /proc. */
  memoryBeforeMb: number
  memoryMostMb: number
}

const MEBIBYTE = 1024 * 1024

export async function runFigures(
  { rounds, runs, megabytes }: { rounds: number; runs: number; megabytes: number },
  say: (what: string) => void,
): Promise<RunFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const server = launch({
    BATON_DATA: join(folder, 'data'),
    // As `npm start` has it. Up to 2 GB, Node collects its heap at twice what is alive; beyond, at four times.
    NODE_OPTIONS: '--max-semi-space-size=64 --max-old-space-size=2000',
  })
  try {
    const url = await server.ready
    const bed = { folder, pid: server.child.pid!, call: callsTo(url, ownerKeyIn(join(folder, 'data'))) }
    const latencies = await wakeLatencies(bed, rounds, say)
    say(`m ${runs} runs of ${megabytes} MB`)
    return { ...latencies, output: await muchOutput(bed, runs, megabytes) }
  } finally {
    server.child.kill('SIGTERM')
    await server.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would
type Call = (method: string, path: string, body?: unknown) => Promise<any>

interface RunBed {
  folder: string
  pid: number
  call: Call
}

const callsTo =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const answer = await fetch(`${url}/api/v1${path}`, sent)
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }

/** A named pipe that a program writes to as its first action: a shell needs nothing else for it. */
class StartSignal {
  readonly path: string
  readonly #socket: Socket

  constructor(path: string) {
    execFileSync('/bin/sh', ['-c', 'mkfifo "$0"', path])
    this.path = path
    this.#socket = new Socket({
      fd: openSync(path, constants.O_RDWR | constants.O_NONBLOCK),
      writable: false,
    })
  }

  /** When the first program has written. */
  async received(): Promise<number> {
    await once(this.#socket, 'data')
    return performance.now()
  }

  close(): void {
    this.#socket.destroy()
  }
}

const WARM_UP = 20

async function wakeLatencies(
  { folder, call }: RunBed,
  rounds: number,
  say: (what: string) => void,
): Promise<Omit<RunFigures, 'output'>> {
  const signal = new StartSignal(join(folder, 'started'))
  const program = { command: '/bin/sh', args: ['-c', 'echo > "$0"', signal.path] }
  const settings = { adapterType: 'process', adapterConfig: program, runtimeConfig: MANY_WAKEUPS }
  await call('PUT', '/agents/idle', { ...settings, coordinatorEnabled: false })
  await call('PUT', '/agents/eager', { ...settings, capabilities: ['eager'] })
  const timed = async (what: string, begin: () => unknown, end: () => Promise<unknown>) => {
    say(what)
    const latencies: number[] = []
    const from = performance.now()
    for (let round = -WARM_UP; round < rounds; round++) {
      const started = signal.received()
      const began = performance.now()
      const begun = begin()
      const ms = (await started) - began
      await begun
      await end()
      if (round >= 0) latencies.push(ms)
    }
    return measured(latencies, (performance.now() - from) / 1000, { user: 0, system: 0 })
  }
  const bareSpawn = await timed(
    'k bare spawn',
    () => once(spawn(program.command, program.args, { detached: true }), 'close'),
    async () => undefined,
  )
  const wakeToWork = await timed(
    'k wakeup',
    () => call('POST', '/agents/idle/wakeup'),
    () => atRest(call, 'idle'),
  )
  const task = { title: 'Start', requiredCapabilities: ['eager'] }
  const taskToWork = await timed(
    'l new task',
    () => call('POST', '/tasks', task),
    () => atRest(call, 'eager'),
  )
  signal.close()
  return { bareSpawn, wakeToWork, taskToWork }
}

const MANY_WAKEUPS = { heartbeat: { maxWakeupsPerTaskPerHour: 100_000 } }
const BETWEEN_MS = 20

/** Its last run is over, and the server has nothing left to do for it. */
async function atRest(call: Call, agent: string): Promise<void> {
  while ((await call('GET', `/agents/${agent}/runs?status=queued,running`)).items.length > 0) await sleep(5)
  await sleep(BETWEEN_MS)
}

/** So many agents at once, each with so much to print; none prints before all have started. */
async function muchOutput(bed: RunBed, runs: number, megabytes: number): Promise<OutputFigures> {
  const text = join(bed.folder, 'text')
  writeFileSync(text, textOf(megabytes * MEBIBYTE))
  // A heap grows to the size it is allowed before it is collected. What is measured is whether it grows with the output.
  const little = join(bed.folder, 'little')
  writeFileSync(little, textOf(2 * MEBIBYTE))
  await printAtOnce(bed, 'warm', little, runs)
  const memoryBeforeMb = memoryOf(bed.pid)
  let memoryMostMb = memoryBeforeMb
  const watching = setInterval(() => {
    memoryMostMb = Math.max(memoryMostMb, memoryOf(bed.pid))
  }, 20)
  const seconds = await printAtOnce(bed, 'loud', text, runs)
  clearInterval(watching)
  const whole = await wholeLogs(bed.call, 'loud', readFileSync(text))
  return { runs, whole, megabytes: runs * megabytes, seconds, memoryBeforeMb, memoryMostMb }
}

/** Lines as agents write them, no two alike, some with characters of several bytes. */
function textOf(bytes: number): Buffer {
  const lines: Buffer[] = []
  let length = 0
  for (let i = 0; length < bytes; i++) {
    const hash = createHash('sha256').update(String(i)).digest('base64')
    lines.push(Buffer.from(`${i} ${hash} – “${hash.slice(0, 20)}” ${hash.slice(20)}\n`))
    length += lines.at(-1)!.length
  }
  return Buffer.concat(lines)
}

/** Returns how many seconds it took from the moment all could print to the end of the last run. */
async function printAtOnce(
  { call, folder }: RunBed,
  agent: string,
  text: string,
  runs: number,
): Promise<number> {
  const gate = join(folder, `${agent}-gate`)
  const script = 'echo "$BATON_RUN_ID"; while [ ! -e "$0" ]; do sleep 0.1; done; cat "$1"'
  await call('PUT', `/agents/${agent}`, {
    adapterType: 'process',
    adapterConfig: { command: '/bin/sh', args: ['-c', script, gate, text] },
    capabilities: [agent],
    maxConcurrentTasks: runs,
    batchSize: runs,
  })
  const tasks = Array.from({ length: runs }, () => ({ title: 'Print', requiredCapabilities: [agent] }))
  await call('POST', '/tasks/batch', { tasks })
  const count = async (status: string) =>
    (await call('GET', `/agents/${agent}/runs?status=${status}&limit=200`)).items.length as number
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) {
      if ((await count('failed,cancelled,timed_out')) > 0) throw new Error('a run did not end well')
      await sleep(50)
    }
  }
  await until(async () => (await count('running')) === runs)
  const from = performance.now()
  writeFileSync(gate, '')
  await until(async () => (await count('succeeded')) === runs)
  return (performance.now() - from) / 1000
}

const PAGE_BYTES = 4 * MEBIBYTE

/** How many runs have a complete log: read back page by page, and compared with what was printed. */
async function wholeLogs(call: Call, agent: string, text: Buffer): Promise<number> {
  const { items } = await call('GET', `/agents/${agent}/runs?limit=200`)
  let whole = 0
  for (const { id, log } of items) {
    const printed = createHash('sha256').update(`${id}\n`).update(text).digest('hex')
    const read = createHash('sha256')
    for (let offset: number | null = 0; offset !== null; ) {
      const page: { content: string; nextOffset: number | null } = await call(
        'GET',
        `/runs/${id}/log?offset=${offset}&limitBytes=${PAGE_BYTES}`,
      )
      read.update(page.content)
      offset = page.nextOffset
    }
    if (log.sha256 === printed && read.digest('hex') === printed) whole++
  }
  return whole
}

/** Resident, in MB. */
function memoryOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kilobytes) / 1024
}
