import { type Refusal, refuse } from '../../pure/errors.ts'
import type { AlertCause } from '../alert/causes.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { ThresholdRecord } from './record.ts'

/** What a command does to the threshold that a workspace has of a cause. */

export type ThresholdCommand = { kind: 'set'; value: number; isOn: boolean } | { kind: 'remove' }

interface ThresholdDecision {
  refusal: Refusal | null
  /** Null: there is none of its own. */
  record: ThresholdRecord | null
  events: EventDraft[]
}

export function decideThreshold(
  before: ThresholdRecord | null,
  cause: AlertCause,
  command: ThresholdCommand,
  { now, origin }: { now: number; origin: Origin },
): ThresholdDecision {
  const by = { ...origin, now }
  if (command.kind === 'remove') {
    if (before)
      return { refusal: null, record: null, events: [workspaceEvent('threshold_removed', { cause }, by)] }
    const detail = `This workspace has set no threshold of "${cause}".`
    return { refusal: refuse('NOT_FOUND', detail), record: before, events: [] }
  }
  const { value, isOn } = command
  if (before?.value === value && before.isOn === isOn) return { refusal: null, record: before, events: [] }
  const events = [workspaceEvent('threshold_changed', { cause, value, isOn }, by)]
  return { refusal: null, record: { cause, value, isOn, changedAt: now }, events }
}
