import type { CostBasis } from '../../usage/record.ts'
import { dollarsBeyond, storedDollars } from '../rules/dollars.ts'
import type { TokenUsage } from '../rules/usage.ts'
import { costOfModel, modelsIn, type PriceTable, sumOf, type UsedByModel } from './cost.ts'

/** Who pays for the tokens: by the token, or with a subscription. */
export type Billing = 'api' | 'subscription'

interface Billed {
  /** Exact; null: unknown. */
  costUsd: string | null
  basis: CostBasis
}

export interface BilledModel extends Billed {
  /** Null: neither the program nor the agent's settings name one. */
  model: string | null
  used: UsedByModel
}

export interface BilledCost extends Billed {
  /**
   * The same by model. They add up to the whole, unless the program tells what all of them cost together and not what each of two or
   * more cost: those are priced.
   */
  models: readonly BilledModel[]
}

export interface ToBill {
  /** That the program tells, or else that of the agent's settings. */
  model: string | null
  usage: TokenUsage | null
  /** What the program says that all of it cost. */
  told: string | null
  billing: Billing
  table?: PriceTable
}

/** What a run cost. What its program tells wins over prices. */
export function billedCost({ model, usage, told, billing, table }: ToBill): BilledCost {
  const parts = usage ? modelsIn(model, usage) : []
  const known = parts.map((used) => costOfPart(used, table))
  const models = told === null ? known : withRest(known, told)
  const whole = told === null ? wholeOf(known) : { costUsd: storedDollars(told), basis: 'reported' as const }
  const paid = (cost: Billed): Billed => (billing === 'subscription' ? notional(cost) : cost)
  return {
    ...paid(whole),
    models: parts.map((used, i) => ({ model: used.model, used, ...paid(models[i]!) })),
  }
}

function costOfPart(used: UsedByModel, table: PriceTable | undefined): Billed {
  if (used.costUsd !== undefined) return { costUsd: storedDollars(used.costUsd), basis: 'reported' }
  const costUsd = costOfModel(used, table)
  return { costUsd, basis: costUsd === null ? 'unknown' : 'priced' }
}

/** A single model whose cost was not told cost the rest of the whole. */
function withRest(parts: readonly Billed[], told: string): readonly Billed[] {
  const untold = parts.filter(({ basis }) => basis !== 'reported')
  if (untold.length !== 1) return parts
  const toldOfOthers = sumOf(parts.filter((part) => part !== untold[0]).map(({ costUsd }) => costUsd))
  const rest: Billed = { costUsd: dollarsBeyond(told, toldOfOthers), basis: 'reported' }
  return parts.map((part) => (part === untold[0] ? rest : part))
}

/** Reported only if all of it is. */
function wholeOf(parts: readonly Billed[]): Billed {
  const costUsd = parts.length === 0 ? null : sumOf(parts.map((part) => part.costUsd))
  if (costUsd === null) return { costUsd, basis: 'unknown' }
  return { costUsd, basis: parts.every(({ basis }) => basis === 'reported') ? 'reported' : 'priced' }
}

const notional = ({ costUsd, basis }: Billed): Billed => ({
  costUsd,
  basis: basis === 'unknown' ? basis : 'notional',
})
