import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/embedded-postgres/start.ts'
import { Combiner } from '../src/kernel/combiner.ts'
import { createQueue } from '../src/queue/queue.ts'
import { startPrivateMariadb } from '../test/support/servers/mariadb.ts'
import { freshMysqlDatabase } from '../test/support/servers/mysql-database.ts'
import type { PrivateServer } from '../test/support/servers/private-server.ts'
import { startPrivateValkey } from '../test/support/servers/valkey.ts'
import { closedLoop, type Measured } from './drive.ts'
import { nextOf } from './kernel.ts'
import { measurePeer, type PeerFigure, type QueueServer } from './peers/run.ts'
import { cpuMsOfProcessTree } from './server-cpu.ts'
import { makeBed } from './setup.ts'

export interface QueueFigure extends PeerFigure {
  on: string
}

/** The same work on each store, beside other job queues on the same servers: all durable, one after the other. */
export async function compareQueues(tasks: number, say: (what: string) => void): Promise<QueueFigure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log: () => undefined })
  const stops = [() => postgres.stop()]
  const servers: Record<string, QueueServer> = {
    postgres: { url: postgres.url, cpuMs: () => cpuMsOfProcessTree(postgres.pid()!) },
  }
  /** As the tests do: installed first if need be. What cannot be installed is left out, with a message. */
  const obtain = async (
    on: string,
    start: () => Promise<PrivateServer>,
    urlOf = async (url: string) => url,
  ) => {
    try {
      const server = await start()
      stops.push(() => server.stop())
      servers[on] = { url: await urlOf(server.url), cpuMs: () => cpuMsOfProcessTree(server.pid()) }
    } catch (error) {
      say(`g left out on ${on}: ${(error as Error).message}`)
    }
  }
  const figures: QueueFigure[] = []
  try {
    await obtain('valkey', startPrivateValkey)
    const madeOn = async (url: string) => (await freshMysqlDatabase(url)).url
    await obtain('mysql', () => startPrivateMariadb(ROOMY), madeOn)
    for (const [name, on] of [
      ['baton', 'postgres'],
      ['graphile-worker', 'postgres'],
      ['pg-boss', 'postgres'],
      ['baton', 'valkey'],
      ['bullmq', 'valkey'],
      ['baton', 'mysql'],
    ] as const) {
      const server = servers[on]
      if (!server) continue
      say(`g ${name} on ${on}`)
      figures.push({ ...(await measurePeer(name, server, tasks)), on })
    }
    return figures
  } finally {
    await Promise.all(stops.map((stop) => stop()))
    rmSync(folder, { recursive: true, force: true })
  }
}

/** As much memory and log space as the embedded Postgres has. */
const ROOMY = ['--innodb-buffer-pool-size=512M', '--innodb-log-file-size=512M']

/** How long after its task was acknowledged a waiting caller has it. */
export async function wakeUps(rounds: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log: () => undefined })
  const queue = await createQueue(postgres.url)
  const latencies: number[] = []
  const cpu = process.cpuUsage()
  const begin = performance.now()
  for (let round = 0; round < rounds; round++) {
    const waiting = queue
      .next('worker', { waitMs: 30_000 })
      .then((claim) => ({ claim, at: performance.now() }))
    // Until it really waits, and is not merely about to query.
    await new Promise((resolve) => setTimeout(resolve, 5))
    await queue.enqueue({ title: 'task' })
    const acknowledged = performance.now()
    const { claim, at } = await waiting
    latencies.push(Math.max(0, at - acknowledged))
    await queue.submit(claim!, null)
  }
  const sorted = latencies.sort((a, b) => a - b)
  const { user, system } = process.cpuUsage(cpu)
  await queue.close()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
  return {
    count: rounds,
    perSecond: rounds / ((performance.now() - begin) / 1000),
    p50Ms: sorted[Math.floor(rounds / 2)]!,
    p99Ms: sorted[Math.floor(rounds * 0.99)]!,
    nodeMicros: (user + system) / rounds,
  }
}

/** Single tasks from the front of a queue in which so many wait. */
export async function nextAmong(waiting: number, count: number): Promise<Measured> {
  const bed = await makeBed()
  try {
    await bed.fill(waiting)
    await bed.calm()
    const combiner = new Combiner(bed.store)
    await closedLoop(64, 1_000, () => nextOf(bed, combiner))
    return await closedLoop(64, count, () => nextOf(bed, combiner))
  } finally {
    await bed.close()
  }
}
