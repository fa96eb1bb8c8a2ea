import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { picosOf, sumOfDollars, textOfPicos } from '../../../src/pure/money.ts'
import type { Json, Task } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, openFleet, type Seen } from '../../support/runs.ts'
import { type ServerUnderTest, startAnother, startServer } from '../../support/server.ts'

/** Budgets and agents that Baton runs, on two nodes: what is spent, what stops, and how it goes on. */

let here: ServerUnderTest
let there: ServerUnderTest
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-budgets-'))
  // Neither node can run all of them.
  const env = { PATH: process.env.PATH!, HOME: folder, BATON_MAX_RUNS: '6' }
  here = await startServer(env)
  there = await startAnother(here, env)
})
afterAll(async () => {
  await there.close()
  await here.close()
  await rm(folder, { recursive: true, force: true })
})
const fleet = (limits?: Json) => openFleet(here, folder, limits)

/** Each step is a sixteenth of a dollar: 6,250 tokens of output of a model that costs ten dollars a million. */
const STEP = '0.0625'
const STEPS = 16
const MODEL = 'gpt-5'

/**
 * Spends a dollar in steps and continues where its session has stopped: each step is told and remembered at once, so that none is lost
 * or told twice. With `BOOKED` it goes on only when the file of that name says that its last step is booked.
 */
const SPENDER = `
  import { existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
  const say = (line) => writeSync(1, JSON.stringify(line) + '\\n')
  process.on('SIGTERM', () => process.exit(143))
  const { BATON_AGENT_SESSION: session, EVERY_MS: everyMs, BOOKED: booked } = process.env
  const file = (session || 'session-of-' + process.env.BATON_TASK_ID) + '.steps'
  const before = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  const isBooked = (steps) => steps <= (existsSync(booked) ? Number(readFileSync(booked, 'utf8')) : 0)
  say({ baton: 'session', sessionId: file.slice(0, -6) })
  const used = (steps) => ({ inputTokens: 0, outputTokens: 6250 * steps })
  for (let steps = before; steps < ${STEPS}; ) {
    do await new Promise((resolve) => setTimeout(resolve, before > 0 ? 20 : Number(everyMs)))
    while (booked && before === 0 && !isBooked(steps))
    steps += 1
    say({ baton: 'usage', usage: used(steps - before) })
    writeFileSync(file, String(steps))
  }
  say({ result: { before }, usage: used(${STEPS} - before), sessionId: file.slice(0, -6) })`

const slugs = (count: number) => Array.from({ length: count }, (_, i) => `agent-${i}`)
const hire = (w: Fleet, slug: string, everyMs: number, env: Record<string, string> = {}) =>
  w.script(slug, SPENDER, { model: MODEL, env: { EVERY_MS: String(everyMs), ...env } })
/** An agent that has at most one step that is not booked, and waits once the budget is spent: however slow all of it is. */
const hireHonest = (w: Fleet, slug: string) => hire(w, slug, 20, { BOOKED: bookedOf(w, slug) })
const bookedOf = (w: Fleet, slug: string) => join(folder, `${w.id}-${slug}.booked`)

/** Tells agents how many of their steps were booked before the budget was spent, once all of them have begun. */
async function tellBooked(w: Fleet, agents: readonly string[]): Promise<void> {
  const rows = await rowsIn(w)
  // Read after the rows: then all of them are from before.
  if ((await budgetIn(w)).state === 'blocked') return
  const booked = agents.map((slug) => {
    const costs = rows.filter(({ agent }) => agent === slug).map(({ costUsd }) => costUsd)
    return dollars(costs) / picosOf(STEP)
  })
  if (booked.includes(0n)) return
  await Promise.all(agents.map((slug, i) => letGoOn(w, slug, Number(booked[i]))))
}

/** Renamed into place: half a number would be another one. */
async function letGoOn(w: Fleet, slug: string, steps: number): Promise<void> {
  const file = bookedOf(w, slug)
  await writeFile(`${file}.new`, String(steps))
  await rename(`${file}.new`, file)
}

const budgetIn = async (w: Fleet): Promise<Seen> => (await w.call('GET', '/budgets')).body.items[0]
const rowsIn = async (w: Fleet): Promise<Seen[]> => (await w.call('GET', '/usage/rows?limit=200')).body.items
const dollars = (amounts: readonly (string | null)[]) => picosOf(sumOfDollars(...amounts))
const allRuns = async (w: Fleet, agents: readonly string[]): Promise<Seen[]> =>
  (await Promise.all(agents.map(w.runsOf))).flat()

/** All tasks are in one of these states, and nothing runs. */
async function rest(w: Fleet, tasks: readonly Task[], agents: readonly string[], states: readonly string[]) {
  return eventually(async () => {
    const shown: Seen[] = await Promise.all(tasks.map((task) => w.read(task)))
    const live = (await allRuns(w, agents)).filter(({ finishedAt }) => finishedAt === null)
    return live.length === 0 && shown.every(({ state }) => states.includes(state)) && shown
  })
}

/** What the budget has consumed is what the rows and the runs say, exactly. */
async function expectExact(w: Fleet, agents: readonly string[]): Promise<bigint> {
  const consumed = picosOf((await budgetIn(w)).consumedUsd)
  const rows = await rowsIn(w)
  expect(rows.length).toBeLessThan(200)
  expect(textOfPicos(dollars(rows.map(({ costUsd }) => costUsd)))).toBe(textOfPicos(consumed))
  const runs = await allRuns(w, agents)
  expect(textOfPicos(dollars(runs.map(({ costUsd }) => costUsd)))).toBe(textOfPicos(consumed))
  return consumed
}

describe.runIf(process.platform !== 'win32')('a budget of one dollar', () => {
  test('with ten agents that each try to spend one ends with at most one report more for each, and raised they all complete', async () => {
    const w = await fleet()
    const agents = slugs(10)
    await Promise.all(agents.map((slug) => hireHonest(w, slug)))
    const made = await w.post('/budgets', { scope: 'workspace', maxUsd: '1' })
    expect(made.status).toBe(201)
    const tasks = await Promise.all(agents.map((slug) => w.assign(slug)))
    await eventually(async () => {
      await tellBooked(w, agents)
      return (await budgetIn(w)).state === 'blocked'
    })
    const stopped = await rest(w, tasks, agents, ['budget_exceeded', 'queued', 'awaiting_retry'])

    const spent = await expectExact(w, agents)
    expect(spent).toBeGreaterThanOrEqual(picosOf('1'))
    expect(textOfPicos(spent), 'one report of each').toSatisfy(
      (usd: string) => picosOf(usd) <= picosOf('1') + 10n * picosOf(STEP),
    )
    for (const { state } of stopped) expect(['budget_exceeded', 'queued']).toContain(state)
    const first = await allRuns(w, agents)
    expect(first.length, 'one of each').toBe(agents.length)
    expect(new Set(first.map(({ nodeId }) => nodeId)).size).toBe(2)
    for (const run of first) expect(run).toMatchObject({ errorCode: 'budget_blocked' })
    expect(await budgetIn(w)).toMatchObject({ state: 'blocked', reservedUsd: '0', reservedTokens: 0 })
    const told = (await w.events()).map(({ type }: Json) => type)
    for (const type of ['budget_warning', 'budget_exceeded'])
      expect(told.filter((one: string) => one === type)).toEqual([type])

    await Promise.all(agents.map((slug) => letGoOn(w, slug, STEPS)))
    const raised = await w.call('PATCH', `/budgets/${made.body.id}`, { maxUsd: '20' })
    expect(raised).toMatchObject({ status: 200, body: { state: 'open' } })
    const done = await rest(w, tasks, agents, ['completed'])
    for (const task of done) expect(task, 'no attempt is spent').toMatchObject({ attempt: 1 })
    for (const slug of agents) {
      const runs = await w.runsOf(slug)
      const [one, two] = [runs.at(0), runs.at(-1)]
      if (runs.length > 1) expect(two.sessionIdBefore, 'the same session').toBe(one.sessionIdAfter)
      expect(runs.every(({ agent }) => agent === slug)).toBe(true)
    }
    expect(textOfPicos(await expectExact(w, agents)), 'nothing is lost, nothing is paid twice').toBe('10')
    expect(await budgetIn(w)).toMatchObject({ reservedUsd: '0', reservedTokens: 0, consumedUsd: '10' })
  })

  test('that is stopped by a person stops all, and goes on when it is allowed', async () => {
    const w = await fleet()
    const agents = slugs(3)
    await Promise.all(agents.map((slug) => hire(w, slug, 300)))
    const tasks = await Promise.all(agents.map((slug) => w.assign(slug)))
    await eventually(async () => (await rowsIn(w)).length >= 3)
    expect((await w.post('/budgets/stop-all', { reason: 'enough' })).status).toBe(200)
    await rest(w, tasks, agents, ['budget_exceeded', 'queued'])
    for (const run of await allRuns(w, agents)) expect(run).toMatchObject({ errorCode: 'budget_blocked' })
    const before = (await rowsIn(w)).length
    await w.pass()
    expect((await rowsIn(w)).length, 'nothing more').toBe(before)
    expect((await w.post('/budgets/allow-all')).status).toBe(200)
    const done = await rest(w, tasks, agents, ['completed'])
    for (const task of done) expect(task).toMatchObject({ attempt: 1 })
    const runs = await allRuns(w, agents)
    expect(textOfPicos(dollars(runs.map(({ costUsd }) => costUsd)))).toBe('3')
  })

  test('of an agent stops that agent only', async () => {
    const w = await fleet()
    await Promise.all(['agent-0', 'agent-1'].map((slug) => hire(w, slug, 100)))
    const about = { scope: 'agent', scopeId: 'agent-0', maxUsd: '0.25' }
    const { body: budget } = await w.post('/budgets', about)
    const [dear, free] = await Promise.all(['agent-0', 'agent-1'].map((slug) => w.assign(slug)))
    await w.taskIn(free, 'completed')
    await w.taskIn(dear, 'budget_exceeded')
    expect((await w.call('DELETE', `/budgets/${budget.id}`)).status).toBe(204)
    expect(await w.taskIn(dear, 'completed')).toMatchObject({ attempt: 1 })
  })
})

describe('sixty-four claimers on three nodes', () => {
  test('never reserve more than there is, at any moment that anybody sees', async () => {
    const third = await startAnother(here, { PATH: process.env.PATH!, HOME: folder })
    try {
      const w = await fleet({ maxConcurrentClaims: 1_000 })
      const nodes = [here, there, third]
      const agents = Array.from({ length: 64 }, (_, i) => `claimer-${i}`)
      const { body: budget } = await w.post('/budgets', { scope: 'workspace', maxTokens: 20_000 })
      const tasks: Task[] = []
      for (let i = 0; i < 64; i++) tasks.push(await w.make({ title: `task ${i}`, estimatedTokens: 1_000 }))
      let isOver = false
      const seen: Seen[] = []
      const watching = (async () => {
        while (!isOver) seen.push(await budgetIn(w))
      })()
      const spends = async (agent: string, i: number): Promise<number> => {
        const { call } = nodes[i % 3]!
        const as = (path: string, body: Json) => call('POST', path, body, { key: w.ownerKey })
        const session = `s-${agent}`
        const claimed = await as(`/tasks/${tasks[i]!.id}/claim`, { agent, session })
        if (claimed.status !== 200) {
          expect(['BUDGET_RESERVED', 'BUDGET_STOPPED']).toContain(claimed.body.code)
          return 0
        }
        const { generation } = claimed.body.claim
        const about = { session, generation }
        const usage = { inputTokens: 300, outputTokens: 300 }
        for (const _ of [1, 2]) await as(`/tasks/${tasks[i]!.id}/usage`, { ...about, usage })
        const act = i % 2 === 0 ? 'submit' : 'release'
        expect(
          (await as(`/tasks/${tasks[i]!.id}/${act}`, { ...about, ...(act === 'submit' && { result: 1 }) }))
            .status,
        ).toBe(200)
        return 600
      }
      const used = await Promise.all(agents.map(spends))
      isOver = true
      await watching
      const consumed = used.reduce((sum, one) => sum + one, 0)
      expect(consumed, 'the first twenty at least').toBeGreaterThanOrEqual(12_000)
      const after: Seen = (await w.call('GET', `/budgets/${budget.id}`)).body
      expect(after).toMatchObject({ consumedTokens: consumed, reservedTokens: 0 })
      // Nobody uses more than is estimated here: then no report is beyond it either.
      for (const { consumedTokens, reservedTokens } of seen)
        expect(consumedTokens + reservedTokens).toBeLessThanOrEqual(20_000)
    } finally {
      await third.close()
    }
  })
})
