import type { Granted } from '../kinds/replies.ts'
import { type Refusal, Refused } from '../pure/errors.ts'
import type { Caller } from './kernel.ts'

/** Baton itself as the caller; for the coordinator, with its term. It waits for what follows: nobody waits for its answer. */
export const systemCaller = (workspaceId: number, term?: number): Caller => ({
  workspaceId,
  actor: 'system',
  rights: new Set(),
  term,
  waits: true,
})

/** A coordinator that lost its leadership stops at once. */
export function throwIfNotLeader<G extends Granted>(reply: G | Refusal): G | Refusal {
  if (!reply.ok && reply.code === 'NOT_LEADER') throw Refused.because(reply)
  return reply
}

/** Why an act of Baton's own was refused; null when it was done. */
export async function refusalOf(act: () => Promise<{ ok: true } | Refusal>): Promise<Refusal | null> {
  try {
    const reply = await act()
    return reply.ok ? null : reply
  } catch (error) {
    if (error instanceof Refused && error.code !== 'NOT_LEADER') return error.refusal
    throw error
  }
}
