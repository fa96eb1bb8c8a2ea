import type { BudgetChanges } from '../../../kernel/batch/budget-batch.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, statement } from '../../../postgres/statements/statements.ts'
import { textOfPicos } from '../../../pure/money.ts'
import type { BudgetRecord } from '../record.ts'

const fits = (of: 'tokens' | 'usd') => {
  const consumed = `case when b.period_end <= clock_timestamp() then 0 else b.consumed_${of} end`
  return `case when d.${of} > 0 and not (b.budget_id = any($10::uuid[])) and ${consumed} + b.reserved_${of} + d.${of} > b.max_${of} then refuse_reservation()
     else greatest(0, b.reserved_${of} + d.${of}) end`
}

// What claims reserve, and what is free again with those that ended. Whatever others have reserved or used meanwhile, no budget has more
// reserved and consumed than it allows: then the batch is decided again. $1 workspace, $2 who released, $3 the generation of each, $4 who
// reserves, $5 generations, $6 which of the shares; of the shares $7 budgets, $8 tokens, $9 dollars; $11 budgets, $12 tokens and $13 dollars
// of all that is reserved. $14 when, $10 budgets that this transaction had locked before it decided: what it has reserved in them was there,
// also where it has lowered them since.
const settle = statement(
  'settle_reservations',
  `with gone as (
     delete from budget_reservations r using unnest($2::uuid[], $3::int[]) as h(holder_id, generation)
      where r.workspace_id = $1 and r.holder_id = h.holder_id and r.generation = h.generation
     returning r.budget_ids, r.tokens, r.usd),
   fresh as (
     insert into budget_reservations (workspace_id, holder_id, generation, budget_ids, tokens, usd, step_tokens, step_usd, reserved_at)
     select $1, h.holder_id, h.generation, ($7::text[])[h.share]::json, ($8::bigint[])[h.share], ($9::numeric[])[h.share],
            ($8::bigint[])[h.share], ($9::numeric[])[h.share], to_timestamp($14::float8 / 1000)
       from unnest($4::uuid[], $5::int[], $6::int[]) as h(holder_id, generation, share)),
   delta as (
     select k.budget_id, sum(k.tokens)::bigint as tokens, sum(k.usd) as usd from (
       select json_array_elements_text(budget_ids)::uuid as budget_id, -tokens as tokens, -usd as usd from gone
       union all select * from unnest($11::uuid[], $12::bigint[], $13::numeric[])) k group by 1),
   locked as (
     select b.budget_id from budgets b join delta d using (budget_id) where b.workspace_id = $1 order by b.budget_id
       for no key update of b)
   update budgets b set reserved_tokens = ${fits('tokens')}, reserved_usd = ${fits('usd')}
     from delta d join locked l using (budget_id) where b.workspace_id = $1 and b.budget_id = d.budget_id`,
)

/** After all counters of missions: bookings lock those first, too. */
export function reservationWrites(
  workspaceId: number,
  changes: BudgetChanges | null,
  locked: readonly BudgetRecord[] = [],
): Bound[] {
  if (!changes) return []
  const { reserved, released } = changes
  const holders = reserved.flatMap(({ by }) => by)
  const sums = reserved.flatMap(({ amount, budgetIds, by }) => {
    const usd = textOfPicos(amount.picos * BigInt(by.length))
    return budgetIds.map((budgetId) => ({ budgetId, tokens: amount.tokens * by.length, usd }))
  })
  const values = [
    released.map(({ sourceId }) => sourceId),
    released.map(({ generation }) => generation),
    holders.map(({ holderId }) => holderId),
    holders.map(({ generation }) => generation),
    reserved.flatMap(({ by }, i) => by.map(() => i + 1)),
    reserved.map(({ budgetIds }) => JSON.stringify(budgetIds)),
    reserved.map(({ amount }) => amount.tokens),
    reserved.map(({ amount }) => amount.usd),
    locked.map(({ budgetId }) => budgetId),
    sums.map(({ budgetId }) => budgetId),
    sums.map(({ tokens }) => tokens),
    sums.map(({ usd }) => usd),
  ]
  return [[settle, [workspaceId, ...values.map(arrayLiteral), reserved[0]?.at ?? 0]]]
}
