import type { Page } from 'playwright-core'

/** Measurements inside a page. What runs there is text: the compiler of benchmarks knows no documents. */

export interface Frames {
  perSecond: number
  /** The longest time between two frames. */
  worstMs: number
}

/** Of an odd number of measurements. */
export const middleOf = (measured: readonly Frames[]): Frames =>
  [...measured].sort((a, b) => a.perSecond - b.perSecond)[measured.length >> 1]!

const FRAME = 'const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))'

/** What scrolls furthest on the page: a column of the board, the lines of a log. */
const SCROLLER = `const scroller = [...document.querySelectorAll('main, main *')]
  .filter((one) => one.scrollHeight > one.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(one).overflowY))
  .sort((a, b) => b.scrollHeight - a.scrollHeight)[0] ?? document.scrollingElement`

const framesDuring = async (page: Page, ms: number, eachFrame: string): Promise<Frames> => {
  const gaps = (await page.evaluate(`(async () => {
    ${FRAME}; ${SCROLLER}
    const gaps = []
    let last = await frame()
    for (const end = last + ${ms}; last < end; ) {
      ${eachFrame}
      const now = await frame()
      gaps.push(now - last)
      last = now
    }
    return gaps
  })()`)) as number[]
  const totalMs = gaps.reduce((sum, gap) => sum + gap, 0)
  return { perSecond: (gaps.length * 1_000) / totalMs, worstMs: Math.max(...gaps) }
}

/** Frames while nobody touches the page. */
export const watchFrames = (page: Page, ms: number) => framesDuring(page, ms, '')

/** Frames while the longest list is scrolled: sixty pixels each, down and up again. */
export const scrollFrames = (page: Page, ms: number) =>
  framesDuring(page, ms, `scroller.scrollTop += gaps.length * 16 < ${ms / 2} ? 60 : -60`)

/** Until the page shows this text, to the frame. Playwright looks only every half second after the first tries. */
export const untilShown = (page: Page, text: string) =>
  page.evaluate(
    `new Promise((settle) => {
      const look = () =>
        document.body.textContent.includes(${JSON.stringify(text)}) ? settle() : requestAnimationFrame(look)
      look()
    })`,
  )

export const domNodes = async (page: Page) =>
  Number(await page.evaluate(`document.querySelectorAll('*').length`))

/** After a collection of garbage. */
export async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return usedSize
}

export interface Transferred {
  /** As they went over the wire. */
  bytes: number
  scriptBytes: number
}

/** Counts what the page loads from now on. */
export async function countTransfers(page: Page): Promise<() => Transferred> {
  const session = await page.context().newCDPSession(page)
  const scripts = new Set<string>()
  const seen: Transferred = { bytes: 0, scriptBytes: 0 }
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    seen.bytes += encodedDataLength
    if (scripts.has(requestId)) seen.scriptBytes += encodedDataLength
  })
  await session.send('Network.enable')
  return () => seen
}
