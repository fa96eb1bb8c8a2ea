import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import {
  type Amount,
  amountsOf,
  amountText,
  type Budget,
  barHue,
  exactAmount,
  isNothing,
  nameOfBudget,
  PERIOD_WORDS,
  pageOfScope,
  periodText,
  stateOf,
} from '../../things/budget/budget.ts'
import { BudgetBar } from '../../things/budget/budget-bar.tsx'
import type { Asked } from '../../things/budget/budget-dialogs.tsx'
import { BudgetMenu } from '../../things/budget/budget-menu.tsx'
import { PaceLine } from '../../things/budget/pace-line.tsx'
import { useProjection } from '../../things/budget/use-budgets.ts'

/** One budget to the last digit: what counts in it, its pace, and what was decided about it. */
export function BudgetPanel(props: {
  budget: Budget
  all: readonly Budget[]
  onAsk: (asked: Asked) => void
  onClose: () => void
}) {
  const { budget, all, onAsk, onClose } = props
  const look = stateOf(budget)
  const to = pageOfScope(budget.scope, budget.scopeId)
  return (
    <SidePanel
      onClose={onClose}
      title={`Budget of ${budget.scope === 'workspace' ? 'the workspace' : nameOfBudget(budget)}`}
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-wrap items-center gap-2">
          <Chip hue={look.hue}>{look.words}</Chip>
          <span className="text-row text-muted">{periodText(budget)}</span>
          {to && (
            <PageLink className="touchable text-row text-accent hover:underline" to={to}>
              Open its page
            </PageLink>
          )}
          <span className="ml-auto">
            <BudgetMenu all={all} budget={budget} onAsk={onAsk} />
          </span>
        </div>
        {look.detail && <p className="text-body wrap-anywhere">{look.detail}</p>}
        {amountsOf(budget).map((amount) => (
          <Figures amount={amount} budget={budget} key={amount.unit} />
        ))}
        <Part title="Pace">
          <Pace id={budget.id} />
        </Part>
        <Part title="Rules">
          <Rules budget={budget} />
        </Part>
      </div>
    </SidePanel>
  )
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="flex flex-col gap-1 text-row">
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  )
}

function Pace({ id }: { id: string }) {
  const read = useProjection(id)
  return (
    <Loaded read={read} rowHeight={20} rows={2}>
      {(projection) => <PaceLine projection={projection} />}
    </Loaded>
  )
}

function Figures({ amount, budget }: { amount: Amount; budget: Budget }) {
  const { unit, used, reserved, limit, left, isSimulated } = amount
  const rows = [
    { words: 'Limit', value: limit, note: PERIOD_WORDS[budget.period].limit },
    { words: 'Used', value: used, note: budget.period === 'none' ? '' : 'in this period' },
    ...(isNothing(reserved) ? [] : [{ words: 'Reserved', value: reserved, note: 'by work under way' }]),
    { words: 'Left', value: left, note: '' },
  ]
  return (
    <section
      aria-label={unit === 'usd' ? 'Dollars' : 'Tokens'}
      className="flex flex-col gap-3 rounded-card border border-line bg-raised p-4"
    >
      <p className="text-figure font-semibold tabular-nums">
        {amountText(unit, used)}{' '}
        {isSimulated && <span className="text-title font-normal text-muted">simulated </span>}
        <span className="text-title font-normal text-muted">of {amountText(unit, limit)}</span>
      </p>
      <BudgetBar amount={amount} hue={barHue(budget)} label={`Used of ${nameOfBudget(budget)}, exactly`} />
      <dl className="grid grid-cols-[auto_auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-row">
        {rows.map(({ words, value, note }) => (
          <div className="contents" key={words}>
            <dt className="text-muted">{words}</dt>
            <dd className="text-right tabular-nums">{exactAmount(unit, value)}</dd>
            <dd className="text-muted">{note}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

const UNKNOWN_PRICE: Record<Budget['onUnknownPrice'], string> = {
  ask: 'A model without a price stops, and you are asked.',
  stop: 'A model without a price stops.',
  allow: 'A model without a price may work; its dollars are not counted.',
}

function Rules({ budget }: { budget: Budget }) {
  const { maxUsd, onUnknownPrice, allowedModels, countNotional, isPaced } = budget
  const { warnedAt, exceededAt, createdAt, updatedAt, period, periodStart, periodEnd } = budget
  const lines = [
    maxUsd !== null && UNKNOWN_PRICE[onUnknownPrice],
    maxUsd !== null &&
      (countNotional
        ? 'Subscriptions are counted at list prices, too.'
        : 'Subscriptions, which are not paid by use, are not counted in dollars.'),
    allowedModels.length > 0 && `Allowed without a price: ${allowedModels.join(', ')}.`,
    isPaced ? 'Work is slowed down so that it lasts.' : 'Work is handed out as fast as it can be done.',
  ].filter((one) => one !== false)
  return (
    <>
      <ul className="flex flex-col gap-0.5 text-muted">
        {lines.map((line) => (
          <li className="wrap-anywhere" key={line}>
            {line}
          </li>
        ))}
      </ul>
      <p className="mt-1 flex flex-wrap gap-x-3 text-label text-muted">
        {period !== 'none' && (
          <span>
            period began <Moment at={periodStart} />
          </span>
        )}
        {periodEnd && (
          <span>
            renewed <Moment at={periodEnd} />
          </span>
        )}
        {warnedAt && (
          <span>
            warned <Moment at={warnedAt} />
          </span>
        )}
        {exceededAt && (
          <span>
            spent <Moment at={exceededAt} />
          </span>
        )}
        <span>
          set <Moment at={createdAt} />
        </span>
        {updatedAt !== createdAt && (
          <span>
            changed <Moment at={updatedAt} />
          </span>
        )}
      </p>
    </>
  )
}
