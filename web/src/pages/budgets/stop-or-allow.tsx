import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useBudgetActs } from '../../things/budget/use-budget-acts.ts'

/** For when money has to stop at once, and its way back. */
export function StopOrAllow({ isStopped }: { isStopped: boolean }) {
  const [isAsked, setAsked] = useState(false)
  const { stopAll, allowAll } = useBudgetActs()
  if (isStopped)
    return (
      <Button
        busy={allowAll.isBusy}
        disabledReason={allowAll.whyNot}
        icon="play"
        onClick={() => allowAll.run()}
        size="small"
      >
        Allow spending again
      </Button>
    )
  return (
    <>
      <Button
        busy={stopAll.isBusy}
        disabledReason={stopAll.whyNot}
        icon="stop"
        onClick={() => setAsked(true)}
        size="small"
      >
        Stop all spending
      </Button>
      <ConfirmDialog
        confirm="Stop all spending"
        draft="workspace"
        isDangerous
        onClose={() => setAsked(false)}
        onConfirm={(reason) => stopAll.run(reason)}
        open={isAsked}
        reason="optional"
        text="All runs of this workspace stop within seconds and keep their place, and nothing begins. Allowing it again lets them go on."
        title="Stop all spending in this workspace?"
      />
    </>
  )
}
