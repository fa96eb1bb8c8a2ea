import { Chip } from '../../parts/chip.tsx'
import { useClock } from '../../parts/clock.ts'
import { exactText } from '../../parts/wording.ts'
import {
  amountsOf,
  type Budget,
  barHue,
  endText,
  figureText,
  nameOfBudget,
  PERIOD_WORDS,
  type Projection,
  periodText,
  SCOPE_WORDS,
  SCOPES,
  stateOf,
} from '../../things/budget/budget.ts'
import { BudgetAmount, BudgetBar } from '../../things/budget/budget-bar.tsx'
import type { Asked } from '../../things/budget/budget-dialogs.tsx'
import { BudgetMenu } from '../../things/budget/budget-menu.tsx'
import { PaceLine } from '../../things/budget/pace-line.tsx'
import { ofScope } from './order.ts'

interface Shown {
  budgets: readonly Budget[]
  projection: Projection | undefined
  /** Where the keys are. */
  selected: string | null
  onOpen: (budget: Budget) => void
  onAsk: (asked: Asked) => void
}

export function BudgetList(props: Shown) {
  return (
    <div className="flex flex-col gap-6">
      {SCOPES.map((scope) => {
        const budgets = ofScope(props.budgets, scope)
        return budgets.length === 0 ? null : (
          <section aria-labelledby={`budgets-${scope}`} key={scope}>
            <h2 className="mb-2 text-row font-medium text-muted" id={`budgets-${scope}`}>
              {SCOPE_WORDS[scope].several}
            </h2>
            <ul className="rounded-card border border-line bg-raised">
              {budgets.map((budget) => (
                <BudgetRow {...props} budget={budget} key={budget.id} />
              ))}
            </ul>
          </section>
        )
      })}
    </div>
  )
}

function BudgetRow({ budget, budgets, projection, selected, onOpen, onAsk }: Shown & { budget: Budget }) {
  const isSelected = selected === budget.id
  const look = stateOf(budget)
  const name = nameOfBudget(budget)
  const isWorkspace = budget.scope === 'workspace'
  const amounts = amountsOf(budget)
  return (
    <li
      className={`grid grid-cols-[minmax(0,1fr)_auto] items-start gap-x-6 gap-y-2 px-4 py-3 not-first:border-t not-first:border-line @min-[900px]:grid-cols-[minmax(0,1.1fr)_minmax(0,1.7fr)_minmax(0,1.3fr)_9.5rem] ${isSelected ? 'bg-hover shadow-[inset_2px_0_0_var(--accent)]' : ''}`}
      data-budget={budget.id}
    >
      <div className="min-w-0">
        <button
          className="touchable block max-w-full truncate text-left text-body font-medium hover:text-accent hover:underline"
          onClick={() => onOpen(budget)}
          title={name}
          type="button"
        >
          {isWorkspace ? periodText(budget) : name}
        </button>
        <p className="text-row text-muted">
          <Period budget={budget} isNamed={!isWorkspace} />
        </p>
      </div>
      <div className="order-1 col-span-2 flex min-w-0 flex-col gap-2.5 @min-[900px]:order-none @min-[900px]:col-span-1 @min-[900px]:pt-1.5">
        {amounts.map((amount) => (
          <div className="flex flex-col gap-1" key={amount.unit}>
            <BudgetBar
              amount={amount}
              hue={barHue(budget)}
              label={`Used of ${name} ${PERIOD_WORDS[budget.period].limit}`}
            />
            <p className="flex flex-wrap justify-between gap-x-3 text-row">
              <BudgetAmount amount={amount} />
              <span className="text-muted tabular-nums">{figureText(amount.unit, amount.left)} left</span>
            </p>
          </div>
        ))}
        {amounts.length === 0 && <p className="text-row text-muted">No limit is set.</p>}
      </div>
      <div className="order-2 col-span-2 min-w-0 text-row @min-[900px]:order-none @min-[900px]:col-span-1">
        <p className="flex flex-wrap items-center gap-2">
          <Chip hue={look.hue}>{look.words}</Chip>
        </p>
        {look.detail && <p className="mt-1 wrap-anywhere text-muted">{look.detail}</p>}
        {look.detail === null && projection?.budgetId === budget.id && (
          <div className="mt-1">
            <PaceLine projection={projection} />
          </div>
        )}
      </div>
      <div className="@max-[900px]:col-start-2 @max-[900px]:row-start-1">
        <BudgetMenu all={budgets} budget={budget} onAsk={onAsk} {...(isSelected && { shortcut: 'r' })} />
      </div>
    </li>
  )
}

/** Its period, unless that is its name, and when the next one begins. */
function Period({ budget, isNamed }: { budget: Budget; isNamed: boolean }) {
  const now = useClock(60_000)
  const end = endText(budget, now)
  return (
    <>
      {isNamed && periodText(budget)}
      {isNamed && end && ', '}
      {end && budget.periodEnd && <span title={exactText(Date.parse(budget.periodEnd))}>{end}</span>}
    </>
  )
}
