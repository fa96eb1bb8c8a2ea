import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { Random } from '../simulation/random.ts'
import { eventually, expectDoneOnce, type Processes } from '../support/recovery.ts'
import { contradictions } from './checks.ts'

/** `BATON_LOAD_SEED=… npx vitest run test/recovery/load.test.ts` kills in the same order again. */
const seed = Number(process.env.BATON_LOAD_SEED ?? Date.now() % 2 ** 31)
const random = new Random(seed)

const PROCESSES = 8
const AGENTS = 100

/** How a process of agents comes back after it was killed. */
const RETURNS = {
  /** As before: it still holds its claims. */
  'at once': { afterMs: 0, isAnother: false },
  /** As new agents under the same names: its claims go to others when not started, or when their lease ends. */
  'at once, without its memory': { afterMs: 0, isAnother: true },
  /** Others were assigned its work in the meantime. */
  'after it was declared lost': { afterMs: 6_000, isAnother: false },
} as const
type Return = keyof typeof RETURNS

/** 100 agents do so many tasks, each once, while processes of them are killed so many times, at any moment. */
export async function workUnderKills(
  processes: Processes,
  { tasks: count, kills: times }: { tasks: number; kills: number },
): Promise<void> {
  const server = await processes.serve()
  const w = await processes.workspace(server.url, {
    minLeaseSeconds: 1,
    maxLeaseSeconds: 8,
    assignTimeoutSeconds: 4,
  })
  let life = 0
  const slugsOf = (i: number) =>
    Array.from({ length: AGENTS }, (_, n) => n)
      .filter((n) => n % PROCESSES === i)
      .map((n) => `agent-${n}`)
  const startOne = (i: number, name: number) =>
    w.agents(slugsOf(i), {
      session: `life ${name} of {}`,
      capacity: 10,
      heartbeatMs: 1_000,
      staleSeconds: 5,
      steps: 1,
      stepMs: 20,
      // Some go step by step, with checkpoints; most submit their tasks together, or the test would be long.
      together: i > 1,
    })
  const crew = Array.from({ length: PROCESSES }, (_, i) => ({ i, name: ++life, agents: startOne(i, life) }))
  const alive = new Set(crew)
  await Promise.all(crew.map(({ agents }) => agents.reports('online')))

  const began = performance.now()
  const tasks = await w.makeMany(count, { maxRetries: 50 })
  const completed = async () => (await w.states()).completed ?? 0
  const kills: Record<Return, number> = {
    'at once': 0,
    'at once, without its memory': 0,
    'after it was declared lost': 0,
  }
  const returning: Promise<void>[] = []
  async function kill(one: (typeof crew)[number], how: Return): Promise<void> {
    const { afterMs, isAnother } = RETURNS[how]
    alive.delete(one)
    one.agents.child.kill('SIGKILL')
    await one.agents.ended
    await sleep(afterMs)
    if (isAnother) one.name = ++life
    one.agents = startOne(one.i, one.name)
    alive.add(one)
  }
  // By how much is done, not by the clock: a slow machine should not see more kills.
  const when = Array.from({ length: times }, () => random.int(count * 0.02, count * 0.9)).sort(
    (a, b) => a - b,
  )
  for (const [n, done] of when.entries()) {
    await eventually(async () => (await completed()) >= done && alive.size > 0)
    const how = (Object.keys(RETURNS) as Return[])[n % 3]!
    kills[how] += 1
    returning.push(kill(random.pick([...alive]), how))
  }
  await Promise.all(returning)
  await eventually(async () => (await completed()) === count)
  const seconds = (performance.now() - began) / 1_000
  for (const { agents } of crew) agents.child.kill('SIGKILL')
  await expectDoneOnce(w, tasks)
  // Statistics of the grown tables: autovacuum had no time for them.
  await processes.rows('analyze')
  expect(await contradictions(processes.databaseUrl(), null)).toEqual([])

  const ends = new Map<string, number>()
  const claims = await w.claims()
  for (const { reason } of claims) ends.set(reason!, (ends.get(reason!) ?? 0) + 1)
  console.log(
    `load test: seed ${seed}, ${count} tasks in ${seconds.toFixed(1)} s, kills ${JSON.stringify(kills)}, ` +
      `${claims.length} claims, ended ${JSON.stringify(Object.fromEntries(ends))}`,
  )
}
