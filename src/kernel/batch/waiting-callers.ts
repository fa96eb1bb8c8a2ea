import type { EventType } from '../../kinds/events.ts'
import type { PortableKind } from '../../kinds/kind.ts'
import { type Changes, isOnTrack } from './requests.ts'

/** What opens the gate of a mission, or gives room in a budget: tasks may wait behind both. */
const OPENING: readonly EventType[] = [
  'mission_resumed',
  'mission_budget_increased',
  'mission_updated',
  'budget_changed',
  'budget_increased',
  'budget_renewed',
  'budget_released',
]

/**
 * Whether a waiting caller may proceed: a task was queued, a place on a full track became free, or a mission is open again or
 * has room.
 */
export const mayLetCallersProceed = ({ events, claims, tasks }: Changes<PortableKind>) =>
  events.some(({ type, to }) => to === 'queued' || OPENING.includes(type)) ||
  (claims.some(({ kind }) => kind === 'ended') && tasks.some(isOnTrack))
