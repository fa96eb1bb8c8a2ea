import { PageLink } from '../../links.tsx'
import { useClock } from '../../parts/clock.ts'
import { exactText } from '../../parts/wording.ts'
import {
  amountsOf,
  type Budget,
  barHue,
  figureText,
  hasLimit,
  PERIOD_WORDS,
  paceOf,
  periodText,
  stateOf,
} from '../../things/budget/budget.ts'
import { BudgetAmount, BudgetBar } from '../../things/budget/budget-bar.tsx'
import { useProjection } from '../../things/budget/use-budgets.ts'

/** The budgets of the workspace that have a limit, or say that all spending is stopped. */
export const shownBudgets = (budgets: readonly Budget[]): readonly Budget[] =>
  budgets.filter((one) => hasLimit(one) || one.stoppedAt !== null)

/** What is used, reserved and left of the workspace's budgets, and how fast it goes. A line for each, since its height is the charts'. */
export function WorkspaceBudgets({ budgets }: { budgets: readonly Budget[] }) {
  const { data: projection } = useProjection()
  const now = useClock(60_000)
  const pace = projection ? paceOf(projection, now) : null
  return (
    <ul
      aria-label="Budgets of the workspace"
      className="flex flex-col gap-2 rounded-card border border-line bg-raised px-4 py-2.5 text-row"
    >
      {budgets.map((budget) => (
        <Line budget={budget} key={budget.id}>
          {pace && projection?.budgetId === budget.id && (
            <span className={pace.isTooFast ? 'font-medium text-ask' : 'text-muted'}>
              {pace.pace},{' '}
              <span
                title={projection.exhaustedAt ? exactText(Date.parse(projection.exhaustedAt)) : undefined}
              >
                {pace.end}
              </span>
            </span>
          )}
        </Line>
      ))}
    </ul>
  )
}

function Line({ budget, children }: { budget: Budget; children: React.ReactNode }) {
  const [nearest] = amountsOf(budget)
  const look = stateOf(budget)
  const period = PERIOD_WORDS[budget.period].limit
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1">
      <PageLink
        aria-label={`Budget of the workspace, ${periodText(budget)}`}
        className="touchable shrink-0 font-medium hover:text-accent hover:underline"
        to={`/budgets?budget=${budget.id}`}
      >
        Budget
      </PageLink>
      {nearest && (
        <>
          <span className="min-w-40 flex-1">
            <BudgetBar
              amount={nearest}
              height={6}
              hue={barHue(budget)}
              label={`Used of the workspace ${period}`}
            />
          </span>
          <BudgetAmount amount={nearest} period={period} />
          <span className="text-muted tabular-nums">{figureText(nearest.unit, nearest.left)} left</span>
        </>
      )}
      {look.detail === null ? (
        children
      ) : (
        <span className="font-medium text-bad wrap-anywhere">{look.detail}</span>
      )}
    </li>
  )
}
