import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { api } from '../../requests/api.ts'
import { useAct } from '../use-act.ts'
import { shortId } from './run.ts'

interface Stoppable {
  id: string
  agent: string
  taskId: string | null
}

/** Asks, then stops the run. There is no undo: its task waits for a person, who can put it back. */
export function AskStop({ run, onClose }: { run: Stoppable; onClose: () => void }) {
  const stop = useAct(
    (why: string) =>
      api().post('/runs/:id/cancel', {
        params: { id: run.id },
        ...(why === '' ? {} : { body: { reason: why } }),
      }),
    `Run ${shortId(run.id)} of ${run.agent} is being stopped.`,
  )
  return (
    <ConfirmDialog
      confirm="Stop the run"
      isDangerous
      onClose={onClose}
      onConfirm={(why) => stop.run(why)}
      open
      reason="optional"
      text={`${run.agent} is asked to end, and ended if it does not.${run.taskId === null ? '' : ' Its task then waits for a person, who can put it back.'}`}
      title={`Stop run ${shortId(run.id)} of ${run.agent}?`}
    />
  )
}
