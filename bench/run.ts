import { mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type AnyPostgresFigures, anyPostgres } from './any-postgres.ts'
import { bareClaims, bareResults } from './bare.ts'
import { barRows } from './bars.ts'
import { budgetFigures, budgetVerdicts } from './budgets.ts'
import { coordinatorPasses } from './coordinator.ts'
import { machine, type Tables, writeFigures } from './document.ts'
import type { Measured } from './drive.ts'
import { graphFigures } from './graph.ts'
import { type GrowthFigure, growth } from './growth.ts'
import { claimsBesideEcho, type EchoFigure, makeHttpBed } from './http.ts'
import { idleServer } from './idle.ts'
import { kernelClaims, kernelOpenLoop, kernelSubmits } from './kernel.ts'
import { liveFigures, liveVerdicts } from './live.ts'
import { migration } from './missions/migration.ts'
import { missionFigures } from './missions/missions.ts'
import { migrationVerdicts, missionVerdicts } from './missions/verdicts.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { pageFigures, pageVerdicts } from './pages/board.ts'
import { insightFigures, insightVerdicts } from './pages/insight.ts'
import { metricsFigures, metricsVerdicts } from './pages/metrics.ts'
import { usageFigures, usageVerdicts } from './pages/usage.ts'
import { TIMES } from './peers/compare.ts'
import { compareQueues, nextAmong, wakeUps } from './queue.ts'
import * as report from './report.ts'
import { runFigures } from './runs.ts'
import { type Bed, makeBed } from './setup.ts'
import { aligned } from './text-table.ts'
import { webFigures, webVerdicts } from './web/web.ts'
import { webhookFigures, webhookVerdicts } from './webhooks/webhooks.ts'

/**
 * `npm run bench`: all figures in one run on one machine, since only their ratios mean something elsewhere.
 * `npm run bench -- queue idle` measures these parts alone. `--quick` is a first estimate; `--before FOLDER` measures the
 * built checkout in that folder beside this one; `--docs` writes the tables into docs/benchmarks.md.
 */
const PARTS = [
  'kernel',
  'http',
  'growth',
  'queue',
  'one-at-a-time',
  'idle',
  'coordinator',
  'runs',
  'any-postgres',
  'graph',
  'missions',
  'migration',
  'board',
  'pages',
  'usage',
  'budgets',
  'metrics',
  'live',
  'webhooks',
  'web',
] as const
const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { quick: { type: 'boolean' }, before: { type: 'string' }, docs: { type: 'boolean' } },
})
const unknown = positionals.find((part) => !(PARTS as readonly string[]).includes(part))
if (unknown) throw new Error(`There is no part "${unknown}"; there are ${PARTS.join(', ')}.`)
const wants = (part: (typeof PARTS)[number]) => positionals.length === 0 || positionals.includes(part)
const quick = options.quick ?? false
const before = options.before === undefined ? undefined : resolve(options.before)

const CLAIMS = quick ? 50_000 : 200_000
const SECONDS = quick ? 5 : 30
const MANY = quick ? 200_000 : 1_000_000

const say = (what: string) => process.stderr.write(`${what} …\n`)
const results: Record<string, Measured> = {}
async function measure(name: string, run: () => Promise<Measured>): Promise<void> {
  say(name)
  results[name] = await run()
}

async function withBed<T>(act: (bed: Bed) => Promise<T>): Promise<T> {
  const bed = await makeBed()
  try {
    return await act(bed)
  } finally {
    await bed.close()
  }
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

async function underOpenLoop(bed: Bed): Promise<void> {
  const claimed = await bed.fill(10_000 * SECONDS)
  await kernelClaims(bed, claimed)
  const waiting = await bed.fill(50_000 * SECONDS)
  await bed.calm()
  say('f open loop')
  const { claims, submits } = await kernelOpenLoop(bed, waiting, claimed, SECONDS)
  results['f open loop claims'] = claims
  results['f open loop submits'] = submits
}

async function overHttp(bed: Bed): Promise<EchoFigure> {
  const http = await makeHttpBed(bed)
  say('c http echo and claims')
  const figure = await claimsBesideEcho(bed, http, CLAIMS / 2)
  results['c http echo'] = figure.echo
  results['c http claim'] = figure.claim
  const hundreds = await bed.fill(CLAIMS)
  await bed.calm()
  await measure('d http 100 claims a request', async () => {
    const batches = await http.run({ connections: 16, lot: hundreds, tasksPerRequest: 100, act: 'claim' })
    return { ...batches, count: batches.count * 100, perSecond: batches.perSecond * 100 }
  })
  await http.close()
  return figure
}

async function growing(): Promise<GrowthFigure> {
  say('e growth')
  const figure = await growth(MANY)
  results['e 10 thousand stored'] = figure.few
  results[`e ${MANY / 1000} thousand stored`] = figure.many
  return figure
}

async function waitingCallers(): Promise<void> {
  await measure('h wake-up of a waiting caller', () => wakeUps(quick ? 200 : 1_000))
  await measure('i next, 10 thousand waiting', () => nextAmong(10_000, 5_000))
  await measure(`i next, ${MANY / 1000} thousand waiting`, () => nextAmong(MANY, 5_000))
}

async function coordinator(): Promise<void> {
  say('j passes of the coordinator')
  const { idle, given, gone } = await coordinatorPasses(quick ? 20 : 100)
  results['j pass, nothing due'] = idle
  results['j pass, 1,000 tasks to give'] = given
  results['j pass, 1,000 agents gone'] = gone
}

if (wants('kernel')) {
  await withBed(claimsAndSubmits)
  await withBed(underOpenLoop)
}
const figures = {
  http: wants('kernel') || wants('http') ? await withBed(overHttp) : null,
  growth: wants('kernel') || wants('growth') ? await growing() : null,
  queues: wants('queue') ? await compareQueues(20_000, before, say) : [],
  oneAtATime: wants('one-at-a-time') ? await oneAtATime(quick ? 4_000 : 20_000, before, say) : [],
  idle: wants('idle') ? await idleServer(20, say) : null,
}
if (wants('queue')) await waitingCallers()
if (wants('coordinator')) await coordinator()
const size = { rounds: quick ? 100 : 500, runs: 50, megabytes: quick ? 2 : 10 }
const runs = wants('runs') ? await runFigures(size, say) : null
const anywhere: AnyPostgresFigures | null = wants('any-postgres')
  ? await anyPostgres(quick ? 10 : 30, say)
  : null
if (anywhere) {
  results['n waiting workers, embedded Postgres'] = anywhere.embedded
  if (anywhere.distribution) results['n waiting workers, the distribution’s'] = anywhere.distribution
}

const graph = wants('graph') ? await graphFigures(quick ? [200, 2_000] : [500, 5_000], 10_000, say) : null
const missions = wants('missions') ? await missionFigures({ tasks: 10_000, times: quick ? 3 : 7 }, say) : null
const pages = wants('board') ? await pageFigures(MANY, say) : null
const insight = wants('pages') ? await insightFigures(MANY, say) : null
const usage = wants('usage') ? await usageFigures(MANY, say) : null
const budgets = wants('budgets') ? await budgetFigures(quick ? 10_000 : 50_000, quick ? 5 : 9, say) : null
const metrics = wants('metrics') ? await metricsFigures(MANY, say) : null
const live = wants('live') ? await liveFigures(quick ? 5_000 : 20_000, say) : null
const hooked = { deliveries: quick ? 5_000 : 20_000, claims: CLAIMS, rounds: quick ? 3 : 5 }
const webhooks = wants('webhooks') ? await webhookFigures(hooked, say) : null
const web = wants('web')
  ? await webFigures(
      { cards: 5_000, eventsPerSecond: 3_000, seconds: quick ? 3 : 10, megabytes: quick ? 20 : 100 },
      say,
    )
  : null
const migrated = wants('migration') ? await migration(MANY, say) : null

const tables: Tables = {
  'one-at-a-time': figures.oneAtATime.length > 0 ? report.oneAtATimeRows(figures.oneAtATime) : null,
  queue: figures.queues.length > 0 ? report.bulkRows(figures.queues) : null,
  idle: figures.idle && report.idleRows(figures.idle),
  bars: barRows(figures),
}
if (Object.keys(results).length > 0) console.log(report.table(results))
for (const rows of Object.values(tables)) if (rows) console.log(`\n${aligned(rows)}`)
if (runs) console.log(report.runTable(runs))
if (wants('kernel')) console.log(report.kernelVerdicts(results))
if (wants('queue')) console.log(report.queueVerdicts(results))
if (wants('coordinator')) console.log(report.coordinatorVerdicts(results))
if (runs) console.log(report.runVerdicts(runs))
if (graph) console.log(report.graphVerdicts(graph))
if (missions) console.log(missionVerdicts(missions))
if (pages) console.log(pageVerdicts(pages))
if (insight) console.log(insightVerdicts(insight))
if (usage) console.log(usageVerdicts(usage))
if (budgets) console.log(budgetVerdicts(budgets))
if (metrics) console.log(metricsVerdicts(metrics))
if (live) console.log(liveVerdicts(live))
if (webhooks) console.log(webhookVerdicts(webhooks))
if (web) console.log(webVerdicts(web))
if (migrated) console.log(migrationVerdicts(migrated))
if (anywhere?.distribution) console.log(report.anyPostgresVerdicts(anywhere.embedded, anywhere.distribution))
const how = `Median of ${TIMES} (least–most), measured in turn${quick ? ' with --quick' : ''}: ${machine()}.`
if (options.docs) writeFigures(tables, how)
mkdirSync('bench/results', { recursive: true })
const file = `bench/results/${new Date().toISOString().replace(/[:.]/g, '-')}.json`
const kept = {
  machine: machine(),
  quick,
  before,
  results,
  ...figures,
  runs,
  graph,
  missions,
  migrated,
  pages,
  insight,
  usage,
  budgets,
  metrics,
  live,
  webhooks,
  web,
}
writeFileSync(file, JSON.stringify(kept, null, 2))
console.log(`written to ${file}`)
process.exit(0)
