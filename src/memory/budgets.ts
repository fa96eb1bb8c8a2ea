import type { BudgetChanges } from '../kernel/batch/budget-batch.ts'
import type { Changes, ReadSet } from '../kernel/batch/requests.ts'
import { budgetIdOf } from '../kernel/budget-id.ts'
import { type BudgetRecord, scopeKeysOf } from '../kinds/budget/record.ts'
import { type SeenBudgets, typicalName } from '../kinds/budget/rules/claims.ts'
import { turned } from '../kinds/budget/rules/period.ts'
import { whyBlocked } from '../kinds/budget/rules/room.ts'
import type { Counted } from '../kinds/budget/rules.ts'
import { isLive } from '../kinds/run/states.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import type { TaskPlan } from '../kinds/task/rules/plan-fields.ts'
import { type Reservation, sourceName, type UsageSource } from '../kinds/usage/record.ts'
import { hasTold, tokensOf, totalsOf } from '../kinds/usage/rules/book.ts'
import type { SeenUsage, UsageAsk, UsageChanges } from '../kinds/usage/rules/step.ts'
import type { Budget } from '../pure/budget.ts'
import { lessDollars, picosOf, sumOfDollars } from '../pure/money.ts'
import { usedForTask } from './used.ts'
import { copyOf, type Workspace } from './workspace.ts'

/** The ledger, budgets and reservations in memory. The lock of the workspace covers all of them. */

const budgetsOf = ({ plain }: Workspace) => plain.budget

export function seeUsage(workspace: Workspace, ask: UsageAsk, now: number): SeenUsage {
  const { sourceId, generation, claim, agent, session } = ask
  const isSimulated = workspace.agents.get(agent)?.adapterType === 'simulated'
  const task = claim ? workspace.tasks.get(claim.taskId) : undefined
  const to = {
    ...{ agent, session, isSimulated },
    ...{ taskId: task?.id ?? null, missionId: task?.missionId ?? null, projectId: task?.projectId ?? 0 },
    taskType: task ? workspace.details.get(task.id)!.taskType : null,
    operation: task?.purpose ?? ('work' as const),
  }
  const source = workspace.usageSources.get(sourceName(ask))
  const holder = claim ? { sourceId: claim.taskUuid, generation: claim.generation } : { sourceId, generation }
  const keys = scopeKeysOf(to).filter((key) => !isSimulated || /^(mission|task):/.test(key))
  const reservation = workspace.reservations.get(sourceName(holder))
  const isNewClaim =
    !source && generation > 0 && task !== undefined && wasClaimed(workspace, task, generation, session)
  return {
    source: source ? copyOf(source) : isNewClaim ? emptySource(ask, to, now) : null,
    to,
    budgets: [...budgetsOf(workspace).values()].filter(({ scopeKey }) => keys.includes(scopeKey)).map(copyOf),
    reservation: reservation ? copyOf(reservation) : null,
    others: usedByOthers(workspace, ask, to.taskId),
    timeZone: workspace.limits.timeZone,
  }
}

const usedByOthers = (workspace: Workspace, { sourceId, generation }: UsageAsk, taskId: number | null) =>
  usedForTask(
    workspace,
    taskId,
    (source) => !(source.sourceId === sourceId && source.generation === generation),
  )

const emptySource = (id: UsageAsk, to: SeenUsage['to'], now: number): UsageSource => ({
  ...{ sourceId: id.sourceId, generation: id.generation, ...to },
  ...{ number: 0, rows: 0, rowAt: null, booked: {}, startedAt: now, updatedAt: now, toldAt: null },
})

const wasClaimed = (workspace: Workspace, task: TaskRecord, generation: number, session: string | null) =>
  (workspace.claims.get(task.id) ?? []).some(
    (one) => one.generation === generation && one.session === session,
  )

export function writeUsage(workspace: Workspace, changes: UsageChanges): void {
  for (const source of changes.sources) workspace.usageSources.set(sourceName(source), source)
  workspace.usageRows.push(...changes.rows)
  for (const budget of changes.budgets) budgetsOf(workspace).set(budget.budgetId, budget)
  for (const reservation of changes.reservations) keep(workspace, reservation)
  settleReservations(workspace, { reserved: [], released: changes.released })
}

const keep = (workspace: Workspace, reservation: Reservation) =>
  workspace.reservations.set(
    sourceName({ sourceId: reservation.holderId, generation: reservation.generation }),
    reservation,
  )

export function settleReservations(workspace: Workspace, changes: BudgetChanges | null): void {
  if (!changes) return
  for (const id of changes.released) {
    const gone = workspace.reservations.get(sourceName(id))
    if (!gone) continue
    workspace.reservations.delete(sourceName(id))
    addReserved(workspace, gone, -1)
  }
  for (const { amount, budgetIds, by, at: reservedAt } of changes.reserved) {
    const { tokens, usd } = amount
    for (const holder of by) {
      const step = { stepTokens: tokens, stepUsd: usd }
      const reservation = { ...holder, budgetIds, tokens, usd, ...step, reservedAt }
      keep(workspace, reservation)
      addReserved(workspace, reservation, 1)
    }
  }
}

function addReserved(workspace: Workspace, { budgetIds, tokens, usd }: Reservation, sign: 1 | -1): void {
  for (const id of budgetIds) {
    const budget = budgetsOf(workspace).get(id)
    if (!budget) continue
    const reservedUsd =
      sign === 1 ? sumOfDollars(budget.reservedUsd, usd) : lessDollars(budget.reservedUsd, usd)
    budgetsOf(workspace).set(id, {
      ...budget,
      reservedTokens: Math.max(0, budget.reservedTokens + sign * tokens),
      reservedUsd: picosOf(reservedUsd) < 0n ? '0' : reservedUsd,
    })
  }
}

/** What claims and renewals see; null: the workspace has no budgets. */
export function seenBudgets(
  workspace: Workspace,
  { claimingAgents }: Pick<ReadSet, 'claimingAgents'>,
  records: ReadonlyMap<number, TaskRecord>,
): SeenBudgets | null {
  if (budgetsOf(workspace).size === 0) return null
  const slugs = new Set([...claimingAgents, ...[...records.values()].flatMap(({ agent }) => agent ?? [])])
  const tasks = new Map(
    [...records.keys()].map((id) => {
      const { taskType, plan } = workspace.details.get(id)!
      const { estimatedTokens = null, complexity = null } = plan ?? {}
      return [id, { taskType, estimatedTokens, complexity }]
    }),
  )
  return {
    budgets: [...budgetsOf(workspace).values()].map(copyOf),
    timeZone: workspace.limits.timeZone,
    tasks,
    typical: typicalIn(workspace, claimingAgents),
    agents: new Map(
      [...slugs].flatMap((slug) => {
        const agent = workspace.agents.get(slug)
        return agent ? [[slug, { model: agent.model, isSimulated: agent.adapterType === 'simulated' }]] : []
      }),
    ),
  }
}

const LAST = 20

/** The medians of the last runs of each agent at tasks of each type. */
function typicalIn(workspace: Workspace, agents: readonly string[]): SeenBudgets['typical'] {
  const groups = new Map<string, UsageSource[]>()
  for (const source of [...workspace.usageSources.values()].reverse()) {
    if (!agents.includes(source.agent) || source.taskType === null) continue
    const name = typicalName(source.agent, source.taskType)
    const group = groups.get(name) ?? []
    if (group.length < LAST) groups.set(name, [...group, source])
  }
  return new Map(
    [...groups].flatMap(([name, group]) => {
      const totals = group.filter(hasTold).map(({ booked }) => totalsOf(booked))
      if (totals.length === 0) return []
      const tokens = totals.map((one) => one.tokens).sort((a, b) => a - b)
      const usd = totals.flatMap((one) => one.costUsd ?? []).sort((a, b) => Number(picosOf(a) - picosOf(b)))
      const middle = <T>(sorted: readonly T[]) => sorted[Math.ceil(sorted.length / 2) - 1]
      return [[name, { tokens: middle(tokens) ?? 0, usd: middle(usd) ?? '0' }]]
    }),
  )
}

/** What the ledger has in the period of a budget. */
export function countedFor(workspace: Workspace, budget: BudgetRecord): Counted {
  const rows = workspace.usageRows.filter((row) => {
    const source = workspace.usageSources.get(sourceName(row))!
    const isOfWork = budget.scope === 'mission' || budget.scope === 'task'
    const isInTime = row.at >= budget.periodStart && (budget.periodEnd === null || row.at < budget.periodEnd)
    return isInTime && (isOfWork || !source.isSimulated) && scopeKeysOf(source).includes(budget.scopeKey)
  })
  const sum = (bases: readonly string[]) =>
    sumOfDollars(...rows.map(({ basis, costUsd }) => (bases.includes(basis) ? costUsd : null)))
  const reserved = [...workspace.reservations.values()].filter(({ budgetIds }) =>
    budgetIds.includes(budget.budgetId),
  )
  return {
    periodStart: budget.periodStart,
    reservedTokens: reserved.reduce((all, { tokens }) => all + tokens, 0),
    reservedUsd: sumOfDollars(...reserved.map(({ usd }) => usd)),
    tokens: rows.reduce((all, row) => all + tokensOf(row), 0),
    usd: sum(['reported', 'priced']),
    notionalUsd: sum(['notional']),
  }
}

/** The budgets of missions and tasks are what is said of them. */
export function syncBudgets(workspace: Workspace, changes: Changes, now: number): void {
  for (const { id, uuid, config } of changes.kinds.mission.written)
    sync(
      workspace,
      { scope: 'mission', scopeKey: `mission:${id}`, scopeId: uuid },
      config.budget ?? null,
      now,
    )
  for (const { record, task } of changes.created)
    if (task.details.plan?.budget) syncTask(workspace, record, task.details.plan.budget, now)
  for (const { taskId, set } of changes.details)
    if (set.plan !== undefined)
      syncTask(workspace, workspace.tasks.get(taskId)!, (set.plan as TaskPlan | null)?.budget ?? null, now)
}

const syncTask = (workspace: Workspace, { id, uuid }: TaskRecord, budget: Budget | null, now: number) =>
  sync(workspace, { scope: 'task', scopeKey: `task:${id}`, scopeId: uuid }, budget, now)

type Of = Pick<BudgetRecord, 'scope' | 'scopeKey' | 'scopeId'>

function sync(workspace: Workspace, of: Of, budget: Budget | null, now: number): void {
  const budgets = budgetsOf(workspace)
  const budgetId = budgetIdOf(of.scopeKey, 'none')
  const known = budgets.get(budgetId)
  if (!budget) {
    budgets.delete(budgetId)
    return
  }
  const { maxUsd = null, maxTokens = null } = budget
  if (known?.maxUsd === maxUsd && known.maxTokens === maxTokens) return
  // Counted again at once: people are told when it is used up.
  const after = {
    ...(known ?? newBudget(budgetId, of, now)),
    ...{ maxUsd, maxTokens, countDueAt: now, updatedAt: now },
  }
  const isBlocked = whyBlocked(after) === 'spent'
  budgets.set(budgetId, {
    ...after,
    version: after.version + (known ? 1 : 0),
    exceededAt: isBlocked ? after.exceededAt : null,
    warnedAt: isBlocked ? after.warnedAt : null,
  })
}

const newBudget = (budgetId: string, of: Of, now: number): BudgetRecord => ({
  ...{ budgetId, ...of, period: 'none', periodStart: 0, periodEnd: null, maxUsd: null, maxTokens: null },
  ...{ countNotional: false, onUnknownPrice: 'ask', allowedModels: [], unknownModel: null },
  ...{ consumedUsd: '0', consumedTokens: 0, reservedUsd: '0', reservedTokens: 0, isPaced: false },
  ...{ warnedAt: null, exceededAt: null, stoppedAt: null, stoppedBy: null, countDueAt: now },
  ...{ version: 1, createdBy: 'system', createdAt: now, updatedAt: now },
})

/** What upkeep reads, as in Postgres (kinds/budget/postgres/reads.ts). */
export const budgetsDue = (workspace: Workspace, now: number) =>
  [...budgetsOf(workspace).values()]
    .filter(
      ({ periodEnd, countDueAt }) =>
        (periodEnd !== null && periodEnd <= now) || (countDueAt !== null && countDueAt <= now),
    )
    .map(({ budgetId }) => ({ workspaceId: workspace.id, budgetId }))

export const tasksToResume = (workspace: Workspace, now: number) =>
  [...workspace.tasks.values()].flatMap(({ id, uuid, state, continuation }) => {
    const stopped = continuation?.overBudget
    if (state !== 'budget_exceeded' || !stopped) return []
    const stored = budgetsOf(workspace).get(stopped.budgetId)
    const budget = stored && turned(stored, workspace.limits.timeZone, now)
    const isWaiting =
      !stopped.hadBegun && stored && stopped.seen === `${stored.version}/${stored.periodStart}`
    return isWaiting || (budget && whyBlocked(budget)) ? [] : { workspaceId: workspace.id, id, uuid }
  })

export const orphanReservations = (workspace: Workspace, now: number) =>
  [...workspace.reservations.values()]
    .filter(({ holderId, generation, reservedAt }) => {
      if (reservedAt > now - 60_000) return false
      if (generation === 0) return !isLive(workspace.runs.get(holderId)?.status ?? 'failed')
      const task = [...workspace.tasks.values()].find(({ uuid }) => uuid === holderId)
      return task?.generation !== generation || task.claimState !== 'active'
    })
    .map(({ holderId, generation }) => ({ workspaceId: workspace.id, holderId, generation }))

export function stoppedAgents(workspace: Workspace, now: number): ReadonlySet<string> {
  const isBlocked = (scopeKey: string) =>
    [...budgetsOf(workspace).values()].some(
      (budget) =>
        budget.scopeKey === scopeKey && whyBlocked(turned(budget, workspace.limits.timeZone, now)) !== null,
    )
  if (budgetsOf(workspace).size === 0) return new Set()
  const agents = [...workspace.agents.values()].filter(({ adapterType }) => adapterType !== 'simulated')
  const all = isBlocked('workspace')
  return new Set(agents.flatMap(({ slug }) => (all || isBlocked(`agent:${slug}`) ? [slug] : [])))
}
