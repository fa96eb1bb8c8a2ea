import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { useBrowser } from '../support/browser/use-browser.ts'
import type { Json, Workspace } from '../support/http-workspace.ts'

/** A board that stays open under load keeps its memory, and stays true. BATON_ENDURANCE_MINUTES: how long, an hour if it is not set. */

const MINUTES = Number(process.env.BATON_ENDURANCE_MINUTES ?? 60)
/** Columns fill, code is compiled, and the store reaches the number of finished things that it keeps. */
const WARM_UP = 0.25
const SAMPLES = 24
const TASKS_A_ROUND = 50

const { workspace, openPage } = useBrowser()

/** Makes, claims and finishes tasks until it is stopped. Returns how many. */
async function work(w: Workspace, signal: AbortSignal): Promise<number> {
  let finished = 0
  while (!signal.aborted) {
    const tasks = Array.from({ length: TASKS_A_ROUND }, (_, n) => ({ title: `Task ${finished + n}` }))
    expect((await w.post('/tasks/batch', { tasks })).status).toBe(201)
    const { claims } = (
      await w.post('/claims/next', { agent: 'alpha', session: 's-1', limit: TASKS_A_ROUND })
    ).body
    const results = claims.map(({ taskId, generation }: Json) => ({
      ...{ taskId, session: 's-1', generation, result: { done: true } },
    }))
    expect((await w.post('/results/batch', { results })).status).toBe(200)
    finished += results.length
    await sleep(1_000)
  }
  return finished
}

const middle = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

test('a board that stays open under load keeps its memory, and shows what the server has', {
  timeout: (MINUTES + 10) * 60_000,
}, async () => {
  const w = await workspace({ maxConcurrentClaims: 1_000 })
  const { page, faults } = await openPage(w, '/board')
  const devtools = await page.context().newCDPSession(page)
  const heapBytes = async () => {
    await devtools.send('HeapProfiler.collectGarbage')
    return (await devtools.send('Runtime.getHeapUsage')).usedSize
  }
  const stop = new AbortController()
  const working = work(w, stop.signal)
  await sleep(MINUTES * 60_000 * WARM_UP)
  const heaps: number[] = []
  for (let sample = 0; sample < SAMPLES; sample++) {
    await sleep((MINUTES * 60_000 * (1 - WARM_UP)) / SAMPLES)
    heaps.push(await heapBytes())
  }
  stop.abort()
  const finished = await working
  const third = SAMPLES / 3
  const [before, after] = [middle(heaps.slice(0, third)), middle(heaps.slice(-third))]
  console.log(
    `${finished} tasks in ${MINUTES} minutes, heap ${heaps.map((bytes) => (bytes / 2 ** 20).toFixed(1)).join(' ')} MB`,
  )
  expect(after / before).toBeLessThan(1.2)
  // It still follows the log: what is shown is what the server counts.
  const { counts } = (await w.call('GET', '/board?counts=1')).body
  await expect
    .poll(() => page.locator('[data-count]').innerText())
    .toContain(
      new Intl.NumberFormat('en').format(
        Object.values(counts as Record<string, number>).reduce((sum, count) => sum + count, 0),
      ),
    )
  expect(faults).toEqual([])
})
