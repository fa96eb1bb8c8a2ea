import { modelOfAgent } from '../../agent/rules/model.ts'
import type { AgentRecord, TaskDraft } from '../record.ts'
import type { Serves } from './reviews.ts'

/** Somebody took on a verification: noted with the task whose result it judges. A note changes nothing there, so it needs no lock. */
export function noteVerifier(
  { record, effects, now }: TaskDraft,
  { taskId, generation }: Serves,
  by: AgentRecord | undefined,
): void {
  const { agent, uuid, attempt, missionId } = record
  effects.events.push({
    type: 'task_verification_started',
    taskId,
    missionId: missionId ?? undefined,
    generation,
    from: null,
    to: null,
    actor: `agent:${agent}`,
    payload: { verifier: agent, ...(by && { model: modelOfAgent(by) }), verification: uuid, attempt },
    at: now,
  })
}
