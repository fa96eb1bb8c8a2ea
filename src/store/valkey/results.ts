import type { ResultWritten } from '../../core/records.ts'
import type { Changes } from '../portable.ts'
import type { StoredResult } from '../store.ts'

/** A result without its data, which may be large and is stored beside it under its position. */
export type ResultHead = Omit<StoredResult, 'data'> & { place: number }

type ResultChange = Changes['results'][number]

/** The results of a task after these changes, and which data is new, by position. */
export function afterChanges(
  before: readonly ResultHead[],
  changes: readonly ResultChange[],
): { heads: ResultHead[]; data: Map<number, string> } {
  const heads = before.map((head) => ({ ...head }))
  const data = new Map<number, string>()
  for (const change of changes) {
    if (change.kind === 'written') add(heads, data, change)
    else if (change.kind === 'judged') {
      const awaited = heads.find(({ epoch, accepted }) => epoch === change.epoch && accepted === null)
      if (awaited) Object.assign(awaited, { accepted: change.accepted, rejection: change.rejection })
    } else {
      const { epoch, generation, session, hash } = change
      const replaced = heads.find((head) => head.epoch === epoch && head.accepted !== false)
      if (replaced) Object.assign(replaced, { accepted: false, rejection: 'REPLACED' })
      Object.assign(theSame(heads, generation, session, hash)!, { epoch, accepted: true, rejection: null })
    }
  }
  return { heads, data }
}

function add(heads: ResultHead[], data: Map<number, string>, result: ResultWritten): void {
  // Parsed before anything is written: a result that is not JSON must fail the whole transaction.
  JSON.parse(result.data)
  const { kind: _kind, taskId: _taskId, data: text, at: submittedAt, ...rest } = result
  const known = theSame(heads, result.generation, result.session, result.hash)
  // Rejected before, accepted now: the same row changes its verdict. Otherwise the first one stays.
  if (known && (known.accepted !== false || result.accepted === false)) return
  const place = known?.place ?? heads.length
  const head = { ...rest, submittedAt, place }
  if (known) Object.assign(known, head)
  else heads.push(head)
  data.set(place, text)
}

const theSame = (heads: readonly ResultHead[], generation: number, session: string, hash: string) =>
  heads.find((head) => head.generation === generation && head.session === session && head.hash === hash)
