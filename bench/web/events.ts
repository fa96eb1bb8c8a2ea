import { setTimeout as sleep } from 'node:timers/promises'
import { type Spread, spreadOf } from '../rounds.ts'
import type { WebBed } from './bed.ts'
import { type Frames, heapBytes, middleOf, watchFrames } from './in-page.ts'

/** A board on which thousands of cards move each second. */
export interface EventFigures {
  eventsPerSecond: Spread
  frames: Frames
  /** From the last event to the moment at which the page shows the counts of the server. */
  caughtUpMs: Spread
  heapBytes: number
}

const ROUNDS = 3
/** Each claim is an event, and a card that moves. */
const CLAIMS_A_REQUEST = 100

export async function eventFigures(bed: WebBed, perSecond: number, seconds: number): Promise<EventFigures> {
  await bed.call('PATCH', '/limits', { maxConcurrentClaims: 1_000_000 })
  const rounds: Awaited<ReturnType<typeof underEvents>>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const ids: string[] = []
    for (let second = 0; second < seconds; second++) ids.push(...(await createTasks(bed, perSecond)))
    rounds.push(await underEvents(bed, ids, seconds, `round-${round}`))
  }
  return {
    eventsPerSecond: spreadOf(rounds.map((one) => one.eventsPerSecond)),
    frames: middleOf(rounds.map(({ frames }) => frames)),
    caughtUpMs: spreadOf(rounds.map(({ caughtUpMs }) => caughtUpMs)),
    heapBytes: Math.max(...rounds.map((one) => one.heapBytes)),
  }
}

async function createTasks(bed: WebBed, count: number): Promise<string[]> {
  const tasks = Array.from({ length: count }, (_, n) => ({ title: `Moving card ${n}` }))
  const { items } = await bed.call('POST', '/tasks/batch', { tasks })
  return items.map(({ id }: { id: string }) => id)
}

async function underEvents(bed: WebBed, ids: readonly string[], seconds: number, session: string) {
  const opened = await bed.prepare()
  await opened.goto('/board')
  const watching = watchFrames(opened.page, seconds * 1_000)
  const began = performance.now()
  await claimAll(bed, ids, seconds, session)
  const last = performance.now()
  const { counts } = await bed.call('GET', '/board?counts=1')
  await opened.page.getByText(new Intl.NumberFormat('en').format(counts.assigned)).first().waitFor()
  const caughtUpMs = performance.now() - last
  const frames = await watching
  const heap = await heapBytes(opened.page)
  await opened.close()
  return { frames, eventsPerSecond: (ids.length * 1_000) / (last - began), caughtUpMs, heapBytes: heap }
}

/** Evenly over these seconds. */
async function claimAll(
  bed: WebBed,
  ids: readonly string[],
  seconds: number,
  session: string,
): Promise<void> {
  const requests = Math.floor(ids.length / CLAIMS_A_REQUEST)
  const began = performance.now()
  const sent: Promise<unknown>[] = []
  for (let n = 0; n < requests; n++) {
    const dueMs = (n * seconds * 1_000) / requests
    await sleep(Math.max(0, dueMs - (performance.now() - began)))
    const taskIds = ids.slice(n * CLAIMS_A_REQUEST, (n + 1) * CLAIMS_A_REQUEST)
    const holder = { agent: 'alpha', session: `${session}-${n}`, leaseSeconds: 3_600 }
    sent.push(bed.call('POST', '/claims/batch', { ...holder, taskIds }))
  }
  await Promise.all(sent)
}
