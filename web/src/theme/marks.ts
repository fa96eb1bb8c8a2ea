import type { MissionState } from '../../../src/kinds/mission/states.ts'
import type { RunState, WakeupState } from '../../../src/kinds/run/states.ts'
import type { AgentState, SessionState, TaskState } from '../../../src/pure/states.ts'

/**
 * How states look: a word, a hue and a mark with an outline of its own, so that colour is never alone. Marks are paths on a
 * grid of 16, for DOM and canvas alike.
 */

export type Hue = 'wait' | 'go' | 'ask' | 'held' | 'done' | 'bad'

/** `cut` is drawn in the colour of the ground, on top of a filled path. */
interface MarkPath {
  d: string
  draw: 'stroke' | 'fill' | 'cut' | 'cut-fill'
  width?: number
}

const DEGREE = Math.PI / 180
const at = (radius: number, degrees: number) =>
  `${(8 + radius * Math.sin(degrees * DEGREE)).toFixed(2)} ${(8 - radius * Math.cos(degrees * DEGREE)).toFixed(2)}`

/** A part of a circle around the middle, clockwise from the top. */
export function arc(from: number, to: number, radius: number): string {
  const end = Math.min(to, from + 359)
  return `M${at(radius, from)}A${radius} ${radius} 0 ${end - from > 180 ? 1 : 0} 1 ${at(radius, end)}`
}

// In two halves: the ends of one arc would meet, and then nothing is drawn.
const circle = (radius: number) => `${arc(0, 180, radius)}${arc(180, 360, radius).replace('M', 'L')}Z`
const ring: MarkPath = { d: circle(6.25), draw: 'stroke' }
const disc: MarkPath = { d: circle(7.25), draw: 'fill' }
const octagon: MarkPath = { d: 'M5.1.9h5.8l4.2 4.2v5.8l-4.2 4.2H5.1L.9 10.9V5.1z', draw: 'fill' }
const brokenRing = [0, 72, 144, 216, 288].map((from) => arc(from + 12, from + 60, 6.25)).join('')

export const MARKS = {
  brokenRing: [{ d: brokenRing, draw: 'stroke' }],
  ring: [ring],
  retry: [
    { d: arc(-40, 270, 6.25), draw: 'stroke' },
    { d: 'M3.1 0.9v3.2h3.2', draw: 'stroke' },
    { d: 'M8 5v3.2l2 1.3', draw: 'stroke' },
  ],
  dottedRing: [ring, { d: circle(2.5), draw: 'fill' }],
  play: [
    { d: circle(5), draw: 'fill' },
    { d: 'M6.8 5.7v4.6L10.5 8z', draw: 'cut-fill' },
  ],
  stepForward: [{ d: 'M2 3.2v9.6L8 8zM8.6 3.2v9.6l6-4.8z', draw: 'fill' }],
  scan: [
    {
      d: 'M1.8 5V3.3c0-.8.7-1.5 1.5-1.5H5M11 1.8h1.7c.8 0 1.5.7 1.5 1.5V5M14.2 11v1.7c0 .8-.7 1.5-1.5 1.5H11M5 14.2H3.3c-.8 0-1.5-.7-1.5-1.5V11',
      draw: 'stroke',
    },
    { d: 'M9.7 7.4a2.3 2.3 0 1 1-4.6 0 2.3 2.3 0 0 1 4.6 0zM9.1 9.1l2 2', draw: 'stroke' },
  ],
  hand: [
    { d: 'M5 8V4.1M7.3 8V2.2M9.6 8V2.5M11.9 8V4.4M2.5 8.9l2.3 2.6', draw: 'stroke', width: 1.9 },
    { d: 'M4.05 7.2h8.8v2.9c0 2.9-2 4.9-4.5 4.9-2 0-3.2-.9-4.3-2.5l-1-1.6z', draw: 'fill' },
  ],
  pause: [ring, { d: 'M6.3 5.6v4.8M9.7 5.6v4.8', draw: 'stroke' }],
  dollar: [
    disc,
    {
      d: 'M10 6.1C9.7 5.3 9 4.9 8 4.9c-1.2 0-2 .6-2 1.5 0 2.2 4.1 1 4.1 3.2 0 .9-.9 1.5-2.1 1.5-1.1 0-1.8-.4-2.1-1.2M8 3.4v9.2',
      draw: 'cut',
      width: 1.3,
    },
  ],
  tick: [disc, { d: 'M4.7 8.2l2.3 2.3 4.3-4.8', draw: 'cut', width: 1.8 }],
  cross: [octagon, { d: 'M5.5 5.5l5 5M10.5 5.5l-5 5', draw: 'cut', width: 1.7 }],
  clock: [octagon, { d: 'M8 4.2v4l2.4 1.6', draw: 'cut', width: 1.7 }],
  ban: [ring, { d: 'M3.7 3.7l8.6 8.6', draw: 'stroke' }],
  skip: [
    { d: 'M3 3v10l7-5z', draw: 'fill' },
    { d: 'M12.6 3.2v9.6', draw: 'stroke', width: 1.8 },
  ],
} as const satisfies Record<string, readonly MarkPath[]>

export type AnyState = TaskState | MissionState | RunState | AgentState | SessionState | WakeupState

/** `phrase` is what follows "it is" in a sentence, where that is not the word itself. */
export const STATE_LOOKS = {
  pending: { word: 'Waiting', hue: 'wait', mark: 'brokenRing' },
  queued: { word: 'Queued', hue: 'wait', mark: 'ring' },
  awaiting_retry: { word: 'Retry', phrase: 'waiting for its retry', hue: 'wait', mark: 'retry' },
  assigned: { word: 'Assigned', hue: 'go', mark: 'dottedRing' },
  running: { word: 'Running', hue: 'go', mark: 'play' },
  continuing: { word: 'Continuing', hue: 'go', mark: 'stepForward' },
  verifying: { word: 'Verifying', phrase: 'being verified', hue: 'held', mark: 'scan' },
  awaiting_human: { word: 'Needs you', phrase: 'waiting for a person', hue: 'ask', mark: 'hand' },
  paused: { word: 'Paused', hue: 'held', mark: 'pause' },
  budget_exceeded: { word: 'Budget spent', phrase: 'out of budget', hue: 'ask', mark: 'dollar' },
  completed: { word: 'Done', hue: 'done', mark: 'tick' },
  failed: { word: 'Failed', hue: 'bad', mark: 'cross' },
  cancelled: { word: 'Cancelled', hue: 'wait', mark: 'ban' },
  skipped: { word: 'Skipped', hue: 'wait', mark: 'skip' },
  planning: { word: 'Planning', hue: 'held', mark: 'scan' },
  awaiting_approval: { word: 'Needs approval', hue: 'ask', mark: 'hand' },
  succeeded: { word: 'Succeeded', hue: 'done', mark: 'tick' },
  timed_out: { word: 'Timed out', hue: 'bad', mark: 'clock' },
  idle: { word: 'Idle', hue: 'wait', mark: 'ring' },
  offline: { word: 'Offline', hue: 'wait', mark: 'brokenRing' },
  error: { word: 'Error', hue: 'bad', mark: 'cross' },
  terminated: { word: 'Terminated', hue: 'wait', mark: 'ban' },
  active: { word: 'Active', hue: 'go', mark: 'dottedRing' },
  draining: { word: 'Draining', hue: 'held', mark: 'pause' },
  ended: { word: 'Ended', hue: 'wait', mark: 'ban' },
  lost: { word: 'Lost', hue: 'bad', mark: 'cross' },
  claimed: { word: 'Claimed', hue: 'go', mark: 'dottedRing' },
  coalesced: { word: 'Merged with another', hue: 'wait', mark: 'skip' },
} as const satisfies Record<AnyState, { word: string; phrase?: string; hue: Hue; mark: keyof typeof MARKS }>

/** The state in a sentence: "B-003 is waiting for a person". */
export function statePhrase(state: AnyState): string {
  const look: { word: string; phrase?: string } = STATE_LOOKS[state]
  return look.phrase ?? look.word.toLowerCase()
}
