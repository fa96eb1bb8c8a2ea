import type { Execution } from '../../../door/execution.ts'
import { requireAgent } from '../../../door/named-agents.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { type StoredTask, StoreUnavailable } from '../../../kernel/store/store.ts'
import { showAgent } from '../../../kinds/agent/acts/agents.ts'
import { settleMarksOf } from '../../../kinds/alert/acts/untaken.ts'
import { showAlert } from '../../../kinds/alert/acts.ts'
import { budgetView, requireBudget } from '../../../kinds/budget/acts/operate.ts'
import { budgetState } from '../../../kinds/budget/rules/room.ts'
import { requireMission } from '../../../kinds/mission/acts/missions.ts'
import { missionView, planVersionView } from '../../../kinds/mission/acts/views.ts'
import { simulatedMissions } from '../../../kinds/mission/postgres/reads.ts'
import { knownCost } from '../../../kinds/mission/rules/spending.ts'
import { stateOf } from '../../../kinds/mission/states.ts'
import { tokensIn } from '../../../kinds/run/rules/budget.ts'
import { standingResult } from '../../../kinds/task/acts/standing-results.ts'
import { readTask, requireRecord } from '../../../kinds/task/acts/tasks.ts'
import { listedResultView, taskView } from '../../../kinds/task/acts/views.ts'
import { isSimulated } from '../../../kinds/task/postgres/of-others.ts'
import { resultHeads } from '../../../kinds/task/postgres/result-pages.ts'
import { resultDigestOf } from '../../../kinds/task/rules/standing-result.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { type InboxFilter, type InboxPlace, type InboxRow, readInbox, readInboxItem } from '../postgres.ts'
import type { InboxDetail, InboxList } from '../shapes.ts'
import { idOf, isOfMission, itemView, type NamedItem, namedIn, noItem, placeOf } from './items.ts'

/** Reading the inbox. */

export async function inboxPage(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  filter: InboxFilter,
  limit: number,
): Promise<{ list: Omit<AnswerOf<typeof InboxList>, 'nextCursor'>; last: InboxPlace | null }> {
  await settleBeforeReading(kernel, workspaceId)
  const { items, counts, seq } = await readInbox(kernel.store.readers, workspaceId, filter, limit + 1)
  const shown = items.slice(0, limit)
  return {
    list: { items: shown.map(itemView), counts, seq },
    last: items.length > limit ? shown.at(-1)! : null,
  }
}

/**
 * Alerts are raised and cleared before they are read: whoever looks need not wait for upkeep, and sees what events say. Where nothing
 * can be written, as on a full disk, the inbox is read as it is.
 */
export async function settleBeforeReading(kernel: ServerKernel, workspaceId: number): Promise<void> {
  try {
    await settleMarksOf(kernel, workspaceId)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
  }
}

type Detail = AnswerOf<typeof InboxDetail>
const NOTHING: Omit<Detail, keyof ReturnType<typeof itemView>> = {
  task: null,
  summary: null,
  workProductRef: null,
  results: [],
  mission: null,
  plan: null,
  budget: null,
  spent: null,
  limit: null,
  agent: null,
  needs: null,
}

/** An item with everything that is needed to decide. */
export async function showInboxItem(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  id: string,
): Promise<Detail> {
  const named = namedIn(id)
  if (named.about === 'alert') await settleBeforeReading(kernel, caller.workspaceId)
  const row = await readInboxItem(kernel.store.readers, caller.workspaceId, placeOf(named))
  if (!row || idOf(row) !== id) throw noItem(id)
  const item = { ...NOTHING, ...itemView(row) }
  if (row.kind === 'agent') return { ...item, agent: await showAgent(kernel, execution, caller, row.ref) }
  if (row.alert) return item
  if (row.budget) return { ...item, ...(await ofBudget(kernel, caller, row.budget.budgetId)) }
  return {
    ...item,
    ...(row.ref === 'mission' ? await ofMission(kernel, caller, row) : await ofTask(kernel, caller, row)),
  }
}

async function ofBudget(kernel: ServerKernel, caller: Caller, id: string): Promise<Partial<Detail>> {
  const record = await requireBudget(kernel, caller, id)
  const { maxUsd, maxTokens, consumedUsd, consumedTokens } = record
  return {
    limit: budgetView(record),
    budget: { ...(maxUsd !== null && { maxUsd }), ...(maxTokens !== null && { maxTokens }) },
    spent: { costUsd: consumedUsd, tokensUsed: consumedTokens, isSimulated: record.isSimulated },
  }
}

async function ofTask(kernel: ServerKernel, caller: Caller, row: InboxRow): Promise<Partial<Detail>> {
  const task = await readTask(kernel, caller, row.taskId!)
  const [result, heads, budgeted] = await Promise.all([
    standingResult(kernel, caller, task.record),
    resultHeads(kernel.store.readers, caller.workspaceId, task.record.id),
    row.kind === 'budget' ? budgetOf(kernel, caller, task) : {},
  ])
  const needs = row.kind === 'alert' ? { agent: row.onlyAgent, capabilities: row.capabilities ?? [] } : null
  return { task: taskView(task), ...result, results: heads.map(listedResultView), needs, ...budgeted }
}

/** What the runs of a task may cost, and what they have. */
async function budgetOf(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  { record, details }: StoredTask,
): Promise<Pick<Detail, 'budget' | 'spent'>> {
  const [spent, simulated] = await Promise.all([
    kernel.store.runs.usageOfTask(workspaceId, record.id),
    isSimulated(kernel.store.readers, workspaceId, record.id),
  ])
  return {
    budget: details.plan?.budget ?? null,
    spent: {
      costUsd: spent.costUsd ?? (tokensIn(spent) === 0 ? '0' : null),
      tokensUsed: tokensIn(spent),
      isSimulated: simulated,
    },
  }
}

async function ofMission(
  kernel: ServerKernel,
  caller: Caller,
  { missionId }: InboxRow,
): Promise<Partial<Detail>> {
  const mission = await requireMission(kernel, caller, missionId!)
  const { plan, config, counts } = mission
  const simulated = await simulatedMissions(kernel.store.readers, caller.workspaceId, [mission.id])
  const isMissions = simulated.has(mission.id)
  return {
    mission: missionView(mission, isMissions),
    plan: plan && planVersionView({ ...plan, body: null }, mission),
    budget: config.budget ?? null,
    spent: { costUsd: knownCost(counts), tokensUsed: counts.tokens, isSimulated: isMissions },
  }
}

/** Why an item can no longer be answered, with its present state. Throws NOT_FOUND for an item that never existed. */
export async function changedSince(
  kernel: ServerKernel,
  caller: Caller,
  named: NamedItem,
  row: InboxRow | null,
): Promise<Refused> {
  const now = row ?? (await readInboxItem(kernel.store.readers, caller.workspaceId, placeOf(named)))
  const state = await stateNow(kernel, caller, named)
  return new Refused('CHANGED_SINCE', `${named.id} has changed since; it is ${state.state} now.`, {
    ...state,
    item: now && itemView(now),
  })
}

async function stateNow(kernel: ServerKernel, caller: Caller, { about, name }: NamedItem) {
  if (about === 'raised')
    return { state: (await showAlert(kernel, caller, name)).state, generation: null, digest: null }
  if (about === 'agent') {
    const { state, version } = (await requireAgent(kernel, caller, name)).record
    return { state, generation: version, digest: null }
  }
  if (about === 'spending') {
    const budget = await requireBudget(kernel, caller, name)
    return { state: budgetState(budget), generation: budget.version, digest: null }
  }
  if (isOfMission(about)) {
    const mission = await requireMission(kernel, caller, name)
    const generation = about === 'plan' ? (mission.plan?.version ?? null) : mission.version
    return { state: stateOf(mission), generation, digest: mission.plan?.digest ?? null }
  }
  const record = await requireRecord(kernel, caller, name)
  const { state, generation } = record
  return { state, generation, digest: resultDigestOf(record) }
}
