import type { ServerKernel } from '../../../door/server-kernel.ts'
import { firstAnswer as firstReply } from '../../../kernel/batch/first-answer.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { shownState } from '../../../kinds/agent/rules/decide.ts'
import { showAlert } from '../../../kinds/alert/acts.ts'
import type { MissionRecord } from '../../../kinds/mission/record.ts'
import { stateOf } from '../../../kinds/mission/states.ts'
import type { AgentGranted, AnyGranted } from '../../../kinds/replies.ts'
import { listRuns } from '../../../kinds/run/postgres/run-reads.ts'
import type { TaskRecord } from '../../../kinds/task/record.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { storedReplyUnder } from '../postgres.ts'
import type { Decision, InboxOutcome } from '../shapes.ts'
import { isOfMission, type NamedItem } from './items.ts'

/** What is answered to a request that was answered before, under its idempotency key. */

type Outcome = AnswerOf<typeof InboxOutcome>
const NOTHING: Outcome['about'] = { taskId: null, missionId: null, runId: null, agent: null, budgetId: null }

/** The first answer; null: there was none. That answer has removed the item by then. */
export async function firstAnswer(
  kernel: ServerKernel,
  caller: Caller,
  named: NamedItem,
  decision: Decision,
): Promise<Outcome | null> {
  if (!caller.idempotency) return null
  const stored = await storedReplyUnder(kernel.store.readers, caller.workspaceId, caller.idempotency.key)
  const reply = firstReply(caller.idempotency, stored, Date.now())
  if (!reply) return null
  const first: AnyGranted = granted(reply)
  if ('answer' in first) return first.answer as Outcome
  if (!('record' in first)) return null
  return { id: named.id, decision, ...(await outcomeOf(kernel, caller, named, first)) }
}

/** By what the item is about, the record is that of an agent, an alert, a mission or a task. */
function outcomeOf(
  kernel: ServerKernel,
  caller: Caller,
  { about, name }: NamedItem,
  first: AnyGranted & { record: unknown },
): Pick<Outcome, 'about' | 'state'> | Promise<Pick<Outcome, 'about' | 'state'>> {
  if (about === 'raised') return ofAlert(kernel, caller, name)
  if (about === 'agent') return ofAgent(first as AgentGranted)
  if (isOfMission(about))
    return { about: { ...NOTHING, missionId: name }, state: stateOf(first.record as MissionRecord) }
  return ofTask(kernel, caller, first.record as TaskRecord)
}

const ofAlert = async (kernel: ServerKernel, caller: Caller, id: string) => {
  const { about, state } = await showAlert(kernel, caller, id)
  return { about: { ...NOTHING, taskId: about.taskId, missionId: about.missionId }, state }
}

const ofAgent = ({ record, holding }: AgentGranted) => ({
  about: { ...NOTHING, agent: record.slug },
  state: shownState(record, holding.length),
})

async function ofTask(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  { id, uuid, state, agent, generation }: TaskRecord,
): Promise<Pick<Outcome, 'about' | 'state'>> {
  const [task, runs] = await Promise.all([
    kernel.store.task(workspaceId, id),
    listRuns(kernel.store.readers, workspaceId, { task: id }, { limit: 100, withResult: false }),
  ])
  // The last one that there was then.
  const run = runs.rows.find((one) => (one.generation ?? 0) <= generation)
  const missionId = task?.details.mission ?? null
  return { about: { ...NOTHING, taskId: uuid, missionId, runId: run?.id ?? null, agent }, state }
}
