import type { View } from '../portable.ts'
import type { ResultHead } from './results.ts'

/** What was read, and the version by which a later write checks that it is still valid. */
export interface Seen {
  view: View
  version: number
  seq: number
  lastId: number
  /** This process has the writer lock: no other process can write before us. */
  hasWriterLock: boolean
  /** Results of the tasks that results are submitted for. */
  results: Map<number, ResultHead[]>
}
