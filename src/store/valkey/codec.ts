import type { StoredEvent } from '../../core/events.ts'
import type { ClaimEnded, ClaimOpened, TaskRecord } from '../../core/records.ts'
import type { TriggerRule } from '../../core/states.ts'
import { TASK_FIELDS } from '../record-fields.ts'
import type { StoredClaim } from '../store.ts'

/**
 * The stored format: JSON is written and parsed only here. No script parses a record or a number in one, since numbers that
 * pass through Lua come back as 1e+15.
 */

/** Stored without their names, which would be most of the text. */
const FIELDS = TASK_FIELDS.map(({ field }) => field)

export function writeTask(record: TaskRecord): string {
  return JSON.stringify(FIELDS.map((field) => record[field]))
}

export function readTask(text: string): TaskRecord {
  const values = JSON.parse(text) as unknown[]
  const record: Record<string, unknown> = {}
  for (let i = 0; i < FIELDS.length; i++) record[FIELDS[i]!] = values[i]
  return record as unknown as TaskRecord
}

/** Its seq is its position in the log. */
export const writeEvent = ({
  type,
  taskId,
  generation,
  from,
  to,
  actor,
  payload,
  at,
}: Omit<StoredEvent, 'seq'>) => JSON.stringify([type, taskId, generation, from, to, actor, payload, at])

export function readEvent(text: string, seq: number): StoredEvent {
  const [type, taskId, generation, from, to, actor, payload, at] = JSON.parse(text)
  return { seq, type, taskId, generation, from, to, actor, payload, at }
}

export const writeClaim = (claim: ClaimOpened | ClaimEnded) =>
  JSON.stringify(
    claim.kind === 'opened'
      ? [claim.generation, claim.session, claim.agent, claim.at]
      : [claim.generation, claim.state, claim.at, claim.reason, 'ended'],
  )

export function readClaims(texts: readonly string[]): StoredClaim[] {
  const claims = new Map<number, StoredClaim>()
  for (const text of texts) {
    const [generation, ...rest] = JSON.parse(text)
    if (rest.length === 3) {
      const [session, agent, acquiredAt] = rest
      claims.set(generation, {
        generation,
        session,
        agent,
        state: 'active',
        acquiredAt,
        endedAt: null,
        endReason: null,
      })
    } else {
      const [state, endedAt, endReason] = rest
      Object.assign(claims.get(generation) ?? {}, { state, endedAt, endReason })
    }
  }
  return [...claims.values()]
}

/** A number for a score. An invalid one would fail halfway through a script, which cannot be rolled back. */
export function score(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a valid time or rank.`)
  return String(value)
}

export const needsIn = (list: readonly string[]) =>
  list.map((text) => JSON.parse(text) as [id: number, uuid: string, rule: TriggerRule])
