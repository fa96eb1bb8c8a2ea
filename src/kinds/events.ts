import type { TaskState } from '../pure/states.ts'
import type { MissionState } from './mission/states.ts'

/** All event types, by name. The file events.ts of each kind adds its own; their values are in catalogue.ts. */
// biome-ignore lint/suspicious/noEmptyInterface: kinds extend it.
export interface Catalogue {}
export type EventType = keyof Catalogue

/** An event before it gets its sequence number (seq) in the workspace's log. */
export interface EventDraft {
  readonly type: EventType
  readonly taskId: number | null
  /** The mission it is about, or the task's. */
  readonly missionId?: number | null | undefined
  readonly generation: number | null
  /** The version of the task after this event. */
  readonly version?: number | null | undefined
  readonly from: TaskState | MissionState | null
  readonly to: TaskState | MissionState | null
  readonly actor: string
  readonly payload: Record<string, unknown>
  readonly at: number
}

/** Who caused an event; for a request also the key that was presented and the address it came from. */
export interface Origin {
  readonly actor: string
  readonly keyId?: string | null | undefined
  readonly address?: string | null | undefined
}

export const originOf = ({ actor, keyId, address }: Origin): Origin => ({ actor, keyId, address })

/** An event of a change that one caller made. Events of a batch of tasks carry only their actor: a batch has many callers. */
export type EventWithOrigin = EventDraft & Omit<Origin, 'actor'>

/** An event that belongs to no task. */
export const workspaceEvent = (
  type: EventType,
  payload: Record<string, unknown>,
  { now, actor, keyId, address }: Origin & { now: number },
): EventWithOrigin => ({
  ...{ type, taskId: null, generation: null, from: null, to: null, actor, payload, at: now },
  // A log in memory shows fields that have no value, so only events of requests get these.
  ...(keyId && { keyId }),
  ...(address && { address }),
})

/** An event of a mission. Its states are those of missions. */
export const missionEvent = (
  type: EventType,
  { id, uuid }: { id: number; uuid: string },
  payload: Record<string, unknown>,
  { actor, now }: { actor: string; now: number },
  from: MissionState | null = null,
  to: MissionState | null = null,
): EventDraft => ({
  ...{ type, taskId: null, missionId: id, generation: null, from, to, actor, at: now },
  payload: { missionId: uuid, ...payload },
})

export interface StoredEvent extends EventDraft {
  readonly seq: number
}
