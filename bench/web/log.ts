import { type Spread, spreadOf } from '../rounds.ts'
import { runProgram } from '../run-program.ts'
import type { WebBed } from './bed.ts'
import { countTransfers, type Frames, heapBytes, middleOf, scrollFrames, untilShown } from './in-page.ts'

export interface LogFigures {
  megabytes: number
  firstTextMs: Spread
  middleMs: Spread
  fetchedBytes: number
  heapBytes: number
  scrolled: Frames
}

const ROUNDS = 3
const LINE_BYTES = 100
const SCROLL_MS = 5_000

/** Lines of a hundred bytes with their number, as fast as they are taken. */
const PRINTS = `const most = Number(process.env.LINES)
let n = 0
;(function print() {
  while (n < most) {
    let lines = ''
    for (let i = 0; i < 1000 && n < most; i++) lines += ('line ' + String(++n).padStart(8, '0') + ' ').padEnd(${LINE_BYTES - 1}, '.') + '\\n'
    if (!process.stdout.write(lines)) return process.stdout.once('drain', print)
  }
})()`

const line = (n: number) => `line ${String(n).padStart(8, '0')}`

export async function logFigures(bed: WebBed, megabytes: number): Promise<LogFigures> {
  const lines = Math.floor((megabytes * 1024 * 1024) / LINE_BYTES)
  const run = await runProgram(bed, PRINTS, lines)
  const middle = Math.floor(lines / 2)
  const ends: Opened[] = []
  const middles: Opened[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // Not the last one: its number is a value of the program's environment, which is redacted.
    ends.push(await openLog(bed, `/runs/${run}?view=raw`, line(lines - 1)))
    middles.push(await openLog(bed, `/runs/${run}?view=raw&at=${(middle - 1) * LINE_BYTES}`, line(middle)))
  }
  return {
    megabytes,
    firstTextMs: spreadOf(ends.map(({ ms }) => ms)),
    middleMs: spreadOf(middles.map(({ ms }) => ms)),
    fetchedBytes: Math.max(...ends.map(({ bytes }) => bytes)),
    heapBytes: Math.max(...ends.map(({ heap }) => heap)),
    scrolled: middleOf(ends.map(({ frames }) => frames)),
  }
}

interface Opened {
  ms: number
  bytes: number
  heap: number
  frames: Frames
}

async function openLog(bed: WebBed, path: string, text: string): Promise<Opened> {
  const opened = await bed.prepare()
  const loaded = await countTransfers(opened.page)
  const began = performance.now()
  await opened.page.goto(opened.address(path))
  await untilShown(opened.page, text)
  const ms = performance.now() - began
  await opened.atRest()
  const { bytes, scriptBytes } = loaded()
  const frames = await scrollFrames(opened.page, SCROLL_MS)
  const heap = await heapBytes(opened.page)
  await opened.close()
  return { ms, bytes: bytes - scriptBytes, heap, frames }
}
