import { picosOf } from '../../../../src/pure/money.ts'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../use-act.ts'
import {
  type Amount,
  amountsOf,
  type Budget,
  barHue,
  exactAmount,
  limitProblems,
  nameOfBudget,
  PERIOD_WORDS,
} from './budget.ts'
import { BudgetAmount, BudgetBar } from './budget-bar.tsx'
import { FormDialog } from './form-dialog.tsx'
import { LimitFields, type Limits } from './limit-fields.tsx'
import { raisedBy } from './raised.ts'
import { Stopped } from './stopped.tsx'

const FACTORS = [
  { factor: 1.25, words: '+ 25 %' },
  { factor: 1.5, words: '+ 50 %' },
  { factor: 2, words: 'Double' },
] as const

const isMore = (text: string, than: string) => picosOf(text) > picosOf(than)

/** A higher limit, and what goes on because of it. */
export function RaiseBudget({ budget, onClose }: { budget: Budget; onClose: () => void }) {
  const amounts = amountsOf(budget)
  const of = (unit: Amount['unit']) => amounts.find((one) => one.unit === unit)
  const [usd, tokens] = [of('usd'), of('tokens')]
  const draft = useDraft<Limits>(`raise-budget:${budget.id}`, {
    usd: usd?.limit ?? '',
    tokens: tokens?.limit ?? '',
  })
  const limits = draft.value
  const discard = () => {
    draft.drop()
    onClose()
  }
  const isRaised = (unit: keyof Limits, before: Amount | undefined) =>
    before !== undefined && limits[unit] !== '' && isMore(limits[unit], before.limit)
  const raise = useAct(
    () =>
      api().patch('/budgets/:id', {
        params: { id: budget.id },
        ifMatch: `"${budget.version}"`,
        body: {
          ...(isRaised('usd', usd) && { maxUsd: limits.usd }),
          ...(isRaised('tokens', tokens) && { maxTokens: Number(limits.tokens) }),
        },
      }),
    (after) => {
      discard()
      return {
        title: `The budget of ${inText(budget)} is raised.`,
        ...(budget.state === 'blocked' &&
          after.state !== 'blocked' && { text: 'What it had stopped goes on.' }),
      }
    },
    { onRefused: shownInPlace },
  )
  const problems = limitProblems(limits)
  const short = (['usd', 'tokens'] as const).find((unit) => {
    const amount = of(unit)
    return amount && limits[unit] !== '' && problems[unit] === null && !isMore(limits[unit], amount.used)
  })
  const missing =
    problems.usd ??
    problems.tokens ??
    (short
      ? `${exactAmount(short, of(short)!.used)} are used already: set a higher limit.`
      : isRaised('usd', usd) || isRaised('tokens', tokens)
        ? null
        : 'Write a higher limit.')
  const write = (next: Limits) => {
    raise.reset()
    draft.set(next)
  }
  return (
    <FormDialog
      confirm="Raise"
      error={raise.error}
      isBusy={raise.isBusy}
      onClose={onClose}
      onConfirm={() => raise.run()}
      onDiscard={draft.isKept && discard}
      refusal={raise.whyNot ?? missing}
      title={`Raise the budget of ${inText(budget)}`}
    >
      {amounts.map((amount) => (
        <div className="flex flex-col gap-1.5 text-row" key={amount.unit}>
          <BudgetBar amount={amount} hue={barHue(budget)} label={`Used of ${nameOfBudget(budget)}`} />
          <BudgetAmount amount={amount} period={PERIOD_WORDS[budget.period].limit} />
        </div>
      ))}
      <LimitFields
        labels={{ usd: 'New limit in dollars', tokens: 'New limit in tokens' }}
        limits={limits}
        onChange={write}
        only={amounts.map(({ unit }) => unit)}
      />
      <div className="flex flex-wrap gap-2">
        {FACTORS.map(({ factor, words }) => (
          <Button
            key={words}
            onClick={() =>
              write({
                usd: usd ? raisedBy(factor, usd) : '',
                tokens: tokens ? raisedBy(factor, tokens) : '',
              })
            }
            size="small"
          >
            {words}
          </Button>
        ))}
      </div>
      <Stopped budget={budget} isRaised />
    </FormDialog>
  )
}

/** In the middle of a sentence. */
const inText = (budget: Budget) =>
  budget.scope === 'workspace' ? 'the workspace' : `“${nameOfBudget(budget)}”`
