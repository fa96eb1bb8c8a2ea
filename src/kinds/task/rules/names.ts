import { LARGEST_ID } from '../../../pure/ids.ts'
import { parseTaskKey } from './task-keys.ts'

/** How people name a task beside its id: by its key or the beginning of it, or by the number that its id carries. */
type TaskName =
  | { kind: 'number'; number: number }
  /** All keys from the first to the last, in the order of bytes. */
  | { kind: 'key'; first: string; last: string }

const NUMBER = /^#?(\d{1,16})$/
const TRACK_AND_SEQUENCE = /^[A-Z]{1,8}-[0-9]{3}$/

/** `#1042`, `1042`, `B-003-dashboard` or `B-003`, which is whatever task of the track has this sequence number. */
export function parseTaskName(text: string): TaskName | null {
  const number = Number(NUMBER.exec(text)?.[1] ?? Number.NaN)
  if (number >= 0) return { kind: 'number', number: Math.min(number, LARGEST_ID) }
  if (parseTaskKey(text) !== null) return { kind: 'key', first: text, last: text }
  // Descriptions have only letters, digits, - and _, all of which come before ~.
  return TRACK_AND_SEQUENCE.test(text) ? { kind: 'key', first: `${text}-`, last: `${text}-~` } : null
}
