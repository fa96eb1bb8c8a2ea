import { type Refusal, refuse } from '../../pure/errors.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { HookRecord } from './record.ts'

/** What a command does to a hook. */

export type HookSettings = Pick<HookRecord, 'does' | 'events' | 'conditions' | 'perMinute' | 'isEnabled'>

export type HookCommand =
  | ({ kind: 'create' } & HookSettings & Pick<HookRecord, 'name' | 'scheme' | 'secret'>)
  | { kind: 'update'; ifVersion: number | null; patch: Partial<HookSettings> }
  /** The secret before stays valid for a while: its sender is told the new one in that time. */
  | { kind: 'rotate'; secret: string }
  | { kind: 'remove' }

interface HookContext {
  now: number
  origin: Origin
  /** Those of the workspace that are not removed. */
  standing: readonly HookRecord[]
}

export interface HookDecision {
  refusal: Refusal | null
  record: HookRecord | null
  events: EventDraft[]
}

/** Every command on a hook reads them all. */
const MOST_HOOKS = 100
const DAY_MS = 24 * 60 * 60_000
export const PREVIOUS_SECRET_MS = DAY_MS

const refused = (record: HookRecord | null, refusal: Refusal): HookDecision => ({
  ...{ refusal, record, events: [] },
})

export function decideHook(
  before: HookRecord | null,
  hookId: string,
  command: HookCommand,
  context: HookContext,
): HookDecision {
  if (command.kind === 'create') return create(hookId, command, context)
  if (!before || before.removedAt !== null)
    return refused(before, refuse('NOT_FOUND', `There is no hook ${hookId} in this workspace.`))
  const { now, origin } = context
  const changed = (
    change: Partial<HookRecord>,
    type: 'hook_updated' | 'hook_secret_rotated' | 'hook_removed',
    payload: Record<string, unknown> = {},
  ): HookDecision => ({
    refusal: null,
    record: { ...before, ...change, updatedAt: now, version: before.version + 1 },
    events: [workspaceEvent(type, { hookId, name: before.name, ...payload }, { ...origin, now })],
  })
  switch (command.kind) {
    case 'update': {
      const { ifVersion, patch } = command
      if (ifVersion !== null && ifVersion !== before.version)
        return refused(before, refuse('VERSION_MISMATCH', 'The hook was changed since it was read.'))
      const fields = changedFields(before, patch)
      if (fields.length === 0) return { refusal: null, record: before, events: [] }
      return changed(patch, 'hook_updated', { fields, enabled: patch.isEnabled ?? before.isEnabled })
    }
    case 'rotate': {
      const previousEndsAt = now + PREVIOUS_SECRET_MS
      const { secret } = command
      return changed({ secret, previousSecret: before.secret, previousEndsAt }, 'hook_secret_rotated')
    }
    case 'remove':
      return changed(
        { ...{ removedAt: now, secret: '', previousSecret: null, previousEndsAt: null } },
        'hook_removed',
      )
  }
}

function create(
  hookId: string,
  { kind: _kind, ...given }: Extract<HookCommand, { kind: 'create' }>,
  { now, origin, standing }: HookContext,
): HookDecision {
  const { name, scheme, does } = given
  if (standing.some((one) => one.name === name))
    return refused(null, refuse('ALREADY_EXISTS', `There is a hook "${name}" already.`))
  if (standing.length >= MOST_HOOKS)
    return refused(null, refuse('LIMIT_REACHED', `A workspace may have ${MOST_HOOKS} hooks.`))
  const record: HookRecord = {
    ...given,
    hookId,
    ...{ previousSecret: null, previousEndsAt: null, removedAt: null, version: 1 },
    ...{ createdBy: origin.actor, createdAt: now, updatedAt: now },
  }
  const payload = { hookId, name, scheme, does: does.kind }
  return { refusal: null, record, events: [workspaceEvent('hook_created', payload, { ...origin, now })] }
}

const SETTINGS = {
  ...{ does: 'does', events: 'events', conditions: 'conditions' },
  ...{ perMinute: 'perMinute', isEnabled: 'enabled' },
} as const satisfies Record<keyof HookSettings, string>

/** By the names that requests have for them. */
function changedFields(before: HookRecord, patch: Partial<HookSettings>): string[] {
  const all = Object.keys(SETTINGS) as (keyof HookSettings)[]
  return all
    .filter(
      (field) => patch[field] !== undefined && JSON.stringify(patch[field]) !== JSON.stringify(before[field]),
    )
    .map((field) => SETTINGS[field])
}
