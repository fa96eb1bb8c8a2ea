import type { View } from '../../core/batch/requests.ts'
import type { ResultHead } from './results.ts'

/** What was read, and the version by which a later write can tell that it still holds. */
export interface Seen {
  view: View
  version: number
  seq: number
  lastId: number
  /** Nobody else can write before us. */
  hasTurn: boolean
  /** Results of the tasks that results are offered for. */
  results: Map<number, ResultHead[]>
}
