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
export type SegmentKind = (typeof SEGMENT_KINDS)[number]

/** A task got a new state. */
export interface StateChange {
  task: number
  generation: number
  state: TaskState
  at: number
}

/** A stretch of time in which one task did one thing. */
export interface Stretch {
  /** The generation of the claim that it belongs to, or follows; 0: before the first one. */
  readonly attempt: number
  readonly kind: SegmentKind
  readonly from: number
  /** Null: it lasts. */
  readonly to: number | null
  /** When the holder began; null: it has not yet, or this is no work. */
  readonly startedAt: number | null
}

export interface Segment extends Stretch {
  readonly task: number
}

/** The segments of tasks, whose changes are given task by task in the order of time. */
export function segmentsOf(changes: readonly StateChange[]): Segment[] {
  const segments: Segment[] = []
  for (let first = 0; first < changes.length; ) {
    const { task } = changes[first]!
    const stretches: Stretch[] = []
    for (; changes[first]?.task === task; first++) addChange(stretches, changes[first]!)
    for (const stretch of stretches) segments.push({ task, ...stretch })
  }
  return segments
}

/** The stretches of one task after its next change, in the same list. What is no change continues the last one. */
export function addChange(stretches: Stretch[], { generation, state, at }: Omit<StateChange, 'task'>): void {
  const kind = KIND_OF[state]
  const last = stretches.at(-1)
  const open = last?.to === null ? last : undefined
  const startedAt = state === 'running' ? at : null
  if (open?.kind === kind && open?.attempt === generation) {
    if (open.startedAt === null && startedAt !== null)
      stretches[stretches.length - 1] = { ...open, startedAt }
    return
  }
  if (open) stretches[stretches.length - 1] = { ...open, to: at }
  if (kind) stretches.push({ attempt: generation, kind, from: at, to: null, startedAt })
}
