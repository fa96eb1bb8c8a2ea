import { lazy, Suspense, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { api } from '../../requests/api.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import { useAct } from '../../things/use-act.ts'
import { PlanActs } from './plan-acts.tsx'

const BudgetOf = lazy(() =>
  import('../../things/budget/budget-of.tsx').then(({ BudgetOf }) => ({ default: BudgetOf })),
)

type Act = 'pause' | 'resume' | 'cancel' | 'retry' | 'clone'

const DONE: Record<Act, string> = {
  pause: 'The mission is paused.',
  resume: 'The mission continues.',
  cancel: 'The mission is being cancelled.',
  retry: 'Its failed tasks are queued again.',
  clone: 'This is the copy.',
}

/** What people do to a mission. Resuming undoes pausing; nothing undoes cancelling, so it asks first. */
export function MissionActs({ mission }: { mission: Mission }) {
  const { id, state, stateType, closedBy, tasksFailed, title } = mission
  const go = useGo()
  const [isCancelAsked, setCancelAsked] = useState(false)
  const [isBudgetAsked, setBudgetAsked] = useState(false)
  const { run, isBusy, whyNot } = useAct(
    ({ act, reason }: { act: Act; reason?: string }) =>
      api().post(`/missions/:id/${act}`, { params: { id }, body: reason ? { reason } : {} }),
    (made, { act }) => {
      if (act === 'clone') go(`/missions/${made.id}`)
      return DONE[act]
    },
  )
  const hasEnded = stateType === 'terminal'
  const isPaused = state === 'paused'
  const isStopping = closedBy.includes('cancelling')
  const toggle = isPaused ? 'resume' : 'pause'
  useShortcuts('Mission', {
    p: {
      words: isPaused ? 'Resume the mission' : 'Pause the mission',
      run: () => run({ act: toggle }),
      isOff: hasEnded || whyNot !== null,
    },
  })
  return (
    <>
      <PlanActs mission={mission} />
      {!hasEnded && (
        <Button
          busy={isBusy}
          disabledReason={whyNot ?? (isStopping ? 'It is being cancelled.' : null)}
          icon={isPaused ? 'play' : 'pause'}
          onClick={() => run({ act: toggle })}
          shortcut="p"
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
      {tasksFailed > 0 && (
        <Button busy={isBusy} disabledReason={whyNot} icon="retry" onClick={() => run({ act: 'retry' })}>
          Retry failed
        </Button>
      )}
      <Menu
        groups={[
          [
            {
              words: 'Make a copy',
              icon: 'copy',
              run: () => run({ act: 'clone' }),
              disabledReason: whyNot,
            },
            {
              ...{ words: 'Budget…', icon: 'budgets', run: () => setBudgetAsked(true) },
              disabledReason: whyNot ?? (hasEnded ? 'It has ended.' : null),
            },
          ],
          [
            {
              words: 'Cancel the mission',
              icon: 'cancel',
              isDangerous: true,
              run: () => setCancelAsked(true),
              disabledReason: whyNot ?? (hasEnded ? 'It has ended.' : null),
            },
          ],
        ]}
        trigger={<IconButton icon="more" label="More actions" />}
      />
      {isBudgetAsked && (
        <Suspense>
          <BudgetOf onClose={() => setBudgetAsked(false)} scope="mission" scopeId={id} />
        </Suspense>
      )}
      <ConfirmDialog
        confirm="Cancel the mission"
        draft={id}
        isDangerous
        onClose={() => setCancelAsked(false)}
        onConfirm={(reason) => run({ act: 'cancel', reason })}
        open={isCancelAsked}
        reason="optional"
        text="All its open tasks are cancelled. This cannot be undone."
        title={`Cancel “${title}”?`}
      />
    </>
  )
}
