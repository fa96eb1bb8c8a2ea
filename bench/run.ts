import { mkdirSync, writeFileSync } from 'node:fs'
import { type AnyPostgresFigures, anyPostgres } from './any-postgres.ts'
import { bareClaims, bareResults } from './bare.ts'
import { coordinatorPasses } from './coordinator.ts'
import type { Measured } from './drive.ts'
import { makeHttpBed } from './http.ts'
import { kernelClaims, kernelOpenLoop, kernelRounds, kernelSubmits } from './kernel.ts'
import { compareQueues, nextAmong, type QueueFigure, wakeUps } from './queue.ts'
import {
  anyPostgresVerdicts,
  coordinatorVerdicts,
  queueTable,
  queueVerdicts,
  runTable,
  runVerdicts,
  table,
  verdicts,
} from './report.ts'
import { runFigures } from './runs.ts'
import { type Bed, makeBed } from './setup.ts'

/** `npm run bench`: all figures in one run on one machine, since only their ratios mean something elsewhere. */

const quick = process.argv.includes('--quick')
const CLAIMS = quick ? 50_000 : 200_000
const SECONDS = quick ? 5 : 30
const MANY = quick ? 200_000 : 1_000_000

const results: Record<string, Measured> = {}
async function measure(name: string, run: () => Promise<Measured>): Promise<void> {
  process.stderr.write(`${name} …\n`)
  results[name] = await run()
}

async function claimsAndSubmits(bed: Bed): Promise<void> {
  const warm = await bed.fill(20_000)
  await kernelClaims(bed, warm)
  await kernelSubmits(bed, warm)
  const bare = await bed.fill(CLAIMS)
  const kernel = await bed.fill(CLAIMS)
  await bed.calm()
  await measure('a bare claims', () => bareClaims(bed, bare))
  await bed.calm()
  await measure('b kernel claims', () => kernelClaims(bed, kernel))
  await bed.calm()
  await measure('a bare submits', () => bareResults(bed, bare))
  await bed.calm()
  await measure('b kernel submits', () => kernelSubmits(bed, kernel))
}

async function overHttp(bed: Bed): Promise<void> {
  const http = await makeHttpBed(bed)
  const one = { connections: 256, tasksPerRequest: 1 }
  const warm = await bed.fill(20_000)
  await http.run({ ...one, lot: warm, act: 'echo' })
  await http.run({ ...one, lot: warm, act: 'claim' })
  const lot = await bed.fill(CLAIMS)
  await bed.calm()
  await measure('c http echo', () => http.run({ ...one, lot, act: 'echo' }))
  await measure('c http claim', () => http.run({ ...one, lot, act: 'claim' }))
  const hundreds = await bed.fill(CLAIMS)
  await bed.calm()
  await measure('d http 100 claims a request', async () => {
    const batches = await http.run({ connections: 16, lot: hundreds, tasksPerRequest: 100, act: 'claim' })
    return { ...batches, count: batches.count * 100, perSecond: batches.perSecond * 100 }
  })
  await http.close()
}

/** A fresh database each: one stays small, the other is large from the start. */
async function growth(): Promise<void> {
  for (const [name, stored] of [
    ['e 10 thousand stored', 10_000],
    [`e ${MANY / 1000} thousand stored`, MANY],
  ] as const) {
    const bed = await makeBed()
    try {
      const lot = await bed.fill(stored)
      await bed.calm()
      await measure(name, () => kernelRounds(bed, lot, 10_000, quick ? 4 : 8))
    } finally {
      await bed.close()
    }
  }
}

async function underOpenLoop(): Promise<void> {
  const bed = await makeBed()
  try {
    const claimed = await bed.fill(10_000 * SECONDS)
    await kernelClaims(bed, claimed)
    const waiting = await bed.fill(50_000 * SECONDS)
    await bed.calm()
    process.stderr.write('f open loop …\n')
    const { claims, submits } = await kernelOpenLoop(bed, waiting, claimed, SECONDS)
    results['f open loop claims'] = claims
    results['f open loop submits'] = submits
  } finally {
    await bed.close()
  }
}

async function kernel(): Promise<void> {
  const bed = await makeBed()
  try {
    await claimsAndSubmits(bed)
    await overHttp(bed)
  } finally {
    await bed.close()
  }
  await growth()
  await underOpenLoop()
}

async function queue(): Promise<QueueFigure[]> {
  const figures = await compareQueues(20_000, (what) => process.stderr.write(`${what} …\n`))
  await measure('h wake-up of a waiting caller', () => wakeUps(quick ? 200 : 1_000))
  await measure('i next, 10 thousand waiting', () => nextAmong(10_000, 5_000))
  await measure(`i next, ${MANY / 1000} thousand waiting`, () => nextAmong(MANY, 5_000))
  return figures
}

async function coordinator(): Promise<void> {
  process.stderr.write('j passes of the coordinator …\n')
  const { idle, given, gone } = await coordinatorPasses(quick ? 20 : 100)
  results['j pass, nothing due'] = idle
  results['j pass, 1,000 tasks to give'] = given
  results['j pass, 1,000 agents gone'] = gone
}

// `npm run bench -- queue` measures that part alone; likewise the other parts.
const PARTS = ['kernel', 'queue', 'coordinator', 'runs', 'any-postgres']
const named = PARTS.filter((part) => process.argv.includes(part))
const wants = (part: string) => named.length === 0 || named.includes(part)
if (wants('kernel')) await kernel()
const queues = wants('queue') ? await queue() : []
if (wants('coordinator')) await coordinator()
const say = (what: string) => process.stderr.write(`${what} …\n`)
const size = { rounds: quick ? 100 : 500, runs: 50, megabytes: quick ? 2 : 10 }
const runs = wants('runs') ? await runFigures(size, say) : null
const anywhere: AnyPostgresFigures | null = wants('any-postgres')
  ? await anyPostgres(quick ? 10 : 30, say)
  : null
if (anywhere) {
  results['n waiting workers, embedded Postgres'] = anywhere.embedded
  if (anywhere.distribution) results['n waiting workers, the distribution’s'] = anywhere.distribution
}

if (Object.keys(results).length > 0) console.log(table(results))
if (queues.length > 0) console.log(queueTable(queues))
if (runs) console.log(runTable(runs))
if (wants('kernel')) console.log(verdicts(results))
if (wants('queue')) console.log(queueVerdicts(queues, results))
if (wants('coordinator')) console.log(coordinatorVerdicts(results))
if (runs) console.log(runVerdicts(runs))
if (anywhere?.distribution) console.log(anyPostgresVerdicts(anywhere.embedded, anywhere.distribution))
mkdirSync('bench/results', { recursive: true })
const file = `bench/results/${new Date().toISOString().replace(/[:.]/g, '-')}.json`
writeFileSync(file, JSON.stringify({ node: process.version, quick, results, queues, runs }, null, 2))
console.log(`written to ${file}`)
process.exit(0)
