import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { showRefusal } from '../../parts/show-refusal.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import type { Mission } from '../../things/mission/progress.tsx'

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
  const { whyNot } = useSession()
  const go = useGo()
  const [isCancelAsked, setCancelAsked] = useState(false)
  const { mutate, isPending } = useMutation({
    mutationFn: ({ act, reason }: { act: Act; reason?: string }) =>
      api().post(`/missions/:id/${act}`, { params: { id }, body: reason ? { reason } : {} }),
    onSuccess: (made, { act }) => {
      toast({ kind: 'done', title: DONE[act] })
      if (act === 'clone') go(`/missions/${made.id}`)
    },
    onError: showRefusal,
  })
  const refusal = whyNot('operate')
  const hasEnded = stateType === 'terminal'
  const isPaused = state === 'paused'
  const isStopping = closedBy.includes('cancelling')
  const toggle = isPaused ? 'resume' : 'pause'
  useShortcuts('Mission', {
    p: {
      words: isPaused ? 'Resume the mission' : 'Pause the mission',
      run: () => mutate({ act: toggle }),
      isOff: hasEnded || refusal !== null,
    },
  })
  return (
    <>
      {!hasEnded && (
        <Button
          busy={isPending}
          disabledReason={refusal ?? (isStopping ? 'It is being cancelled.' : null)}
          icon={isPaused ? 'play' : 'pause'}
          onClick={() => mutate({ act: toggle })}
          shortcut="p"
        >
          {isPaused ? 'Resume' : 'Pause'}
        </Button>
      )}
      {tasksFailed > 0 && (
        <Button
          busy={isPending}
          disabledReason={refusal}
          icon="retry"
          onClick={() => mutate({ act: 'retry' })}
        >
          Retry what failed
        </Button>
      )}
      <Menu
        groups={[
          [
            {
              words: 'Make a copy',
              icon: 'copy',
              run: () => mutate({ act: 'clone' }),
              disabledReason: refusal,
            },
          ],
          [
            {
              words: 'Cancel the mission',
              icon: 'cancel',
              isDangerous: true,
              run: () => setCancelAsked(true),
              disabledReason: refusal ?? (hasEnded ? 'It has ended.' : null),
            },
          ],
        ]}
        trigger={<IconButton icon="more" label="More actions" />}
      />
      <ConfirmDialog
        confirm="Cancel the mission"
        draft={id}
        isDangerous
        onClose={() => setCancelAsked(false)}
        onConfirm={(reason) => mutate({ act: 'cancel', reason })}
        open={isCancelAsked}
        reason="optional"
        text="All its open tasks are cancelled. This cannot be undone."
        title={`Cancel “${title}”?`}
      />
    </>
  )
}
