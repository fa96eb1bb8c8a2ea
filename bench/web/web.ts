import { type Goal, worded } from '../report.ts'
import { makeWebBed } from './bed.ts'
import { type BoardFigures, boardFigures } from './board.ts'
import { type EventFigures, eventFigures } from './events.ts'
import type { Frames } from './in-page.ts'
import { type LogFigures, logFigures } from './log.ts'
import { type MissionFigures, missionFigures } from './mission.ts'

/** The app in a browser: how soon it is there, how it scrolls, and how it keeps up. */
export interface WebFigures {
  board: BoardFigures
  events: EventFigures
  log: LogFigures
  mission: MissionFigures
}

interface Size {
  cards: number
  eventsPerSecond: number
  seconds: number
  megabytes: number
}

export async function webFigures(size: Size, say: (what: string) => void): Promise<WebFigures> {
  say(`w ${size.cards} cards in a browser, and ${size.megabytes} MB of log`)
  const bed = await makeWebBed()
  try {
    return {
      board: await boardFigures(bed, size.cards),
      events: await eventFigures(bed, size.eventsPerSecond, size.seconds),
      log: await logFigures(bed, size.megabytes),
      mission: await missionFigures(bed),
    }
  } finally {
    await bed.close()
  }
}

const MB = 1024 * 1024

export function webVerdicts({ board, events, log, mission }: WebFigures): string {
  const smooth = (what: string, { perSecond, worstMs }: Frames): Goal[] => [
    [`${what} ≥ 50 frames a second`, perSecond, perSecond >= 50],
    [`${what}: longest frame, ms`, worstMs, true],
  ]
  const below = (what: string, reached: number, most: number): Goal => [what, reached, reached < most]
  return worded([
    below('first card of an unknown app < 1,500 ms', board.firstCardMs.median, 1_500),
    below('scripts for it < 250 KB', board.loaded.scriptBytes / 1_000, 250),
    ['all that is loaded for it, KB', board.loaded.bytes / 1_000, true],
    ...smooth(`${board.cards} cards scroll at`, board.scrolled),
    below('elements of the page < 1,000', board.nodes, 1_000),
    ['events a second', events.eventsPerSecond.median, true],
    ...smooth('the board under them has', events.frames),
    ['up to date after the last one, ms', events.caughtUpMs.median, true],
    ['heap under them, MB', events.heapBytes / MB, true],
    below(`first text of a log of ${log.megabytes} MB < 1,000 ms`, log.firstTextMs.median, 1_000),
    ['its middle, with the page, ms', log.middleMs.median, true],
    below('fetched of it < 2 MB', log.fetchedBytes / MB, 2),
    below('heap with it < 80 MB', log.heapBytes / MB, 80),
    ...smooth('it scrolls at', log.scrolled),
    below(`graph of ${mission.tasks} tasks drawn < 200 ms`, mission.graphMs.median, 200),
    ['events a second on it', mission.graphEventsPerSecond.median, true],
    ...smooth('the graph under them has', mission.graphFrames),
    below(`timeline of ${mission.attempts} attempts drawn < 300 ms`, mission.timelineMs.median, 300),
    ['elements of the page with it', mission.timelineNodes, true],
  ])
}
