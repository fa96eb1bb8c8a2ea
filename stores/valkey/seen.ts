import type { View } from '../../src/kernel/store/portable.ts'
import type { TaskMarks } from './codec.ts'
import type { ReadQueues } from './known-queues.ts'

/** What was read, and by what a later write checks that it is still valid. */
export interface Seen {
  view: View
  /** The last write before the read. */
  head: string
  version: number
  seq: number
  lastId: number
  /** This process has the writer lock: no other process can write before us. */
  hasWriterLock: boolean
  /** Of all tasks in the view. */
  marks: Map<number, TaskMarks>
}

/** A read, with what it says beyond the batch it was made for. */
export interface Read {
  seen: Seen
  queues: ReadQueues
  /** No task is reserved for an agent and no track is declared, as in most workspaces. */
  isPlain: boolean
  hasWorkers: boolean
}
