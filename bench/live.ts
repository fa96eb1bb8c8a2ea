import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { WebSocket } from 'ws'
import { embeddedUrl, type Launched, launch, ownerKeyIn } from '../test/support/launched.ts'
import { type Goal, worded } from './report.ts'
import { type Spread, spreadOf } from './rounds.ts'
import { NODE, runProgram } from './run-program.ts'
import { cpuMsOfProcessTree } from './server-cpu.ts'

/** Output of an agent, read on its own node and on another one; and what it costs whether somebody reads it or not. */

interface LineCost {
  /** Of both servers and the database, for 1,000 lines. */
  cpuMs: Spread
  walBytes: Spread
}

export interface LiveFigures {
  /** From the moment a line is printed to the moment a client has it. */
  hereMs: Percentiles
  thereMs: Percentiles
  unread: LineCost
  readHere: LineCost
  readThere: LineCost
}

interface Percentiles {
  median: number
  p99: number
  most: number
}

const ROUNDS = 3
/** A line each 10 ms, with the time at which it was printed. */
const TIMED = `let n = 0; const t = setInterval(() => { console.log('at ' + Date.now()); if (++n === Number(process.env.LINES)) clearInterval(t) }, 10)`
/** Bursts of ten lines of 80 characters. */
const MANY = `let n = 0; const t = setInterval(() => { for (let i = 0; i < 10; i++) console.log(String(++n).padEnd(79, '.')); if (n >= Number(process.env.LINES)) clearInterval(t) }, 10)`

interface LiveBed {
  here: string
  there: string
  key: string
  pids: number[]
  admin: pg.Client
}

export async function liveFigures(lines: number, say: (what: string) => void): Promise<LiveFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const servers: Launched[] = []
  const serve = async (name: string, env: Record<string, string> = {}) => {
    const server = launch({ BATON_DATA: join(folder, name), BATON_NODE_NAME: name, ...env })
    servers.push(server)
    return server.ready
  }
  try {
    const here = await serve(NODE)
    const url = embeddedUrl(join(folder, NODE))
    const there = await serve('there', { DATABASE_URL: url })
    const admin = new pg.Client({ connectionString: url })
    await admin.connect()
    const pids = servers.map(({ child }) => child.pid!)
    const bed = { here, there, key: ownerKeyIn(join(folder, NODE)), pids, admin }
    say(`v ${lines} lines of output, read on two nodes`)
    const [hereMs, thereMs] = await latencies(bed, Math.min(lines, 1_000))
    const costs = await lineCosts(bed, lines)
    await admin.end()
    return { hereMs, thereMs, ...costs }
  } finally {
    for (const { child, ended } of servers.reverse()) {
      child.kill('SIGTERM')
      await ended
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A client that gets all output, until it is closed. */
async function reader(bed: LiveBed, url: string, take: (chunk: string) => void): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${bed.key}` }
  const ws = new WebSocket(`${url.replace('http', 'ws')}/api/v1/events/ws?output=all`, { headers })
  ws.on('message', (data) => {
    const { output } = JSON.parse(String(data))
    if (output?.stream === 'stdout') take(output.chunk)
  })
  await new Promise((resolve) => ws.once('open', resolve))
  return ws
}

async function latencies(bed: LiveBed, lines: number): Promise<[Percentiles, Percentiles]> {
  const took: [number[], number[]] = [[], []]
  const readers = await Promise.all(
    [bed.here, bed.there].map((url, i) =>
      reader(bed, url, (chunk) => {
        const now = Date.now()
        for (const [, at] of chunk.matchAll(/at (\d+)\n/g)) took[i]!.push(now - Number(at))
      }),
    ),
  )
  await runProgram({ url: bed.here, key: bed.key }, TIMED, lines)
  await new Promise((resolve) => setTimeout(resolve, 500))
  for (const ws of readers) ws.close()
  for (const [i, all] of took.entries())
    if (all.length < lines) throw new Error(`Reader ${i} got ${all.length} of ${lines} lines.`)
  return took.map(percentilesOf) as [Percentiles, Percentiles]
}

function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  return { median: at(0.5), p99: at(0.99), most: sorted.at(-1)! }
}

async function lineCosts(bed: LiveBed, lines: number) {
  const taken = { unread: [] as Cost[], readHere: [] as Cost[], readThere: [] as Cost[] }
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, url] of [
      ['unread', null],
      ['readHere', bed.here],
      ['readThere', bed.there],
    ] as const) {
      const ws = url === null ? null : await reader(bed, url, () => undefined)
      taken[name].push(await costOf(bed, lines))
      ws?.close()
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  const spread = (costs: readonly Cost[]): LineCost => ({
    cpuMs: spreadOf(costs.map(({ cpuMs }) => cpuMs)),
    walBytes: spreadOf(costs.map(({ walBytes }) => walBytes)),
  })
  return {
    unread: spread(taken.unread),
    readHere: spread(taken.readHere),
    readThere: spread(taken.readThere),
  }
}

interface Cost {
  cpuMs: number
  walBytes: number
}

async function costOf(bed: LiveBed, lines: number): Promise<Cost> {
  const read = async () => {
    const { rows } = await bed.admin.query(
      `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal`,
    )
    return {
      wal: rows[0].wal as number,
      cpu: bed.pids.reduce((sum, pid) => sum + cpuMsOfProcessTree(pid), 0),
    }
  }
  await bed.admin.query('checkpoint')
  const before = await read()
  await runProgram({ url: bed.here, key: bed.key }, MANY, lines)
  const after = await read()
  const of = (value: number) => (value * 1_000) / lines
  return { cpuMs: of(after.cpu - before.cpu), walBytes: of(after.wal - before.wal) }
}

export function liveVerdicts({ hereMs, thereMs, unread, readHere, readThere }: LiveFigures): string {
  const cost = (name: string, { cpuMs, walBytes }: LineCost) =>
    `1,000 lines ${name}: ${cpuMs.median.toFixed(0)} ms of CPU, ${walBytes.median.toFixed(0)} bytes of WAL`
  const goals: Goal[] = [
    ['a line is read on its node, p99 ms', hereMs.p99, true],
    ['a line is read on another node, median ms', thereMs.median, true],
    ['a line is read on another node < 150 ms (p99)', thereMs.p99, thereMs.p99 < 150],
  ]
  const costs = [
    cost('that nobody reads', unread),
    cost('read on their node', readHere),
    cost('read on another node', readThere),
  ]
  return [worded(goals), ...costs].join('\n')
}
