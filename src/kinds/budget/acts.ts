import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import { slugOf } from '../../door/named-agents.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { budgetIdOf } from '../../kernel/budget-id.ts'
import { systemCaller } from '../../kernel/caller.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { forOne as partOf } from '../../kernel/many.ts'
import { once } from '../../kernel/once.ts'
import type { Budget } from '../../pure/budget.ts'
import { Refused } from '../../pure/errors.ts'
import { operateMission, requireMission } from '../mission/acts/missions.ts'
import { requireProject } from '../project/acts.ts'
import { requireRecord } from '../task/acts/tasks.ts'
import { updateTask } from '../task/acts/update.ts'
import { budgetView, moveBetween, operateBudget, requireBudget } from './acts/operate.ts'
import * as api from './api.ts'
import { placeOf } from './paging.ts'
import { listBudgets, type NamedBudget } from './postgres/reads.ts'
import { type BudgetRecord, isOfWork } from './record.ts'
import type { BudgetSettings } from './rules.ts'
import type { BudgetBody, BudgetPatch } from './shapes.ts'

/** Budgets: set, changed, moved and stopped. The limits of missions and tasks are changed with the mission or the task. */

const show = async (kernel: ServerKernel, caller: Caller, id: string) =>
  budgetView(await requireBudget(kernel, caller, id))

/** What it is about, inside and outside. */
async function scopeOf(
  kernel: ServerKernel,
  caller: Caller,
  { scope, scopeId }: z.output<typeof BudgetBody>,
) {
  if (scope === 'workspace') {
    if (scopeId !== undefined)
      throw Refused.field('VALIDATION_FAILED', 'scopeId', 'is not for a budget of the workspace')
    return { scopeKey: 'workspace', scopeId: null }
  }
  if (scopeId === undefined) throw Refused.field('VALIDATION_FAILED', 'scopeId', 'is missing')
  switch (scope) {
    case 'agent': {
      const slug = await slugOf(kernel, caller, scopeId)
      return { scopeKey: `agent:${slug}`, scopeId: slug }
    }
    case 'project': {
      const { projectId, slug } = await requireProject(kernel, caller, scopeId)
      return { scopeKey: `project:${projectId}`, scopeId: slug }
    }
    case 'mission': {
      const { id, uuid } = await requireMission(kernel, caller, scopeId)
      return { scopeKey: `mission:${id}`, scopeId: uuid }
    }
    case 'task': {
      const { id, uuid } = await requireRecord(kernel, caller, scopeId)
      return { scopeKey: `task:${id}`, scopeId: uuid }
    }
  }
}

/** The limits of a mission or a task are said there. */
async function sayOfWork(
  kernel: ServerKernel,
  caller: Caller,
  { scope, scopeId }: Pick<BudgetRecord, 'scope' | 'scopeId'>,
  { maxUsd, maxTokens }: Pick<BudgetSettings, 'maxUsd' | 'maxTokens'>,
): Promise<void> {
  const isNone = maxUsd === null && maxTokens === null
  const budget: Budget | null = isNone
    ? null
    : { ...(maxUsd !== null && { maxUsd }), ...(maxTokens !== null && { maxTokens }) }
  if (scope === 'mission')
    await operateMission(kernel, caller, scopeId!, { kind: 'update', ifVersion: null, patch: { budget } })
  else await updateTask(kernel, caller, scopeId!, { budget }, null)
}

const DEFAULTS = { countNotional: false, onUnknownPrice: 'ask', isPaced: false } as const

async function create(kernel: ServerKernel, caller: Caller, body: z.output<typeof BudgetBody>) {
  const { scope, scopeId: _scopeId, period, maxUsd = null, maxTokens = null, ...given } = body
  if (maxUsd === null && maxTokens === null)
    throw Refused.field('VALIDATION_FAILED', 'maxUsd', 'or maxTokens is needed')
  const of = await scopeOf(kernel, caller, body)
  const id = budgetIdOf(of.scopeKey, period)
  const settings = { ...DEFAULTS, ...known(given) }
  if (isOfWork({ scope })) {
    if (period !== 'none')
      throw Refused.field(
        'VALIDATION_FAILED',
        'period',
        'is not for missions and tasks: their budgets are for all they use',
      )
    const [taken] = await listBudgets(kernel.store.readers, caller.workspaceId, { id }, 1)
    if (taken) throw new Refused('ALREADY_EXISTS', 'It has a budget already: change that one.', { id })
    const subject = { scope, scopeId: of.scopeId }
    await sayOfWork(kernel, partOf(caller, 'limits'), subject, { maxUsd, maxTokens })
    if (Object.keys(known(given)).length > 0)
      await operateBudget(kernel, partOf(caller, 'settings'), id, {
        kind: 'update',
        ifVersion: null,
        set: known(given),
      })
  } else
    await operateBudget(kernel, partOf(caller, 'limits'), id, {
      kind: 'create',
      scope,
      ...of,
      period,
      maxUsd,
      maxTokens,
      ...settings,
    })
  await count(kernel, caller, id)
  return show(kernel, caller, id)
}

/** With what was used already. */
const count = (kernel: ServerKernel, { workspaceId }: Caller, id: string) =>
  operateBudget(kernel, systemCaller(workspaceId), id, { kind: 'elapse' })

/** Only the fields that were given. */
const known = <T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as never

async function change(
  kernel: ServerKernel,
  caller: Caller,
  id: string,
  body: z.output<typeof BudgetPatch>,
  ifVersion: number | null,
) {
  const budget = await requireBudget(kernel, caller, id)
  const { maxUsd = budget.maxUsd, maxTokens = budget.maxTokens } = body
  if (maxUsd === null && maxTokens === null)
    throw Refused.field(
      'VALIDATION_FAILED',
      'maxUsd',
      'or maxTokens is needed; to have no limit, remove the budget',
    )
  if (ifVersion !== null && ifVersion !== budget.version)
    throw new Refused('VERSION_MISMATCH', `The budget is at version ${budget.version}.`, {
      currentVersion: budget.version,
    })
  const { maxUsd: _usd, maxTokens: _tokens, ...settings } = known(body)
  const isLimit = body.maxUsd !== undefined || body.maxTokens !== undefined
  if (isOfWork(budget)) {
    if (isLimit) await sayOfWork(kernel, caller, budget, { maxUsd, maxTokens })
    if (Object.keys(settings).length > 0)
      await operateBudget(kernel, caller, id, { kind: 'update', ifVersion: null, set: settings })
  } else
    await operateBudget(kernel, caller, id, {
      kind: 'update',
      ifVersion,
      set: { ...settings, ...(isLimit && { maxUsd, maxTokens }) },
    })
  if (settings.countNotional !== undefined) await count(kernel, caller, id)
  return show(kernel, caller, id)
}

async function remove(kernel: ServerKernel, caller: Caller, id: string): Promise<void> {
  const budget = await requireBudget(kernel, caller, id)
  if (isOfWork(budget)) await sayOfWork(kernel, caller, budget, { maxUsd: null, maxTokens: null })
  else await operateBudget(kernel, caller, id, { kind: 'remove' })
}

const WORKSPACE = budgetIdOf('workspace', 'none')

async function carrierOfStop({ store }: ServerKernel, { workspaceId }: Caller): Promise<NamedBudget | null> {
  const [budget] = await listBudgets(store.readers, workspaceId, { id: WORKSPACE }, 1)
  return budget ?? null
}

/** A budget without a limit carries the stop where the workspace has none. */
async function stopAll(kernel: ServerKernel, caller: Caller, reason: string | null) {
  if (!(await carrierOfStop(kernel, caller))) {
    const unlimited = { maxUsd: null, maxTokens: null, period: 'none' as const, scope: 'workspace' as const }
    const of = { scopeKey: 'workspace', scopeId: null }
    const reply = await kernel.run(
      { ...caller, idempotency: undefined },
      {
        on: 'budget',
        key: WORKSPACE,
        uuid: WORKSPACE,
        command: { kind: 'create', ...of, ...unlimited, ...DEFAULTS },
      },
    )
    // Another request was faster: then there is one.
    if (!reply.ok && reply.code !== 'ALREADY_EXISTS') throw Refused.because(reply)
  }
  await operateBudget(kernel, partOf(caller, 'stop'), WORKSPACE, { kind: 'stop', reason })
  return show(kernel, caller, WORKSPACE)
}

export const budgetActs = actsOf(api)({
  async listBudgets({ kernel }, { query, caller: { workspaceId }, page }) {
    const { scope, scopeId, state } = query
    const asked = { scope, scopeId, state, after: page.after }
    const budgets = await listBudgets(kernel.store.readers, workspaceId, asked, page.rows)
    return page.of(budgets, budgetView, placeOf)
  },
  createBudget: ({ kernel }, { body, caller }) => once(kernel, caller, () => create(kernel, caller, body)),
  readBudget: ({ kernel }, { params, caller }) => show(kernel, caller, params.id),
  changeBudget: ({ kernel }, { params, body, caller, ifVersion }) =>
    change(kernel, caller, params.id, body, ifVersion),
  removeBudget: ({ kernel }, { params, caller }) => remove(kernel, caller, params.id),
  moveBudget: ({ kernel }, { params, body, caller }) =>
    once(kernel, caller, async () => {
      await moveBetween(kernel, partOf(caller, 'move'), { ...body, from: params.id })
      return { from: await show(kernel, caller, params.id), to: await show(kernel, caller, body.to) }
    }),
  allowModel: ({ kernel }, { params, body, caller }) =>
    once(kernel, caller, async () => {
      await requireBudget(kernel, caller, params.id)
      const allow = { kind: 'allowModel', model: body.model } as const
      await operateBudget(kernel, partOf(caller, 'allow'), params.id, allow)
      return show(kernel, caller, params.id)
    }),
  stopSpending: ({ kernel }, { body, caller }) =>
    once(kernel, caller, () => stopAll(kernel, caller, body.reason ?? null)),
  allowSpending: ({ kernel }, { caller }) =>
    once(kernel, caller, async () => {
      const stop = await carrierOfStop(kernel, caller)
      if (!stop) throw new Refused('WRONG_STATE', 'Spending of this workspace is not stopped.')
      await operateBudget(kernel, partOf(caller, 'release'), WORKSPACE, { kind: 'release' })
      return show(kernel, caller, WORKSPACE)
    }),
})
