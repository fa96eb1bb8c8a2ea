import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/embedded-postgres/start.ts'
import { Combiner } from '../src/kernel/combiner.ts'
import { createQueue } from '../src/queue/queue.ts'
import { closedLoop, type Measured } from './drive.ts'
import { nextOf } from './kernel.ts'
import { comparePeers, type PeerFigure, type PeerLine } from './peers/compare.ts'
import { makeBed } from './setup.ts'

/** The same work on each store, beside other job queues on the same servers: all durable, each at its fastest. */
export function compareQueues(
  tasks: number,
  before: string | undefined,
  say: (what: string) => void,
): Promise<PeerFigure[]> {
  const lines: PeerLine[] = [
    { name: 'baton', on: 'postgres', workers: 0 },
    ...(before ? [{ name: 'baton', on: 'postgres', workers: 0, build: before } as const] : []),
    { name: 'graphile-worker', on: 'postgres', workers: 0 },
    { name: 'pg-boss', on: 'postgres', workers: 0 },
    { name: 'baton', on: 'valkey', workers: 0 },
    { name: 'bullmq', on: 'valkey', workers: 0 },
    { name: 'baton', on: 'mysql', workers: 0 },
  ]
  return comparePeers(lines, tasks, (what) => say(`g ${what}`))
}

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
