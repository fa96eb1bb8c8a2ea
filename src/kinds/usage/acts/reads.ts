import type { z } from 'zod'
import { periodIn } from '../../../door/asked.ts'
import { actsOf, type Call } from '../../../door/door.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { instant } from '../../../pure/instant.ts'
import { sumOfDollars } from '../../../pure/money.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { listBudgets, type NamedBudget } from '../../budget/postgres/reads.ts'
import type { BudgetRecord } from '../../budget/record.ts'
import { turned } from '../../budget/rules/period.ts'
import { requireMission } from '../../mission/acts/missions.ts'
import { requireProject } from '../../project/acts.ts'
import { requireRecord } from '../../task/acts/tasks.ts'
import * as api from '../api/reads.ts'
import type { UsageOf } from '../postgres/asked.ts'
import { clockOf, type RowPlace, type RowRead, rowsOf } from '../postgres/reads.ts'
import { type GroupRead, MOST_GROUPS, type SumsRead, sumsOf } from '../postgres/sums.ts'
import { csvOf } from '../rules/csv.ts'
import { dayName, daysIn } from '../rules/days.ts'
import { type Burn, type Projected, projected } from '../rules/projection.ts'
import { savings } from '../rules/saved.ts'
import type {
  Projection,
  UsageGroup,
  UsageQuery,
  UsageRowsQuery,
  UsageRowView,
  UsageSums,
} from '../shapes.ts'

/** What was used, as people read it. */

const DAY_MS = 86_400_000
const USUAL_MS = 30 * DAY_MS
/** Three years of days. */
const MOST_DAYS_MS = 1_100 * DAY_MS

type Asked = Omit<z.output<typeof UsageRowsQuery>, 'cursor' | 'limit' | 'format'>

/** What a request asks of the ledger, with inner ids. */
async function usageAsked(
  kernel: ServerKernel,
  caller: Caller,
  { task, mission, project, agent, model, operation, from, to }: Asked,
  now: number,
): Promise<UsageOf> {
  const period = periodIn({ from, to })
  const ended = period.to ?? Math.max(now, period.from ?? now)
  const began = period.from ?? ended - USUAL_MS
  if (project !== undefined) await requireProject(kernel, caller, project)
  return {
    ...{ from: began, to: ended, project, agent, model, operation },
    task: task === undefined ? undefined : (await requireRecord(kernel, caller, task)).id,
    mission: mission === undefined ? undefined : (await requireMission(kernel, caller, mission)).id,
  }
}

type Tokens = Pick<SumsRead, 'inputTokens' | 'cachedInputTokens' | 'outputTokens'>

const tokensIn = (
  { inputTokens, cachedInputTokens, outputTokens }: Tokens,
  cacheWrite: number | null = null,
) => ({
  tokens: { input: inputTokens, cachedInput: cachedInputTokens, cacheWrite, output: outputTokens },
  tokensUsed: inputTokens + cachedInputTokens + outputTokens,
})

/** Columns of a file have one name each. */
const flat = <T extends Pick<RowView, 'tokens'>>(view: T) => ({
  ...view,
  ...{
    inputTokens: view.tokens.input,
    cachedInputTokens: view.tokens.cachedInput ?? 0,
    outputTokens: view.tokens.output,
  },
})

const sumsView = (read: SumsRead) => ({
  ...tokensIn(read),
  seconds: read.workMs / 1000,
  ...{ costUsd: read.costUsd, notionalUsd: read.notionalUsd },
  ...{ runs: read.runs, runsOfUnknownCost: read.runsOfUnknownCost },
})

const groupView = (
  read: GroupRead,
  key: string | null,
  savedUsd: string | null,
): AnswerOf<typeof UsageGroup> => ({
  ...{ key, name: read.name, ...sumsView(read) },
  ...{ estimatedTokens: read.estimatedTokens, estimatedTasks: read.estimatedTasks },
  ...{ tokensOfEstimated: read.tokensOfEstimated, savedUsd },
})

type Sums = AnswerOf<typeof UsageSums>

export async function addUp(
  kernel: ServerKernel,
  caller: Caller,
  { groupBy, ...query }: z.output<typeof UsageQuery>,
): Promise<Sums> {
  const { readers } = kernel.store
  const { now, timeZone } = await clockOf(readers, caller.workspaceId)
  const asked = await usageAsked(kernel, caller, query, now)
  const { from, to } = asked
  if (groupBy === 'day' && to - from > MOST_DAYS_MS)
    throw Refused.field(
      'VALIDATION_FAILED',
      'from',
      'is more than 1,100 days before "to": ask for fewer days',
    )
  const days = groupBy === 'day' ? daysIn(timeZone, from, to) : []
  const by = groupBy === 'day' ? ({ by: 'day', days } as const) : { by: groupBy }
  const { total, groups, models, count } = await sumsOf(readers, caller.workspaceId, asked, by)
  const savedBy = savings(models, await kernel.prices(caller.workspaceId))
  const keyOf = ({ key }: GroupRead) => (typeof key === 'number' ? dayName(timeZone, days[key]!) : key)
  return {
    ...{ groupBy, from: instant(from), to: instant(to), timeZone },
    savedUsd: savedBy(models),
    total: sumsView(total),
    items: groups.map((one) => groupView(one, keyOf(one), savedBy(one.models))),
    groupsLeftOut: Math.max(0, count - MOST_GROUPS),
  }
}

type RowView = AnswerOf<typeof UsageRowView>

const rowView = (row: RowRead): RowView => ({
  runId: row.isRun ? row.sourceId : null,
  taskId: row.taskId,
  generation: row.isRun ? null : row.generation,
  ...{ number: row.number, at: instant(row.at), agent: row.agent, session: row.session },
  ...{ missionId: row.missionId, project: row.project, model: row.model, operation: row.operation },
  ...{ basis: row.basis, ...tokensIn(row, row.cacheWrite5mTokens + row.cacheWrite1hTokens) },
  ...{ cacheWrite5mTokens: row.cacheWrite5mTokens, cacheWrite1hTokens: row.cacheWrite1hTokens },
  ...{ reasoningTokens: row.reasoningTokens, seconds: row.workMs / 1000, costUsd: row.costUsd },
})

const GROUP_COLUMNS = [
  ...(['key', 'name', 'inputTokens', 'cachedInputTokens', 'outputTokens', 'tokensUsed', 'costUsd'] as const),
  ...(['notionalUsd', 'runs', 'runsOfUnknownCost', 'estimatedTokens', 'estimatedTasks'] as const),
  ...(['tokensOfEstimated', 'savedUsd', 'seconds'] as const),
] as const
const ROW_COLUMNS = [
  ...(['at', 'runId', 'taskId', 'generation', 'number', 'agent', 'session', 'missionId', 'project'] as const),
  ...([
    'model',
    'operation',
    'basis',
    'inputTokens',
    'cachedInputTokens',
    'outputTokens',
    'tokensUsed',
  ] as const),
  ...(['cacheWrite5mTokens', 'cacheWrite1hTokens', 'reasoningTokens', 'costUsd', 'seconds'] as const),
] as const

/** As a file; the query says nothing of its name, which could contain anything. */
function asFile({ reply }: Pick<Call<unknown>, 'reply'>, name: string, text: string): string {
  reply.header('content-type', 'text/csv; charset=utf-8; header=present')
  reply.header('content-disposition', `attachment; filename="${name}.csv"`)
  return text
}

/** What counts in a budget, as the ledger is asked for it. */
function scopeOf({ scope, scopeKey, scopeId }: BudgetRecord): Partial<UsageOf> {
  const id = Number(scopeKey.slice(scopeKey.indexOf(':') + 1))
  switch (scope) {
    case 'workspace':
      return {}
    case 'agent':
    case 'project':
      return { [scope]: scopeId! }
    case 'mission':
    case 'task':
      return { [scope]: id }
  }
}

async function burnOf(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  budget: BudgetRecord | null,
  now: number,
): Promise<Burn> {
  const asked = { ...(budget && scopeOf(budget)), from: now - DAY_MS, to: now }
  const { total } = await sumsOf(kernel.store.readers, workspaceId, asked, { by: 'operation' })
  const notional = budget?.countNotional === true ? total.notionalUsd : null
  return { usd: sumOfDollars(total.costUsd, notional), tokens: tokensIn(total).tokensUsed }
}

async function budgetsAsked(kernel: ServerKernel, { workspaceId }: Caller, id: string | undefined) {
  const { readers } = kernel.store
  const asked = id === undefined ? { scope: 'workspace' as const } : { id }
  const budgets = await listBudgets(readers, workspaceId, asked, 10)
  if (id !== undefined && budgets.length === 0)
    throw new Refused('NOT_FOUND', `There is no budget ${id} in this workspace.`)
  return budgets
}

const projectionView = (
  budget: NamedBudget | null,
  burn: Burn,
  { remainingUsd, remainingTokens, days, exhaustedAt, recommendation }: Projected,
): AnswerOf<typeof Projection> => ({
  budgetId: budget?.budgetId ?? null,
  ...{ remainingUsd, remainingTokens, dailyBurnUsd: burn.usd, dailyBurnTokens: burn.tokens },
  daysUntilExhaustion: days,
  exhaustedAt: exhaustedAt === null ? null : instant(exhaustedAt),
  periodEnd: budget?.periodEnd == null ? null : instant(budget.periodEnd),
  recommendation,
  isEnforced: budget?.isPaced ?? false,
})

const WITHOUT_BUDGET: Projected = {
  ...{ remainingUsd: null, remainingTokens: null, days: null, exhaustedAt: null, recommendation: 'CONTINUE' },
}

/** Of several budgets of the workspace that which is used up first. */
export async function project(kernel: ServerKernel, caller: Caller, id: string | undefined) {
  const { now, timeZone } = await clockOf(kernel.store.readers, caller.workspaceId)
  const budgets = (await budgetsAsked(kernel, caller, id)).map((one) => ({
    ...one,
    ...turned(one, timeZone, now),
  }))
  if (budgets.length === 0)
    return projectionView(null, await burnOf(kernel, caller, null, now), WITHOUT_BUDGET)
  const all = await Promise.all(
    budgets.map(async (budget) => {
      const burn = await burnOf(kernel, caller, budget, now)
      return { budget, burn, is: projected(budget, burn, now) }
    }),
  )
  const [first] = all.sort(
    (a, b) =>
      (a.is.days ?? Number.POSITIVE_INFINITY) - (b.is.days ?? Number.POSITIVE_INFINITY) ||
      Number(b.budget.maxUsd !== null || b.budget.maxTokens !== null) -
        Number(a.budget.maxUsd !== null || a.budget.maxTokens !== null),
  )
  return projectionView(first!.budget, first!.burn, first!.is)
}

export async function listRows(
  kernel: ServerKernel,
  caller: Caller,
  query: Asked,
  after: RowPlace | null,
  limit: number,
): Promise<RowRead[]> {
  const { readers } = kernel.store
  const { now } = await clockOf(readers, caller.workspaceId)
  const asked = await usageAsked(kernel, caller, query, now)
  return rowsOf(readers, caller.workspaceId, asked, after, limit)
}

export const usageReads = actsOf(api)({
  async readUsage({ kernel }, call) {
    const sums = await addUp(kernel, call.caller, call.query)
    if (call.query.format === 'json') return sums
    return asFile(call, `usage-by-${sums.groupBy}`, csvOf(GROUP_COLUMNS, sums.items.map(flat)))
  },
  async listUsage({ kernel }, call) {
    const { caller, query, page } = call
    const rows = await listRows(kernel, caller, query, page.after ?? null, page.rows)
    const list = page.of(rows, rowView, ({ place, sourceId, generation, model, number, basis }) => [
      ...([place, sourceId, generation, model, number, basis] as const),
    ])
    if (query.format === 'json') return list
    if (list.nextCursor !== null) call.reply.header('baton-next-cursor', list.nextCursor)
    return asFile(call, 'usage-rows', csvOf(ROW_COLUMNS, list.items.map(flat)))
  },
  projectUsage: ({ kernel }, { query, caller }) => project(kernel, caller, query.budget),
})
