import { budgetIdOf } from '../../../src/kernel/budget-id.ts'
import { systemCaller } from '../../../src/kernel/caller.ts'
import { type BudgetRecord, scopeKeysOf } from '../../../src/kinds/budget/record.ts'
import { turned } from '../../../src/kinds/budget/rules/period.ts'
import { whyBlocked } from '../../../src/kinds/budget/rules/room.ts'
import type { BudgetCommand } from '../../../src/kinds/budget/rules.ts'
import { isLive } from '../../../src/kinds/run/states.ts'
import { sourceName, type UsageRow } from '../../../src/kinds/usage/record.ts'
import { tokensOf, totalsOf } from '../../../src/kinds/usage/rules/book.ts'
import { countedFor } from '../../../src/memory/budgets.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import { picosOf, sumOfDollars } from '../../../src/pure/money.ts'
import type { RunBug } from './bugs.ts'
import type { RunWorld } from './world.ts'

/** Budgets in a world of agents that spend: who sets them, what must hold, and bugs that are planted. */

const SETTINGS = { countNotional: false, onUnknownPrice: 'allow', isPaced: false } as const
/** More than all agents can spend: it is there so that every claim reserves. */
const PLENTY = { maxTokens: 1_000_000_000, maxUsd: '100000' }

const command = (world: RunWorld, id: string, decided: BudgetCommand) =>
  world.outside.run(systemCaller(world.workspace), { on: 'budget', key: id, uuid: id, command: decided })

interface Scope {
  scope: BudgetRecord['scope']
  scopeKey: string
  scopeId: string | null
  period: BudgetRecord['period']
}

const scopesIn = ({ slugs }: RunWorld): Scope[] => [
  { scope: 'workspace', scopeKey: 'workspace', scopeId: null, period: 'none' },
  { scope: 'workspace', scopeKey: 'workspace', scopeId: null, period: 'day' },
  ...slugs.map(
    (slug): Scope => ({ scope: 'agent', scopeKey: `agent:${slug}`, scopeId: slug, period: 'none' }),
  ),
]

/** Somebody sets budgets, lowers and raises them, removes them, stops all and allows it; in a calm world all have room again. */
export async function setBudgets(world: RunWorld): Promise<void> {
  const { random, scheduler } = world
  const create = async ({ period, ...of }: Scope, limits: typeof PLENTY) => {
    const id = budgetIdOf(of.scopeKey, period)
    const made = await command(world, id, { kind: 'create', ...of, period, ...SETTINGS, ...limits })
    if (made.ok) await command(world, id, { kind: 'elapse' })
  }
  const [whole, ...others] = scopesIn(world)
  await create(whole!, PLENTY)
  for (;;) {
    await scheduler.sleep(random.int(200, 6_000), 'somebody looks at budgets')
    const of = random.pick(others)
    const id = budgetIdOf(of.scopeKey, of.period)
    const limits = { maxTokens: random.int(100, 20_000), maxUsd: `0.${random.int(1, 99)}` }
    if (world.calm) {
      for (const one of scopesIn(world)) {
        const open = budgetIdOf(one.scopeKey, one.period)
        await command(world, open, { kind: 'update', ifVersion: null, set: PLENTY })
        await command(world, open, { kind: 'release' })
      }
      continue
    }
    const act = random.weighted({ create: 4, update: 3, remove: 1, stop: 0.5, release: 2, elapse: 1 })
    if (act === 'create') await create(of, limits)
    else if (act === 'update') await command(world, id, { kind: 'update', ifVersion: null, set: limits })
    else if (act === 'stop') await command(world, id, { kind: 'stop', reason: null })
    else await command(world, id, { kind: act })
  }
}

type Broken = string | false | null | undefined

/** Since when a run works on under a budget that is used up, and what was reserved before the last step. */
export class Ledger {
  readonly over = new Map<string, number>()
  reserved = new Map<string, BudgetRecord>()
  rows = -1
}

/** A run has its grace, a node looks every two seconds, and reads and writes may wait for some seconds more. */
const STOPS_WITHIN_MS = 60_000

const sums = (rows: readonly UsageRow[]) => ({
  tokens: rows.reduce((all, row) => all + tokensOf(row), 0),
  usd: sumOfDollars(...rows.map(({ costUsd }) => costUsd)),
})

export const MONEY_INVARIANTS: Record<
  string,
  { says: string; broken: (now: Workspace, seen: Ledger, world: RunWorld) => Broken }
> = {
  ledgerAddsUp: {
    says: 'The rows of each source add up to what is booked of it.',
    broken: ({ usageRows, usageSources }, seen) => {
      const touched = new Set(usageRows.slice(Math.max(0, seen.rows)).map(sourceName))
      for (const name of touched) {
        const is = totalsOf(usageSources.get(name)!.booked)
        const { tokens, usd } = sums(usageRows.filter((row) => sourceName(row) === name))
        const booked = sumOfDollars(is.costUsd, is.notionalUsd)
        if (tokens !== is.tokens || usd !== booked)
          return `${name}: rows say ${tokens} tokens and $${usd}, ${is.tokens} and $${booked} are booked`
      }
      return null
    },
  },
  runsAreBooked: {
    says: 'What a run is said to have used when it is over is what is booked of it.',
    broken: ({ runs, usageSources }) => {
      for (const { id, status, inputTokens, cachedInputTokens, outputTokens, usageBasis } of runs.values()) {
        if (isLive(status) || inputTokens === null || usageBasis !== 'reported') continue
        const source = usageSources.get(`${id}/0`)
        const used = inputTokens + (cachedInputTokens ?? 0) + (outputTokens ?? 0)
        const { tokens } = totalsOf(source?.booked ?? {})
        if (tokens !== used) return `${id} used ${used} tokens, ${tokens} are booked`
      }
      return null
    },
  },
  budgetsAreTheLedger: {
    says: 'A budget has consumed what the ledger has of its scope and period.',
    broken: (now, seen) => {
      for (const budget of now.plain.budget.values()) {
        // One that is new is counted first.
        if (budget === seen.reserved.get(budget.budgetId) || budget.countDueAt! <= budget.createdAt) continue
        const { tokens, usd } = countedFor(now, budget)
        if (budget.consumedTokens !== tokens || picosOf(budget.consumedUsd) !== picosOf(usd))
          return `${budget.scopeKey}: ${budget.consumedTokens} tokens and $${budget.consumedUsd}, the ledger has ${tokens} and $${usd}`
      }
      return null
    },
  },
  reservedIsHeld: {
    says: 'A budget has reserved what claims and runs have reserved in it.',
    broken: (now, seen) => {
      for (const budget of now.plain.budget.values()) {
        if (budget === seen.reserved.get(budget.budgetId) || budget.countDueAt! <= budget.createdAt) continue
        const { reservedTokens, reservedUsd } = countedFor(now, budget)
        if (budget.reservedTokens !== reservedTokens || picosOf(budget.reservedUsd) !== picosOf(reservedUsd))
          return `${budget.scopeKey}: ${budget.reservedTokens} and $${budget.reservedUsd}, held are ${reservedTokens} and $${reservedUsd}`
      }
      return null
    },
  },
  reservationsEnd: {
    says: 'Nothing is reserved for a claim or a run that is over.',
    broken: ({ reservations, tasks, runs }) => {
      const byUuid = new Map([...tasks.values()].map((task) => [task.uuid, task]))
      for (const { holderId, generation } of reservations.values()) {
        const task = byUuid.get(holderId)
        const isHeld =
          generation === 0
            ? isLive(runs.get(holderId)?.status ?? 'failed')
            : task?.generation === generation && task.claimState === 'active'
        if (!isHeld) return `${holderId}, generation ${generation}`
      }
      return null
    },
  },
  nobodyReservesTooMuch: {
    says: 'Consumed and reserved together are at most what is allowed, whenever something is reserved.',
    broken: (now, seen, { memory }) => {
      for (const stored of now.plain.budget.values()) {
        // Claims see the period of now, also before its row does.
        const budget = turned(stored, 'UTC', memory.clock())
        const before = seen.reserved.get(budget.budgetId)
        // Found again when a budget is counted: it was reserved before.
        if (!before || before.version !== budget.version || before.countDueAt !== budget.countDueAt) continue
        const { maxTokens, maxUsd, consumedTokens, reservedTokens } = budget
        if (
          maxTokens !== null &&
          reservedTokens > before.reservedTokens &&
          consumedTokens + reservedTokens > maxTokens
        )
          return `${budget.scopeKey}: ${consumedTokens} + ${reservedTokens} of ${maxTokens} tokens`
        const [reserved, consumed] = [picosOf(budget.reservedUsd), picosOf(budget.consumedUsd)]
        if (
          maxUsd !== null &&
          reserved > picosOf(before.reservedUsd) &&
          consumed + reserved > picosOf(maxUsd)
        )
          return `${budget.scopeKey}: $${budget.consumedUsd} + $${budget.reservedUsd} of $${maxUsd}`
      }
      return null
    },
  },
  spentMeansStopped: {
    says: 'Nobody works on under a budget that is used up for longer than a stop takes.',
    broken: ({ runs, tasks, plain }, { over }, { scheduler, alive, memory }) => {
      const budgets = [...plain.budget.values()].map((one) => turned(one, 'UTC', memory.clock()))
      const blocked = new Set(budgets.filter(whyBlocked).map(({ scopeKey }) => scopeKey))
      const nodes = new Set(alive.map(({ id }) => id))
      for (const { id, agent, taskId, status, nodeId } of runs.values()) {
        const task = taskId === null ? undefined : tasks.get(taskId)
        const about = { agent, taskId, missionId: task?.missionId ?? null, projectId: task?.projectId ?? 0 }
        const isOver =
          status === 'running' && nodes.has(nodeId) && scopeKeysOf(about).some((key) => blocked.has(key))
        const since = isOver ? (over.get(id) ?? scheduler.now) : null
        if (since === null) over.delete(id)
        else over.set(id, since)
        if (since !== null && scheduler.now - since > STOPS_WITHIN_MS) return `${id} of ${agent}`
      }
      return null
    },
  },
}

export function checkMoney(world: RunWorld, seen: Ledger): void {
  const now = world.memory.whole(world.workspace)
  for (const [name, { broken }] of Object.entries(MONEY_INVARIANTS)) {
    const detail = broken(now, seen, world)
    if (detail) world.breaks(name, detail)
  }
  seen.rows = now.usageRows.length
  seen.reserved = new Map(now.plain.budget)
}

const bugs = {
  bookedTwice: {
    says: 'A report does not look at what is booked already.',
    foundBy: ['ledgerAddsUp'],
    view: (view) =>
      view.usage?.source
        ? { ...view, usage: { ...view.usage, source: { ...view.usage.source, booked: {} } } }
        : view,
  },
  reservationsLeak: {
    says: 'What a claim has reserved stays reserved when it ends.',
    foundBy: ['reservationsEnd'],
    batch: (changes) => ({
      ...changes,
      reservations: changes.reservations && { ...changes.reservations, released: [] },
    }),
  },
  agentsAreForgotten: {
    says: 'What is used does not count in the budgets of agents.',
    foundBy: ['budgetsAreTheLedger'],
    view: (view) =>
      view.usage
        ? {
            ...view,
            usage: { ...view.usage, budgets: view.usage.budgets.filter(({ scope }) => scope !== 'agent') },
          }
        : view,
  },
  periodsTurnTwice: {
    says: 'A period turns with every report.',
    foundBy: ['budgetsAreTheLedger'],
    view: (view) =>
      view.usage
        ? {
            ...view,
            usage: {
              ...view.usage,
              budgets: view.usage.budgets.map((one) =>
                one.period === 'day' ? { ...one, periodEnd: view.now } : one,
              ),
            },
          }
        : view,
  },
  reservedTwice: {
    says: 'What a claim reserves is taken from its budgets twice.',
    foundBy: ['reservedIsHeld', 'nobodyReservesTooMuch'],
    batch: (changes) => ({
      ...changes,
      reservations: changes.reservations && {
        ...changes.reservations,
        reserved: changes.reservations.reserved.flatMap((one) => [one, one]),
      },
    }),
  },
} satisfies Record<string, RunBug>

export type MoneyBugName = keyof typeof bugs
export const MONEY_BUGS: Record<MoneyBugName, RunBug> = bugs
