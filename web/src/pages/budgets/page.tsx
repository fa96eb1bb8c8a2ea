import { useSearch } from '@tanstack/react-router'
import { type ComponentProps, useState } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { hasLimit } from '../../things/budget/budget.ts'
import { type Asked, BudgetDialogs } from '../../things/budget/budget-dialogs.tsx'
import { EditBudget } from '../../things/budget/edit-budget.tsx'
import { useBudgets, useProjection } from '../../things/budget/use-budgets.ts'
import { BudgetList } from './budget-list.tsx'
import { BudgetPanel } from './budget-panel.tsx'
import { inPageOrder } from './order.ts'
import { GROUPS, type Group, type PeriodBack } from './search.ts'
import { StopOrAllow } from './stop-or-allow.tsx'
import { UsageSection } from './usage.tsx'
import { useBudgetKeys } from './use-budget-keys.ts'
import { useUsage } from './use-usage.ts'

interface Place {
  by?: Group | undefined
  window?: PeriodBack | undefined
  budget?: string | undefined
}

/** What may be used, what was used, and how to stop it. */
export function Budgets() {
  const { by = 'mission', window = '30d', budget: opened } = useSearch({ from: '/budgets' })
  const go = useGo()
  const refusal = useSession().whyNot('operate')
  const list = useBudgets()
  const projection = useProjection()
  const usage = useUsage(by, window)
  const readAgain = () => Promise.all([list.refetch(), usage.read.refetch()])
  const [asked, setAsked] = useState<Asked | null>(null)
  const [isNew, setNew] = useState(false)
  // One that has no limit only says that all spending is stopped.
  const budgets = inPageOrder(list.items.filter((one) => hasLimit(one) || one.stoppedAt !== null))
  const isStopped = list.items.some((one) => one.scope === 'workspace' && one.stoppedAt !== null)
  const show = (next: Place) => {
    const place = { by, window, budget: opened, ...next }
    const usual = {
      by: place.by === 'mission' ? undefined : place.by,
      window: place.window === '30d' ? undefined : place.window,
    }
    go(`/budgets${writeSearch({ ...usual, budget: place.budget })}`, { replace: true })
  }
  const selected = useBudgetKeys({
    ...{ budgets, opened, refusal, onAsk: setAsked, onNew: () => setNew(true) },
    onOpen: (budget) => show({ budget }),
    onGroup: () => show({ by: GROUPS[(GROUPS.indexOf(by) + 1) % GROUPS.length] }),
  })
  const panel = budgets.find(({ id }) => id === opened)
  return (
    <Page
      actions={
        <>
          <StopOrAllow isStopped={isStopped} />
          <Button
            disabledReason={refusal}
            icon="plus"
            kind="primary"
            onClick={() => setNew(true)}
            shortcut="n"
            size="small"
          >
            New budget
          </Button>
        </>
      }
      panel={
        panel && (
          <BudgetPanel
            all={budgets}
            budget={panel}
            key={panel.id}
            onAsk={setAsked}
            onClose={() => show({ budget: undefined })}
          />
        )
      }
      title="Budgets"
    >
      {list.data === undefined && usage.read.data === undefined ? (
        // One sentence for all of it.
        <Loading
          read={{ data: undefined, error: list.error ?? usage.read.error, refetch: readAgain }}
          rowHeight={72}
          rows={6}
        />
      ) : (
        <div className="flex flex-col gap-10">
          <Limits
            budgets={budgets}
            list={list}
            onAsk={setAsked}
            onNew={() => setNew(true)}
            onOpen={({ id }) => show({ budget: id })}
            projection={projection.data}
            selected={selected}
          />
          <UsageSection by={by} onShow={show} usage={usage} window={window} />
        </div>
      )}
      <BudgetDialogs all={budgets} asked={asked} onClose={() => setAsked(null)} />
      {isNew && <EditBudget onClose={() => setNew(false)} />}
    </Page>
  )
}

function Limits({
  list,
  onNew,
  ...shown
}: ComponentProps<typeof BudgetList> & { list: ReturnType<typeof useBudgets>; onNew: () => void }) {
  const refusal = useSession().whyNot('operate')
  if (list.data === undefined) return <Loading read={list} rowHeight={72} rows={4} />
  if (shown.budgets.length === 0) return <NoBudgets onNew={onNew} refusal={refusal} />
  return (
    <div className="@container flex flex-col gap-3">
      <BudgetList {...shown} />
      {list.data.nextCursor !== null && (
        <Button className="self-start" onClick={list.loadMore} size="small">
          Show more budgets
        </Button>
      )}
    </div>
  )
}

const NoBudgets = ({ refusal, onNew }: { refusal: string | null; onNew: () => void }) => (
  <Empty
    action={
      <Button disabledReason={refusal} kind="primary" onClick={onNew}>
        Set a budget
      </Button>
    }
    drawing="coins"
    text="A budget stops work in the middle when its dollars or tokens are used, and asks you."
    title="Nothing limits spending here"
  />
)
