import { budgetIdOf } from '../src/kernel/budget-id.ts'
import { Combiner } from '../src/kernel/combiner.ts'
import { createWorkspace } from '../src/kinds/workspace/postgres.ts'
import type { Measured } from './drive.ts'
import { kernelClaims } from './kernel.ts'
import { type Goal, worded } from './report.ts'
import { interleaved, type Spread, spreadOf } from './rounds.ts'
import { cpuMsOfProcessTree } from './server-cpu.ts'
import { type Bed, fill, makeBed } from './setup.ts'

/** Claims a second under a budget of the workspace, of those without one. */
export interface BudgetFigures {
  claims: number
  rate: Spread
  /** CPU of this process and of Postgres for the same claims: other programs on the machine do not change it. */
  cpu: Spread
}

interface Round extends Measured {
  cpuMs: number
}

/** More than all claims can reserve: each of them does. */
const PLENTY = { maxTokens: 1_000_000_000_000_000, maxUsd: '100000000' }
const LIMITS = { minLeaseSeconds: 1, maxConcurrentClaims: 10_000_000, maxGenerationsPerTask: 1_000_000 }

/** In turn, in two workspaces of one database. */
export async function budgetFigures(
  claims: number,
  times: number,
  say: (what: string) => void,
): Promise<BudgetFigures> {
  const without = await makeBed()
  try {
    say(`claims under a budget, ${times} rounds of ${claims}`)
    const { store, admin } = without
    const { workspaceId } = await createWorkspace(store, 'budgeted', 'budgeted', LIMITS)
    const within: Bed = { ...without, workspaceId, fill: (count) => fill(admin, workspaceId, count) }
    await setBudget(within)
    const lines = [within, without].map((bed) => () => claimed(bed, claims))
    for (const line of lines) await line()
    const [under, free] = await interleaved(times, lines)
    const ratio = (of: (one: Round) => number) => spreadOf(under!.map((one, i) => of(one) / of(free![i]!)))
    return { claims, rate: ratio(({ perSecond }) => perSecond), cpu: ratio(({ cpuMs }) => cpuMs) }
  } finally {
    await without.close()
  }
}

async function setBudget({ store, workspaceId }: Bed): Promise<void> {
  const id = budgetIdOf('workspace', 'none')
  const of = { scope: 'workspace', scopeKey: 'workspace', scopeId: null, period: 'none' } as const
  const settings = { countNotional: false, onUnknownPrice: 'allow', isPaced: false } as const
  const command = { kind: 'create', ...of, ...PLENTY, ...settings } as const
  const request = { on: 'budget', key: id, uuid: id, command, actor: 'bench' } as const
  const reply = await new Combiner(store).run(workspaceId, request)
  if (!reply.ok) throw new Error(`the budget was refused: ${reply.code}`)
}

async function claimed(bed: Bed, count: number): Promise<Round> {
  const lot = await bed.fill(count)
  await bed.calm()
  const [node, server] = [process.cpuUsage(), cpuMsOfProcessTree(bed.pid)]
  const measured = await kernelClaims(bed, lot)
  const { user, system } = process.cpuUsage(node)
  return { ...measured, cpuMs: (user + system) / 1000 + cpuMsOfProcessTree(bed.pid) - server }
}

export function budgetVerdicts({ rate, cpu }: BudgetFigures): string {
  const goal: Goal = [
    `claims a second under a budget of the workspace ≥ 0.8 of those without (${cpu.median.toFixed(2)} times the CPU)`,
    rate.median,
    rate.median >= 0.8,
  ]
  return worded([goal])
}
