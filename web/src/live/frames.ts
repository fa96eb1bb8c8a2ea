import type { AnswerOf } from '../../../src/pure/shapes.ts'
import type { EventFrame } from '../../../src/views/events/shapes.ts'

/** The messages of the socket. */

type ServerFrame = AnswerOf<typeof EventFrame>
/** Where the log ends, the server's time, and which database it is: first, and every 15 seconds. */
export interface HeadFrame {
  head: number
  now: number
  instance?: string | undefined
}
export type Frame = ServerFrame | HeadFrame
export type OutputChunk = Extract<ServerFrame, { output: unknown }>['output']

/** Null: not a frame. An unknown message must not break the page. */
export function frameIn(data: unknown): Frame | null {
  try {
    const frame: unknown = JSON.parse(String(data))
    return typeof frame === 'object' && frame !== null ? (frame as Frame) : null
  } catch {
    return null
  }
}
