import { useState } from 'react'
import { picosOf } from '../../../../src/pure/money.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../use-act.ts'
import { amountsOf, amountText, type Budget, limitProblems, nameOfBudget, periodText } from './budget.ts'
import { FormDialog } from './form-dialog.tsx'
import { LimitFields, type Limits } from './limit-fields.tsx'

/** Where an amount of a budget can go: those that are limited in the same measure. */
export const canTake = (from: Budget, all: readonly Budget[]): Budget[] =>
  all.filter(
    (one) =>
      one.id !== from.id &&
      ((from.maxUsd !== null && one.maxUsd !== null) || (from.maxTokens !== null && one.maxTokens !== null)),
  )

/** Missions and tasks have titles that say nothing of what they are. */
const KIND_WORDS: Record<Budget['scope'], string> = {
  ...{ workspace: '', project: 'project ', agent: 'agent ', mission: 'mission ', task: 'task ' },
}

export const choiceWords = (budget: Budget) =>
  `${KIND_WORDS[budget.scope]}${nameOfBudget(budget)} (${periodText(budget).toLowerCase()}), ${amountsOf(
    budget,
  )
    .map(({ unit, left }) => `${amountText(unit, left)} left`)
    .join(', ')}`

/** A part of a limit goes to another budget, in one step. */
export function MoveAmount(props: { from: Budget; all: readonly Budget[]; onClose: () => void }) {
  const { from, all, onClose } = props
  const targets = canTake(from, all)
  const [to, setTo] = useState(targets[0]?.id ?? '')
  const [limits, setLimits] = useState<Limits>({ usd: '', tokens: '' })
  const target = targets.find(({ id }) => id === to)
  const both = (unit: keyof Limits) =>
    unit === 'usd'
      ? from.maxUsd !== null && target?.maxUsd != null
      : from.maxTokens !== null && target?.maxTokens != null
  const units = (['usd', 'tokens'] as const).filter(both)
  const left = new Map(amountsOf(from).map((amount) => [amount.unit, amount.left]))
  const problems = limitProblems(limits)
  const tooMuch = units.find(
    (unit) =>
      limits[unit] !== '' &&
      problems[unit] === null &&
      picosOf(limits[unit]) > picosOf(left.get(unit) ?? '0'),
  )
  const missing =
    target === undefined
      ? 'There is no other budget with a limit of the same kind.'
      : (problems.usd ??
        problems.tokens ??
        (tooMuch
          ? `Only ${amountText(tooMuch, left.get(tooMuch) ?? '0')} are neither used nor reserved.`
          : units.every((unit) => limits[unit] === '')
            ? 'Write how much is moved.'
            : null))
  const move = useAct(
    () =>
      api().post('/budgets/:id/move', {
        params: { id: from.id },
        body: {
          to,
          ...(units.includes('usd') && limits.usd !== '' && { usd: limits.usd }),
          ...(units.includes('tokens') && limits.tokens !== '' && { tokens: Number(limits.tokens) }),
        },
      }),
    ({ to: given }) => {
      onClose()
      return `Moved to the budget of ${nameOfBudget(given)}.`
    },
    { onRefused: shownInPlace },
  )
  return (
    <FormDialog
      confirm="Move"
      error={move.error}
      isBusy={move.isBusy}
      onClose={onClose}
      onConfirm={() => move.run()}
      refusal={move.whyNot ?? missing}
      text="This limit gets smaller, and the other one larger, in one step."
      title={`Move a part of the budget of ${nameOfBudget(from)}`}
    >
      <Field label="To the budget of">
        <Select
          onChange={(next) => {
            move.reset()
            setTo(next)
          }}
          options={targets.map((one) => ({ value: one.id, words: choiceWords(one) }))}
          value={to}
        />
      </Field>
      <LimitFields
        hints={{
          usd: left.has('usd') ? `${amountText('usd', left.get('usd')!)} can be moved.` : undefined,
          tokens: left.has('tokens')
            ? `${amountText('tokens', left.get('tokens')!)} can be moved.`
            : undefined,
        }}
        labels={{ usd: 'Dollars to move', tokens: 'Tokens to move' }}
        limits={limits}
        onChange={(next) => {
          move.reset()
          setLimits(next)
        }}
        only={units}
      />
    </FormDialog>
  )
}
