import { useState } from 'react'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useSession } from '../../requests/session.ts'
import {
  amountsOf,
  type Budget,
  barHue,
  figureText,
  hasLimit,
  nameOfBudget,
  PERIOD_WORDS,
  periodText,
  type Scope,
  stateOf,
} from './budget.ts'
import { BudgetAmount, BudgetBar } from './budget-bar.tsx'
import { type Asked, BudgetDialogs } from './budget-dialogs.tsx'
import { BudgetMenu } from './budget-menu.tsx'
import { EditBudget } from './edit-budget.tsx'
import { useBudgetsOf } from './use-budgets.ts'

/** What is left for one thing, and the way to give it more. */
export function BudgetsOf({ scope, scopeId }: { scope: Scope; scopeId: string }) {
  const { data } = useBudgetsOf(scope, scopeId)
  const refusal = useSession().whyNot('operate')
  const [asked, setAsked] = useState<Asked | null>(null)
  const [isNew, setNew] = useState(false)
  const budgets = (data?.items ?? []).filter(hasLimit)
  const add = (
    <Button disabledReason={refusal} icon="plus" kind="quiet" onClick={() => setNew(true)} size="small">
      {budgets.length === 0 ? 'Set a budget' : 'Another period'}
    </Button>
  )
  if (data === undefined) return null
  return (
    <div className="flex min-w-0 flex-col items-start gap-2">
      {budgets.length === 0 && (
        <p className="flex flex-wrap items-center gap-x-2 text-row text-muted">Nothing limits it. {add}</p>
      )}
      {budgets.length > 0 && (
        <>
          <ul className="flex w-full max-w-180 flex-col gap-3">
            {budgets.map((budget) => (
              <Line budget={budget} key={budget.id} onAsk={setAsked} />
            ))}
          </ul>
          {add}
        </>
      )}
      <BudgetDialogs all={budgets} asked={asked} onClose={() => setAsked(null)} />
      {isNew && <EditBudget about={{ scope, scopeId }} onClose={() => setNew(false)} />}
    </div>
  )
}

function Line({ budget, onAsk }: { budget: Budget; onAsk: (asked: Asked) => void }) {
  const look = stateOf(budget)
  const amounts = amountsOf(budget)
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-4 gap-y-1 text-row">
      <div className="flex min-w-0 flex-col gap-2">
        {amounts.map((amount) => (
          <div className="flex flex-col gap-1" key={amount.unit}>
            <BudgetBar
              amount={amount}
              height={6}
              hue={barHue(budget)}
              label={`Used of ${nameOfBudget(budget)} ${PERIOD_WORDS[budget.period].limit}`}
            />
            <p className="flex flex-wrap justify-between gap-x-3">
              <span>
                <BudgetAmount amount={amount} period={PERIOD_WORDS[budget.period].limit} />
              </span>
              <span className="text-muted tabular-nums">{figureText(amount.unit, amount.left)} left</span>
            </p>
          </div>
        ))}
        {look.detail && (
          <p className="flex flex-wrap items-center gap-x-2 wrap-anywhere text-muted">
            <Chip hue={look.hue}>{look.words}</Chip> {look.detail}
          </p>
        )}
        <PageLink
          aria-label={`Budget of ${nameOfBudget(budget)}, ${periodText(budget)}: open it`}
          className="touchable self-start text-label text-accent hover:underline"
          to={`/budgets?budget=${budget.id}`}
        >
          Pace and rules
        </PageLink>
      </div>
      <BudgetMenu all={[budget]} budget={budget} onAsk={onAsk} />
    </li>
  )
}
