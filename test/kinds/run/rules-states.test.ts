import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as states from '../../../src/kinds/run/states.ts'

/** The states of runs and wakeups: the tables themselves, and everything that repeats them. */

const {
  LIVE_RUN_STATES,
  movedRun,
  movedWakeup,
  NEW,
  PENDING_WAKEUP_STATES,
  RUN_END_STATES,
  RUN_STATES,
  RUN_TRANSITIONS,
  WAKEUP_END_OF,
  WAKEUP_STATES,
  WAKEUP_TRANSITIONS,
} = states

describe('the tables', () => {
  test('a run is live until it ends, and no transition leads out of an end', () => {
    expect(LIVE_RUN_STATES).toEqual(['queued', 'running'])
    expect([...LIVE_RUN_STATES, ...RUN_END_STATES].sort()).toEqual([...RUN_STATES].sort())
    for (const end of RUN_END_STATES)
      for (const name of Object.keys(RUN_TRANSITIONS) as (keyof typeof RUN_TRANSITIONS)[])
        for (const to of RUN_STATES) expect(() => movedRun(name, end, to)).toThrow('does not lead')
  })

  test('a wakeup is pending while it waits or runs, and ends once', () => {
    expect(PENDING_WAKEUP_STATES).toEqual(['queued', 'claimed'])
    const over = WAKEUP_STATES.filter((state) => !PENDING_WAKEUP_STATES.includes(state))
    for (const end of over)
      for (const name of Object.keys(WAKEUP_TRANSITIONS) as (keyof typeof WAKEUP_TRANSITIONS)[])
        for (const to of WAKEUP_STATES) expect(() => movedWakeup(name, end, to)).toThrow('does not lead')
  })

  test('every state is reached from the beginning', () => {
    const reached = (transitions: Record<string, { from: readonly string[]; to: readonly string[] }>) => {
      const found = new Set<string>([NEW])
      for (let size = 0; size < found.size; ) {
        size = found.size
        for (const { from, to } of Object.values(transitions))
          if (from.some((state) => found.has(state))) for (const state of to) found.add(state)
      }
      found.delete(NEW)
      return [...found].sort()
    }
    expect(reached(RUN_TRANSITIONS)).toEqual([...RUN_STATES].sort())
    expect(reached(WAKEUP_TRANSITIONS)).toEqual([...WAKEUP_STATES].sort())
  })

  test('a wakeup ends with its run, however that ends', () => {
    for (const end of RUN_END_STATES)
      expect(movedWakeup('run_finished', 'claimed', WAKEUP_END_OF[end])).toBe(WAKEUP_END_OF[end])
  })
})

const source = resolve(import.meta.dirname, '../../../src')
const schema = readFileSync(join(source, 'postgres/schema/migrations/0001_baton.sql'), 'utf8')
/** The statement that creates a table, and those that create its indexes. */
const partsOf = (table: string) => {
  const created = schema.match(new RegExp(`create table ${table} \\([\\s\\S]*?;\\n`))![0]
  const indexes = [
    ...schema.matchAll(new RegExp(`create (?:unique )?index \\w+ on ${table} [\\s\\S]*?;\\n`, 'g')),
  ]
  return { created, indexes: indexes.map(([text]) => text).join('') }
}
const listOf = (text: string) => [...text.matchAll(/'(\w+)'/g)].map(([, state]) => state!)
const listIn = (text: string, pattern: RegExp) => {
  const found = text.match(pattern)
  expect(found, String(pattern)).not.toBeNull()
  return listOf(found![1]!)
}

describe('the checks of the schema repeat the tables', () => {
  const runs = partsOf('runs')
  const wakeups = partsOf('wakeups')

  test('which states there are', () => {
    expect(listIn(runs.created, /status text not null check \(status in (\(.*\))\)/)).toEqual(RUN_STATES)
    expect(listIn(wakeups.created, /status text not null check \(status in (\(.*\))\)/)).toEqual(
      WAKEUP_STATES,
    )
    const runtime = partsOf('agent_runtime_state').created
    expect(listIn(runtime, /check \(last_run_status in (\(.*\))\)/)).toEqual(RUN_END_STATES)
  })

  test('which of them have no end yet', () => {
    const unfinished = /check \(\(status in (\([^)]*\))\) = \(finished_at is null\)\)/
    expect(listIn(runs.created, unfinished)).toEqual(LIVE_RUN_STATES)
    expect(listIn(wakeups.created, unfinished)).toEqual(PENDING_WAKEUP_STATES)
    expect(listIn(runs.created, /token_hash is null or status in (\([^)]*\))/)).toEqual(LIVE_RUN_STATES)
    for (const [, list] of runs.indexes.matchAll(/status in (\([^)]*\))/g))
      expect(listOf(list!)).toEqual(LIVE_RUN_STATES)
  })

  test('which of them began: a run has started, a wakeup has a run', () => {
    const [started] = RUN_TRANSITIONS.run_started.to
    expect(listIn(runs.created, /check \(status <> ('\w+') or started_at is null\)/)).toEqual(
      RUN_TRANSITIONS.run_started.from,
    )
    expect(listIn(runs.created, /check \(status <> ('\w+') or started_at is not null\)/)).toEqual([started])
    const withRun = listIn(wakeups.created, /status not in (\([^)]*\)) or run_id is not null/)
    const { run_queued, run_finished, wakeup_skipped } = WAKEUP_TRANSITIONS
    for (const state of withRun) expect([...run_queued.to, ...run_finished.to]).toContain(state)
    const withoutRun = listIn(wakeups.created, /status not in (\([^)]*\)) or run_id is null/)
    for (const state of withoutRun) expect([...run_queued.to, ...run_finished.to]).not.toContain(state)
    expect(listIn(wakeups.created, /status = ('\w+')\) = \(skip_reason is not null/)).toEqual(
      wakeup_skipped.to,
    )
  })
})

describe('no other file spells out a state', () => {
  const files = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)],
    )
  const NAMES = [...new Set([...RUN_STATES, ...WAKEUP_STATES])].join('|')
  const SPELLED = new RegExp(`\\bstatus\\s*(?:=|<>|(?:not )?in)\\s*\\(?\\s*'(?:${NAMES})'`, 'g')

  test('in the SQL of the stores', () => {
    const found = files(source)
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) =>
        [...readFileSync(path, 'utf8').matchAll(SPELLED)].map(({ 0: text }) => `${path}: ${text}`),
      )
    expect(found).toEqual([])
  })

  test('and the rule finds violations', () => {
    const samples = [
      `r.status in ('queued')`,
      `status = 'failed'`,
      `status <> 'queued'`,
      `status not in ('skipped')`,
    ]
    for (const sql of samples) expect(sql.match(SPELLED)).toHaveLength(1)
  })
})
