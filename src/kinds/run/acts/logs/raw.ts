import { Refused } from '../../../../pure/errors.ts'
import { endOf, type RunLog } from './run-log.ts'

/** The bytes of a log as they are. */

/** The first and the last byte, both included. */
export interface ByteRange {
  first: number
  last: number
}

export const sizeOf = async (log: RunLog): Promise<number> => (await log.pageAt(0, 1)).bytes

/** Null: there is no range, or one of a form that servers may ignore (several ranges, other units). */
export function rangeIn(header: string | undefined, bytes: number): ByteRange | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? []
  if (from === '' && to === '') return null
  const range =
    from === ''
      ? { first: Math.max(0, bytes - Number(to)), last: bytes - 1 }
      : { first: Number(from), last: to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1) }
  if (from !== '' && to !== '' && Number(to) < Number(from)) return null
  if (range.first > range.last)
    throw new Refused('RANGE_NOT_SATISFIABLE', `The log has ${bytes} bytes now.`, { bytes })
  return range
}

/** The most bytes of a character before its last. */
const MORE_BYTES = 3

/** Pages begin and end with whole characters; a range may begin and end anywhere. */
export async function* bytesOf(log: RunLog, { first, last }: ByteRange): AsyncGenerator<Buffer> {
  for (let at = first; at <= last; ) {
    const page = await log.pageAt(Math.max(0, at - MORE_BYTES))
    const text = Buffer.from(page.content).subarray(at - page.offset, last + 1 - page.offset)
    if (text.length === 0) return
    yield text
    at = Math.min(endOf(page), last + 1)
  }
}
