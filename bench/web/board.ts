import { type Spread, spreadOf } from '../rounds.ts'
import type { WebBed } from './bed.ts'
import {
  countTransfers,
  domNodes,
  type Frames,
  middleOf,
  scrollFrames,
  type Transferred,
  untilShown,
} from './in-page.ts'

export interface BoardFigures {
  cards: number
  /** From the address to the first card, in a browser that has never seen the app. */
  firstCardMs: Spread
  loaded: Transferred
  scrolled: Frames
  nodes: number
}

const ROUNDS = 3
const SCROLL_MS = 5_000
const FIRST = 'The first card'

export async function boardFigures(bed: WebBed, cards: number): Promise<BoardFigures> {
  const first = { title: FIRST, priority: 10 }
  const others = Array.from({ length: cards - 1 }, (_, n) => ({ title: `Card ${n}` }))
  await bed.call('POST', '/tasks/batch', { tasks: [first, ...others] })
  const loads: Awaited<ReturnType<typeof firstCard>>[] = []
  const scrolls: Awaited<ReturnType<typeof scrolled>>[] = []
  for (let round = 0; round < ROUNDS; round++) {
    loads.push(await firstCard(bed))
    scrolls.push(await scrolled(bed))
  }
  return {
    cards,
    firstCardMs: spreadOf(loads.map(({ ms }) => ms)),
    loaded: loads[0]!.loaded,
    scrolled: middleOf(scrolls.map(({ frames }) => frames)),
    nodes: Math.max(...scrolls.map(({ nodes }) => nodes)),
  }
}

async function firstCard(bed: WebBed) {
  const opened = await bed.prepare()
  const loaded = await countTransfers(opened.page)
  const began = performance.now()
  await opened.page.goto(opened.address('/board'))
  await untilShown(opened.page, FIRST)
  const ms = performance.now() - began
  await opened.atRest()
  await opened.close()
  return { ms, loaded: loaded() }
}

async function scrolled(bed: WebBed) {
  const opened = await bed.prepare()
  await opened.goto('/board')
  const frames = await scrollFrames(opened.page, SCROLL_MS)
  const nodes = await domNodes(opened.page)
  await opened.close()
  return { frames, nodes }
}
