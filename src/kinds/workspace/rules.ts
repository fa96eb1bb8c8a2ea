import { type Refusal, refuse, refuseField } from '../../pure/errors.ts'
import { type EventDraft, type EventType, type Origin, workspaceEvent } from '../events.ts'
import { type Limits, widenedLimits } from './limits.ts'
import type { LimitUse, WorkspaceRecord } from './record.ts'

/** What a command does to a workspace. */

export type WorkspaceCommand =
  | {
      kind: 'changeLimits'
      changed: Partial<Limits>
      /** Only whoever runs the server may widen limits. */
      mayWiden: boolean
      /** Whether the limits are still those that the caller has read; absent: it does not say. */
      areAsRead?: ((present: Limits) => boolean) | undefined
    }
  /** Something happened that changed no record. */
  | { kind: 'note'; type: EventType; payload: Record<string, unknown> }

interface WorkspaceContext {
  now: number
  origin: Origin
  used: LimitUse
}

interface WorkspaceDecision {
  refusal: Refusal | null
  record: WorkspaceRecord
  events: EventDraft[]
}

export function decideWorkspace(
  before: WorkspaceRecord,
  command: WorkspaceCommand,
  { now, origin, used }: WorkspaceContext,
): WorkspaceDecision {
  if (command.kind === 'note') {
    const events = [workspaceEvent(command.type, command.payload, { ...origin, now })]
    return { refusal: null, record: before, events }
  }
  const changed = Object.fromEntries(
    Object.entries(command.changed).filter(([, value]) => value !== undefined),
  ) as Partial<Limits>
  const limits = { ...before.limits, ...changed }
  const refusal = whyNotChanged(before.limits, limits, command, used)
  if (refusal || Object.keys(changed).length === 0) return { refusal, record: before, events: [] }
  const events = [workspaceEvent('limits_changed', { changed }, { ...origin, now })]
  return { refusal: null, record: { limits }, events }
}

function whyNotChanged(
  before: Limits,
  after: Limits,
  { changed, mayWiden, areAsRead }: Extract<WorkspaceCommand, { kind: 'changeLimits' }>,
  used: LimitUse,
): Refusal | null {
  if (areAsRead && !areAsRead(before))
    return refuse('VERSION_MISMATCH', 'The limits were changed since they were read.')
  const widened = mayWiden ? [] : widenedLimits(before, changed)
  if (widened.length > 0)
    return refuse(
      'FORBIDDEN',
      `Widening ${widened.join(', ')} needs the right "instance", which whoever runs this server has.`,
    )
  const below = belowUse(changed, used)
  if (below) return below
  if (after.minLeaseSeconds <= after.maxLeaseSeconds) return null
  const field = 'minLeaseSeconds' in changed ? 'minLeaseSeconds' : 'maxLeaseSeconds'
  return refuseField('VALIDATION_FAILED', field, 'would put minLeaseSeconds above maxLeaseSeconds')
}

/** A limit below current use would be exceeded as soon as it is set. Every such limit is named. */
function belowUse(changed: Partial<Limits>, used: LimitUse): Refusal | null {
  const errors = (Object.keys(used) as (keyof LimitUse)[]).flatMap((field) => {
    const wanted = changed[field]
    const isBelow = wanted !== undefined && used[field] > wanted
    return isBelow ? [{ field, message: `would be ${wanted}, and ${used[field]} are in use` }] : []
  })
  if (errors.length === 0) return null
  const detail = errors.map(({ field, message }) => `${field} ${message}.`).join(' ')
  return refuse('LIMIT_BELOW_USE', detail, { errors })
}
