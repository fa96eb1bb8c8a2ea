import { setTimeout as sleep } from 'node:timers/promises'
import { type Spread, spreadOf } from '../rounds.ts'
import type { WebBed } from './bed.ts'
import { domNodes, type Frames, middleOf, watchFrames } from './in-page.ts'

/** A mission as a graph and as a timeline. */
export interface MissionFigures {
  tasks: number
  /** From the answer of the server to the frame that shows the last task. */
  graphMs: Spread
  /** While tasks move. */
  graphFrames: Frames
  graphEventsPerSecond: Spread
  attempts: number
  timelineMs: Spread
  timelineNodes: number
}

const ROUNDS = 3
const TASKS = 400
const WIDTH = 20
const ATTEMPTS_A_TASK = 5
const SECONDS = 5
/** Taken, paused, resumed. */
const MOVES = 3
const A_SECOND = Math.ceil(50 / MOVES)
const RETRIES = 20

export async function missionFigures(bed: WebBed): Promise<MissionFigures> {
  await bed.call('PATCH', '/limits', { maxConcurrentClaims: 1_000_000 })
  const { id } = await bed.call('POST', '/missions', {
    goal: 'A large mission',
    plan: { tasks: Array.from({ length: TASKS }, (_, n) => planned(n)) },
    config: { autonomy: 'full_auto' },
  })
  // Independent ones: those of the graph wait for each other.
  const wide = await bed.call('POST', '/missions', {
    goal: 'Many attempts',
    plan: { tasks: Array.from({ length: TASKS }, (_, n) => ({ tempId: `t${n}`, title: `Tried ${n}` })) },
    config: { autonomy: 'full_auto', retry: { maxAttempts: RETRIES } },
  })
  const ids = await tasksOf(bed, wide.id)
  await tryAll(bed, ids)
  const graphs: number[] = []
  const timelines: number[] = []
  let timelineNodes = 0
  for (let round = 0; round < ROUNDS; round++) {
    graphs.push((await drawn(bed, id, 'graph', '[data-task]', TASKS)).ms)
    const timeline = await drawn(bed, wide.id, 'timeline', '[data-row]', 10)
    timelines.push(timeline.ms)
    timelineNodes = Math.max(timelineNodes, timeline.nodes)
  }
  const moves: Awaited<ReturnType<typeof underEvents>>[] = []
  for (let round = 0; round < ROUNDS; round++) moves.push(await underEvents(bed, wide.id, ids, round))
  return {
    tasks: TASKS,
    graphMs: spreadOf(graphs),
    graphFrames: middleOf(moves.map(({ frames }) => frames)),
    graphEventsPerSecond: spreadOf(moves.map(({ perSecond }) => perSecond)),
    attempts: TASKS * ATTEMPTS_A_TASK,
    timelineMs: spreadOf(timelines),
    timelineNodes,
  }
}

/** Layers of twenty, each task after two of the layer before. */
const planned = (n: number) => ({
  tempId: `t${n}`,
  title: `Task ${n}`,
  ...(n < WIDTH ? {} : { dependsOn: [`t${n - WIDTH}`, `t${n - WIDTH - (n % WIDTH === 0 ? 1 - WIDTH : 1)}`] }),
})

async function tasksOf(bed: WebBed, mission: string): Promise<string[]> {
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const page = await bed.call('GET', `/missions/${mission}/tasks?limit=200${cursor}`)
    ids.push(...page.items.map(({ id }: { id: string }) => id))
    if (page.nextCursor === null) return ids
    cursor = `&cursor=${page.nextCursor}`
  }
}

const claimed = (bed: WebBed, taskIds: readonly string[], session: string) =>
  bed.call('POST', '/claims/batch', { agent: 'alpha', session, leaseSeconds: 3_600, taskIds })

/** Each is taken, paused and resumed, again and again. */
async function tryAll(bed: WebBed, ids: readonly string[]): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS_A_TASK; attempt++)
    for (let from = 0; from < ids.length; from += 100)
      await tryOnce(bed, ids.slice(from, from + 100), `try-${attempt}-${from}`)
}

async function tryOnce(bed: WebBed, taskIds: readonly string[], session: string): Promise<void> {
  await claimed(bed, taskIds, session)
  for (const act of ['pause', 'resume']) await bed.call('POST', '/tasks/act', { ids: taskIds, act })
}

/**
 * From the answer of the server to the frame after the one in which all of it is there. The view was open before: what is measured is
 * the drawing, not the loading of the app.
 */
async function drawn(bed: WebBed, mission: string, view: 'graph' | 'timeline', what: string, count: number) {
  const opened = await bed.prepare()
  await opened.goto(`/missions/${mission}?view=${view}`)
  await opened.page.locator('input[value="comments"]').click({ force: true })
  await opened.atRest()
  const ms = Number(
    await opened.page.evaluate(`(async () => {
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
      performance.clearResourceTimings()
      document.querySelector('input[value="${view}"]').click()
      while (document.querySelectorAll('${what}').length < ${count}) await frame()
      await frame()
      const read = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/${view}?'))
      return performance.now() - read.at(-1).responseEnd
    })()`),
  )
  const nodes = await domNodes(opened.page)
  await opened.close()
  return { ms, nodes }
}

async function underEvents(bed: WebBed, mission: string, ids: readonly string[], round: number) {
  const opened = await bed.prepare()
  await opened.goto(`/missions/${mission}?view=graph`)
  const watching = watchFrames(opened.page, SECONDS * 1_000)
  const began = performance.now()
  let events = 0
  for (let n = 0; n < SECONDS; n++) {
    await sleep(Math.max(0, n * 1_000 - (performance.now() - began)))
    const some = ids.slice(n * A_SECOND, (n + 1) * A_SECOND)
    await tryOnce(bed, some, `move-${round}-${n}`)
    events += some.length * MOVES
  }
  const frames = await watching
  const perSecond = (events * 1_000) / (performance.now() - began)
  await opened.close()
  return { frames, perSecond }
}
