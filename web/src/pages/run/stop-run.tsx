import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { explain } from '../../parts/explain.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { type Run, shortId } from './use-run.ts'

/** Asks, then stops the run. There is no undo: its task waits for a person, who can put it back. */
export function StopRun({ run }: { run: Run }) {
  const { can } = useSession()
  const [isAsked, setAsked] = useState(false)
  const reason = can('operate') ? null : 'This needs the right to operate.'
  const stop = useMutation({
    mutationFn: (why: string) =>
      api().post('/runs/:id/cancel', {
        params: { id: run.id },
        ...(why === '' ? {} : { body: { reason: why } }),
      }),
    onSuccess: () => toast({ kind: 'done', title: `Run ${shortId(run.id)} is being stopped.` }),
    onError: (error) => {
      const { title, detail } = explain(error)
      toast({ kind: 'bad', title, text: detail })
    },
  })
  useShortcuts('Run', { s: { words: 'Stop the run', run: () => setAsked(true), isOff: reason !== null } })
  return (
    <>
      <Button
        busy={stop.isPending}
        disabledReason={reason}
        icon="stop"
        onClick={() => setAsked(true)}
        shortcut="s"
        size="small"
      >
        Stop
      </Button>
      <ConfirmDialog
        confirm="Stop the run"
        isDangerous
        onClose={() => setAsked(false)}
        onConfirm={(why) => stop.mutate(why)}
        open={isAsked}
        reason="optional"
        text={`${run.agent} is asked to end, and ended if it does not.${run.taskId === null ? '' : ' Its task then waits for a person.'}`}
        title={`Stop run ${shortId(run.id)} of ${run.agent}?`}
      />
    </>
  )
}
