import type { GrowthFigure } from './growth.ts'
import type { EchoFigure } from './http.ts'
import type { IdleFigure } from './idle.ts'
import type { PeerFigure } from './peers/compare.ts'
import type { Rows } from './text-table.ts'

/** What this run has measured; what it has not is empty or null. */
export interface Figures {
  queues: readonly PeerFigure[]
  oneAtATime: readonly PeerFigure[]
  http: EchoFigure | null
  growth: GrowthFigure | null
  idle: IdleFigure | null
}

interface Bar {
  of: string
  /** What the build had that the bars were set for, as measured then. */
  was: string
  goal: number
  stretch?: number
  is: 'at least' | 'at most'
  reached: number | null
  worded?: (value: number) => string
}

const ratio = (value: number) => value.toFixed(2)
const bytes = (value: number) => `${Math.round(value)} B`
const percent = (value: number) => `${(value * 100).toFixed(1)} %`

const quotient = (over: number | undefined, under: number | undefined) =>
  over === undefined || under === undefined ? null : over / under

function barsOf({ queues, oneAtATime, http, growth, idle }: Figures): Bar[] {
  const one = (name: string, on: string) =>
    oneAtATime.find((line) => line.name === name && line.on === on && line.workers === 64 && !line.isBefore)
  const rate = (figure: PeerFigure | undefined) => figure?.tasksPerSecond.median
  const bulk = (name: string, isBefore = false) =>
    queues.find((line) => line.name === name && line.on === 'postgres' && line.isBefore === isBefore)
  const peers = ['graphile-worker', 'pg-boss'].flatMap((name) => rate(one(name, 'postgres')) ?? [])
  const best = peers.length === 0 ? undefined : Math.max(...peers)
  const cpu = quotient(bulk('baton')?.cpuMicros.median, bulk('baton', true)?.cpuMicros.median)
  const onRedis = quotient(rate(one('baton', 'valkey')), rate(one('bullmq', 'valkey')))
  return [
    {
      of: 'one at a time, 64 workers, of the best peer on Postgres',
      was: '1.4',
      goal: 1.8,
      stretch: 2.5,
      is: 'at least',
      reached: quotient(rate(one('baton', 'postgres')), best),
    },
    {
      of: 'bulk, of graphile-worker',
      was: '0.32',
      goal: 0.4,
      stretch: 0.5,
      is: 'at least',
      reached: quotient(rate(bulk('baton')), rate(bulk('graphile-worker'))),
    },
    { of: 'CPU a task, of the build before', was: '188 µs', goal: 0.8, is: 'at most', reached: cpu },
    {
      of: 'WAL a task',
      was: '3600 B',
      goal: 2_700,
      is: 'at most',
      reached: bulk('baton')?.walBytes?.median ?? null,
      worded: bytes,
    },
    {
      of: 'one claim a request, of echo',
      was: '0.4–0.65',
      goal: 0.65,
      stretch: 0.8,
      is: 'at least',
      reached: http?.ratio.median ?? null,
    },
    { of: 'growth', was: '1.24', goal: 1.2, is: 'at most', reached: growth?.ratio.median ?? null },
    {
      of: 'on Redis one at a time, 64 workers, of BullMQ',
      was: '–',
      goal: 1,
      stretch: 1.3,
      is: 'at least',
      reached: onRedis,
    },
    {
      of: 'idle, share of a core',
      was: '5.3 %',
      goal: 0.01,
      is: 'at most',
      reached: idle?.shareOfCore.median ?? null,
      worded: percent,
    },
    {
      of: 'idle with 50 waiting callers, share of a core',
      was: '5.5 %',
      goal: 0.015,
      is: 'at most',
      reached: idle?.shareWithCallers.median ?? null,
      worded: percent,
    },
  ]
}

/** Every bar, with what this run reached. */
export function barRows(figures: Figures): Rows {
  const rows = barsOf(figures).map(({ of, was, goal, stretch, is, reached, worded = ratio }) => {
    const sign = is === 'at least' ? '≥' : '≤'
    const isMet = (least: number) => (is === 'at least' ? reached! >= least : reached! <= least)
    const verdict = reached === null ? 'not measured' : isMet(goal) ? 'met' : 'MISSED'
    const isStretched = stretch !== undefined && reached !== null && isMet(stretch)
    return [
      of,
      was,
      `${sign} ${worded(goal)}${stretch === undefined ? '' : ` (${worded(stretch)})`}`,
      reached === null ? '–' : worded(reached),
      isStretched ? 'met, stretch too' : verdict,
    ]
  })
  return [['bar', 'was', 'goal (stretch)', 'reached', ''], ...rows]
}
