import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { picosOf } from '../../../../src/pure/money.ts'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import { api } from '../../requests/api.ts'
import {
  type Amount,
  amount,
  amountsOf,
  amountText,
  type Budget,
  isNothing,
  limitProblems,
  PERIOD_WORDS,
} from '../../things/budget/budget.ts'
import { BudgetAmount, BudgetBar } from '../../things/budget/budget-bar.tsx'
import { LimitFields, type Limits } from '../../things/budget/limit-fields.tsx'
import { canTake, choiceWords } from '../../things/budget/move-amount.tsx'
import { raisedBy } from '../../things/budget/raised.ts'
import type { InboxDetail } from '../../things/inbox/kinds.ts'
import { budgetDraft } from '../../things/inbox/use-answer.ts'
import { type FormProps, sendWith, useRefusal } from './answer-forms.tsx'

/** The limits of what waits. Where none is known, one in dollars can be set. */
function amountsIn({ limit, budget, spent }: InboxDetail): Amount[] {
  if (limit) return amountsOf(limit)
  const [usd, tokens] = [spent?.costUsd ?? '0', String(spent?.tokensUsed ?? 0)]
  const { maxUsd, maxTokens } = budget ?? {}
  if (maxUsd === undefined && maxTokens === undefined)
    return [amount('usd', usd, '0', '0', spent?.isSimulated)]
  return [
    ...(maxUsd === undefined ? [] : [amount('usd', usd, '0', maxUsd, spent?.isSimulated)]),
    ...(maxTokens === undefined ? [] : [amount('tokens', tokens, '0', String(maxTokens))]),
  ].sort((a, b) => b.usedPercent - a.usedPercent)
}

/** What was spent, and more of it: a higher limit, or a part of another budget. */
export function BudgetForm(props: FormProps) {
  const { item } = props
  const [how, setHow] = useState<'raise' | 'move'>('raise')
  const amounts = amountsIn(item)
  return (
    <div className="flex flex-col gap-4">
      {amounts.map((one) => (
        <div className="flex flex-col gap-1.5" key={one.unit}>
          <p className="text-title">
            <BudgetAmount
              amount={one}
              {...(item.limit && { period: PERIOD_WORDS[item.limit.period].limit })}
            />
          </p>
          <BudgetBar
            amount={one}
            height={6}
            hue={one.usedPercent >= 100 ? 'bad' : 'go'}
            label={`Spent of the budget, in ${one.unit === 'usd' ? 'dollars' : 'tokens'}`}
          />
        </div>
      ))}
      {item.actions.includes('move') && (
        <div>
          <Segmented
            label="Where more comes from"
            onChange={setHow}
            options={[
              { value: 'raise', words: 'A higher limit' },
              { value: 'move', words: 'Another budget' },
            ]}
            value={how}
          />
        </div>
      )}
      {how === 'move' && item.limit ? (
        <MoveForm {...props} limit={item.limit} />
      ) : (
        <RaiseForm {...props} amounts={amounts} />
      )}
    </div>
  )
}

function RaiseForm({ item, onAnswer, form, amounts }: FormProps & { amounts: readonly Amount[] }) {
  const of = (unit: Amount['unit']) => amounts.find((one) => one.unit === unit)
  /** Doubled where it is spent; another limit stays. */
  const offered = (one: Amount | undefined) =>
    one === undefined
      ? ''
      : isNothing(one.limit) && isNothing(one.used)
        ? '5'
        : one.usedPercent >= 100
          ? raisedBy(2, one)
          : one.limit
  const { value: limits, set } = useDraft<Limits>(budgetDraft(item), {
    usd: offered(of('usd')),
    tokens: offered(of('tokens')),
  })
  const problems = limitProblems(limits)
  const tooLow = (unit: Amount['unit']) => {
    const one = of(unit)
    if (!one || limits[unit] === '' || problems[unit] !== null) return null
    return picosOf(limits[unit]) > picosOf(one.used)
      ? null
      : `${amountText(unit, one.used)} are spent already: set a higher limit.`
  }
  const low = { usd: tooLow('usd'), tokens: tooLow('tokens') }
  const missing = amounts.some(({ unit }) => limits[unit] === '') ? 'Write a limit.' : null
  const refusal = useRefusal() ?? problems.usd ?? problems.tokens ?? low.usd ?? low.tokens ?? missing
  const send = () => {
    if (refusal !== null) return
    const budget = {
      ...(of('usd') && { maxUsd: limits.usd }),
      ...(of('tokens') && { maxTokens: Number(limits.tokens) }),
    }
    onAnswer({ decision: 'raise', budget })
  }
  return (
    <form
      className="flex flex-wrap items-start gap-3"
      onKeyDown={sendWith(send)}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        send()
      }}
      ref={form}
    >
      <div className="w-80 max-w-full">
        <LimitFields
          labels={{ usd: 'New limit in dollars', tokens: 'New limit in tokens' }}
          limits={limits}
          onChange={set}
          only={amounts.map(({ unit }) => unit)}
          refused={low}
        />
      </div>
      <Button className="mt-6" disabledReason={refusal} kind="primary" shortcut="Ctrl Enter" type="submit">
        Raise and continue
      </Button>
    </form>
  )
}

/** A part of a budget that has some left. */
function MoveForm({ onAnswer, form, limit }: FormProps & { limit: Budget }) {
  const { data } = useQuery({
    queryKey: ['budgets-to-take-from', limit.id],
    queryFn: ({ signal }) => api().get('/budgets', { query: { limit: 200 }, signal }),
    gcTime: 0,
  })
  const sources = canTake(limit, data?.items ?? []).filter((one) =>
    amountsOf(one).some(({ left }) => !isNothing(left)),
  )
  const [chosen, setFrom] = useState<string | null>(null)
  const [limits, setLimits] = useState<Limits>({ usd: '', tokens: '' })
  const from = sources.find(({ id }) => id === chosen) ?? sources[0]
  const left = new Map(from && amountsOf(from).map((one) => [one.unit, one.left]))
  const units = amountsOf(limit)
    .map(({ unit }) => unit)
    .filter((unit) => left.has(unit))
  const problems = limitProblems(limits)
  const tooMuch = units.find(
    (unit) =>
      limits[unit] !== '' && problems[unit] === null && picosOf(limits[unit]) > picosOf(left.get(unit)!),
  )
  const missing = !from
    ? 'No other budget has something left.'
    : (problems.usd ??
      problems.tokens ??
      (tooMuch ? `Only ${amountText(tooMuch, left.get(tooMuch)!)} can be moved.` : null) ??
      (units.every((unit) => limits[unit] === '') ? 'Write how much is moved.' : null))
  const refusal = useRefusal() ?? missing
  const send = () => {
    if (refusal !== null || !from) return
    const move = {
      from: from.id,
      ...(units.includes('usd') && limits.usd !== '' && { usd: limits.usd }),
      ...(units.includes('tokens') && limits.tokens !== '' && { tokens: Number(limits.tokens) }),
    }
    onAnswer({ decision: 'move', move })
  }
  if (data && sources.length === 0)
    return <p className="text-row text-muted">No other budget of the same kind has something left.</p>
  return (
    <form
      className="flex flex-col items-start gap-3"
      onKeyDown={sendWith(send)}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        send()
      }}
      ref={form}
    >
      <div className="w-full max-w-120">
        <Field label="From the budget of">
          <Select
            onChange={setFrom}
            options={sources.map((one) => ({ value: one.id, words: choiceWords(one) }))}
            value={from?.id ?? ''}
          />
        </Field>
      </div>
      <div className="flex flex-wrap items-start gap-3">
        <div className="w-80 max-w-full">
          <LimitFields
            labels={{ usd: 'Dollars to move', tokens: 'Tokens to move' }}
            limits={limits}
            onChange={setLimits}
            only={units}
          />
        </div>
        <Button className="mt-6" disabledReason={refusal} kind="primary" shortcut="Ctrl Enter" type="submit">
          Move and continue
        </Button>
      </div>
    </form>
  )
}
