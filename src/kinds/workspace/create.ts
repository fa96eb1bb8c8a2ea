import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { KeyRecord } from '../key/record.ts'
import { decideKey, type KeyCommand } from '../key/rules.ts'
import { DEFAULT_LIMITS, type Limits, LimitsSchema } from './limits.ts'

export interface WorkspaceWanted {
  name: string
  limits?: Partial<Limits> | undefined
  /** Its first key. */
  owner?: { keyId: string; command: KeyCommand } | undefined
}

/** What a new workspace begins with. */
export function newWorkspace(
  { name, limits, owner }: WorkspaceWanted,
  { now, origin }: { now: number; origin: Origin },
): { limits: Limits; owner: KeyRecord | null; events: EventDraft[] } {
  const created = workspaceEvent('workspace_created', { name }, { ...origin, now })
  const first = owner && decideKey(null, owner.keyId, owner.command, { now, origin, standing: [] })
  return {
    limits: LimitsSchema.parse({ ...DEFAULT_LIMITS, ...limits }),
    owner: first?.record ?? null,
    events: [created, ...(first?.events ?? [])],
  }
}
