import { Refused } from '../../pure/errors.ts'
import { secretWasGiven } from '../../pure/repeated.ts'
import { type EventWithOrigin, type Origin, originOf, workspaceEvent } from '../events.ts'
import type { KeyRecord } from '../key/record.ts'
import { decideKey, type KeyCommand } from '../key/rules.ts'
import type { Reply } from '../replies.ts'
import { DEFAULT_LIMITS, type Limits, LimitsSchema } from './limits.ts'

export interface WorkspaceWanted {
  name: string
  limits?: Partial<Limits> | undefined
  /** Its first key. */
  owner?: { keyId: string; command: KeyCommand } | undefined
}

/** A request of another workspace for a new one, under an idempotency key of that workspace. */
export interface AskedFrom {
  workspaceId: number
  idempotency?: { key: string; bodyHash: string } | undefined
}

export interface NewWorkspaceView {
  now: number
  /** The workspace exists already. */
  isThere: boolean
  /** What was answered under the idempotency key; null: it is new, or there is none. */
  firstAnswer: Reply | null
}

export interface NewWorkspaceChanges {
  /** Null: nothing is made. */
  made: { uuid: string; name: string; limits: Limits; owner: KeyRecord | null } | null
  /** For a repeat of the request. */
  reply: { workspaceId: number; key: string; bodyHash: string; reply: Reply } | null
  events: readonly EventWithOrigin[]
}

/** A workspace is made by a step of its own, not in a batch: there is nothing yet that a batch could lock. */
export interface NewWorkspaceStep<T = boolean> {
  on: 'newWorkspace'
  reads: AskedFrom | null
  decide: (view: NewWorkspaceView) => { answer: T; changes: NewWorkspaceChanges }
}

/** The answer: whether it was made. */
export function newWorkspace(
  uuid: string,
  wanted: WorkspaceWanted,
  origin: Origin,
  from: AskedFrom | null = null,
): NewWorkspaceStep {
  return {
    on: 'newWorkspace',
    reads: from,
    decide({ now, isThere, firstAnswer }) {
      if (firstAnswer && !firstAnswer.ok) throw Refused.because(firstAnswer)
      if (isThere) return { answer: false, changes: { made: null, reply: null, events: [] } }
      const { name, limits, owner } = wanted
      const created = workspaceEvent('workspace_created', { name }, { ...origin, now })
      const first = owner && decideKey(null, owner.keyId, owner.command, { now, origin, standing: [] })
      const made = {
        ...{ uuid, name, owner: first?.record ?? null },
        limits: LimitsSchema.parse({ ...DEFAULT_LIMITS, ...limits }),
      }
      const again = secretWasGiven(`workspace ${uuid}`)
      const idempotency = from?.idempotency
      const reply = idempotency ? { workspaceId: from.workspaceId, ...idempotency, reply: again } : null
      const { keyId, address } = originOf(origin)
      const events = [created, ...(first?.events ?? [])].map((event) => ({ ...event, keyId, address }))
      return { answer: true, changes: { made, reply, events } }
    },
  }
}
