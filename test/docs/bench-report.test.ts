import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { barRows, type Figures } from '../../bench/bars.ts'
import { placesIn, withFigures } from '../../bench/document.ts'
import type { PeerFigure } from '../../bench/peers/compare.ts'
import { interleaved, spreadOf } from '../../bench/rounds.ts'

const steady = (value: number) => ({ median: value, min: value, max: value })

const line = (name: string, on: 'postgres' | 'valkey', tasksPerSecond: number): PeerFigure => ({
  name,
  on,
  version: '1',
  keeps: 'nothing',
  workers: 64,
  isBefore: false,
  tasksPerSecond: steady(tasksPerSecond),
  cpuMicros: steady(100),
  walBytes: steady(3_000),
  enqueueMs: steady(1),
  workMs: steady(1),
})

const NOTHING: Figures = { queues: [], oneAtATime: [], http: null, growth: null, idle: null }
const verdicts = (figures: Partial<Figures>) =>
  new Map(barRows({ ...NOTHING, ...figures }).map((row) => [row[0]!, row.slice(3)]))

const ONE_AT_A_TIME = 'one at a time, 64 workers, of the best peer on Postgres'

test('lines are measured in turn, and answered in their order', async () => {
  const order: string[] = []
  const lines = ['a', 'b'].map((name) => async () => `${name}${order.push(name)}`)
  expect(await interleaved(3, lines)).toEqual([
    ['a1', 'a3', 'a5'],
    ['b2', 'b4', 'b6'],
  ])
})

test('a spread is the median with the least and the most', () => {
  expect(spreadOf([30, 10, 20])).toEqual({ median: 20, min: 10, max: 30 })
})

test('a bar that was not measured is neither met nor missed', () => {
  expect(verdicts({}).get(ONE_AT_A_TIME)).toEqual(['–', 'not measured'])
})

test('Baton is compared with the best peer, not with the slowest', () => {
  const peers = [line('graphile-worker', 'postgres', 100), line('pg-boss', 'postgres', 10)]
  const reached = (rate: number) =>
    verdicts({ oneAtATime: [line('baton', 'postgres', rate), ...peers] }).get(ONE_AT_A_TIME)
  expect(reached(170)).toEqual(['1.70', 'MISSED'])
  expect(reached(180)).toEqual(['1.80', 'met'])
  expect(reached(250)).toEqual(['2.50', 'met, stretch too'])
})

test('what must be small is missed when it is large', () => {
  const idle = (share: number) => ({
    ...{ callers: 50, seconds: 20, shareOfCore: steady(share), shareWithCallers: steady(share) },
  })
  expect(verdicts({ idle: idle(0.053) }).get('idle, share of a core')).toEqual(['5.3 %', 'MISSED'])
  expect(verdicts({ idle: idle(0.005) }).get('idle, share of a core')).toEqual(['0.5 %', 'met'])
})

test('the tables of a run replace those of the document, and only those', () => {
  const text = 'Before\n<!-- figures: a -->\nold\n<!-- end -->\n<!-- figures: b -->\nkept\n<!-- end -->\n'
  const written = withFigures(text, { a: [['x'], ['1']], b: null }, 'How.')
  expect(written).toBe(
    'Before\n<!-- figures: a -->\n| x |\n|---|\n| 1 |\n\nHow.\n<!-- end -->\n<!-- figures: b -->\nkept\n<!-- end -->\n',
  )
  expect(() => withFigures(text, { c: [['x']] }, 'How.')).toThrow('no place for c')
})

test('docs/benchmarks.md has a place for every table', () => {
  const text = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/benchmarks.md'), 'utf8')
  expect(placesIn(text)).toEqual(['bars', 'one-at-a-time', 'queue', 'idle'])
})
