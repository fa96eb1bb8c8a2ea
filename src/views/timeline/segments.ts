import type { TaskState } from '../../pure/states.ts'

/** What a task did when: its states as segments of time. */

/** What a task does while it is in a state; null: it has ended. */
const KIND_OF = {
  pending: 'waiting',
  queued: 'queued',
  awaiting_retry: 'retry',
  assigned: 'work',
  running: 'work',
  continuing: 'work',
  verifying: 'verification',
  awaiting_human: 'person',
  paused: 'paused',
  budget_exceeded: 'budget',
  completed: null,
  failed: null,
  cancelled: null,
  skipped: null,
} as const satisfies Record<TaskState, string | null>

export const SEGMENT_KINDS = [
  'waiting',
  'queued',
  'work',
  'verification',
  'person',
  'retry',
  'paused',
  'budget',
] as const
type SegmentKind = (typeof SEGMENT_KINDS)[number]

/** A task got a new state. */
export interface StateChange {
  task: number
  generation: number
  state: TaskState
  at: number
}

export interface Segment {
  task: number
  /** The generation of the claim that it belongs to, or follows; 0: before the first one. */
  attempt: number
  kind: SegmentKind
  from: number
  /** Null: it lasts. */
  to: number | null
}

/** The segments of tasks, whose changes are given task by task in the order of time. What is no change continues a segment. */
export function segmentsOf(changes: readonly StateChange[]): Segment[] {
  const segments: Segment[] = []
  const open = () => {
    const last = segments.at(-1)
    return last?.to === null ? last : undefined
  }
  let current: number | null = null
  for (const { task, generation, state, at } of changes) {
    const before = current === task ? open() : undefined
    current = task
    const kind = KIND_OF[state]
    if (before?.kind === kind && before?.attempt === generation) continue
    if (before) before.to = at
    if (kind) segments.push({ task, attempt: generation, kind, from: at, to: null })
  }
  return segments
}
