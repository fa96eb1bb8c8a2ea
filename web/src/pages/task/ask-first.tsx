import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { toast } from '../../parts/toasts.tsx'
import { skipTask } from '../../requests/task-decisions.ts'
import { AskAgent, AskBudget, AskPriority, AskResult } from './ask-value.tsx'
import type { AskedAct, AskProps } from './asked-first.ts'
import { shortName } from './task-heading.tsx'
import { tellRefusal } from './tell.ts'

const because = (reason: string) => (reason === '' ? {} : { reason })

/** What has to be said before an act. */
export function AskFirst(props: AskProps & { act: AskedAct }) {
  const { act, task, now, onClose, run } = props
  const name = shortName(task)
  const asked = { open: true, onClose } as const
  switch (act) {
    case 'cancel':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Cancel task"
          isDangerous
          onConfirm={(reason) => run({ act, ...because(reason) })}
          reason="optional"
          text="Whoever works on it loses it at once. A cancelled task can be put back in the queue."
          title={`Cancel ${name}?`}
        />
      )
    case 'approve':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Approve result"
          onConfirm={() => run({ act })}
          text={
            task.summary ??
            'Your approval is of exactly the result that is shown. If it changes meanwhile, it is refused.'
          }
          title={`Approve the result of generation ${now.generation}?`}
        />
      )
    case 'reject':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Reject result"
          onConfirm={(reason) => run({ act, reason })}
          reason="required"
          text="It is tried again with your reason, or fails if no attempts are left."
          title={`Reject the result of ${name}?`}
        />
      )
    case 'reset':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Put back in the queue"
          onConfirm={(reason) => run({ act, ...because(reason) })}
          reason="optional"
          text="It begins anew: attempts count from zero. Earlier results stay in its lineage."
          title={`Put ${name} back in the queue?`}
        />
      )
    case 'skip':
      return (
        <ConfirmDialog
          {...asked}
          confirm="Skip task"
          onConfirm={(reason) =>
            skipTask(task.id, reason, now.generation).then(
              () => toast({ kind: 'done', title: `${name} skipped.` }),
              tellRefusal,
            )
          }
          reason="required"
          text="It ends without a result. What depends on it follows its own rule."
          title={`Skip ${name}?`}
        />
      )
    case 'priority':
      return <AskPriority {...props} />
    case 'agent':
      return <AskAgent {...props} />
    case 'budget':
      return <AskBudget {...props} />
    case 'complete':
      return <AskResult {...props} />
  }
}
