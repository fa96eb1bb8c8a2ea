import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../../../../src/client/client.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { explainAct } from '../../parts/explain.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import type { Mission } from '../missions/progress.tsx'
import { estimateWords } from './plan-version.tsx'

type Asked = 'fail' | 'replan' | null

function say(error: unknown): void {
  const isOther = error instanceof Problem && error.status === 409
  const { title, detail } = explainAct(error)
  toast({
    kind: 'bad',
    title: isOther ? 'It changed while you were reading, so nothing was decided.' : title,
    text: detail,
  })
}

/** A plan waits for a decision. It is bound to the version and the digest that are shown. */
export function PlanDecision({ mission, onShowPlan }: { mission: Mission; onShowPlan: () => void }) {
  const { id, planVersion, planDigest, preview, proposedVersion, state, approvedVersion, estimate } = mission
  const { can } = useSession()
  const [asked, setAsked] = useState<Asked>(null)
  const waits = planVersion !== null && (proposedVersion !== null || approvedVersion === null)
  const seen = {
    ...(planVersion === null ? {} : { planVersion }),
    ...(planDigest === null ? {} : { digest: planDigest }),
  }
  const approve = useMutation({
    mutationFn: () =>
      api().post('/missions/:id/approve', {
        params: { id },
        body: { ...seen, ...(preview ? { preview: preview.digest } : {}) },
      }),
    onSuccess: () => toast({ kind: 'done', title: `Version ${planVersion} is approved.` }),
    onError: say,
  })
  const reject = useMutation({
    mutationFn: ({ comment, next }: { comment: string; next: 'fail' | 'replan' }) =>
      api().post('/missions/:id/reject', {
        params: { id },
        // biome-ignore lint/suspicious/noThenProperty: the name that the API has, on a value that is never awaited
        body: { ...seen, comment, then: next },
      }),
    onSuccess: () => toast({ kind: 'done', title: `Version ${planVersion} is rejected.` }),
    onError: say,
  })
  const isOpen = waits && (state === 'awaiting_approval' || proposedVersion !== null)
  const refusal = can('operate') ? null : 'This needs the right to operate.'
  useShortcuts('Mission', {
    a: { words: 'Approve the plan', run: () => approve.mutate(), isOff: !isOpen || refusal !== null },
    r: { words: 'Reject the plan', run: () => setAsked('fail'), isOff: !isOpen || refusal !== null },
  })
  if (!isOpen) return null
  return (
    <section
      aria-label="The plan"
      className="flex flex-wrap items-center gap-3 rounded-card bg-ask-tint px-4 py-3"
    >
      <div className="min-w-0 flex-1 basis-64">
        <h2 className="font-medium text-ask">Version {planVersion} of the plan is waiting for you</h2>
        <p className="text-row text-ask">
          {estimate && estimateWords(estimate)}
          {preview &&
            ` · ${preview.added.length} added, ${preview.changed.length} changed, ${preview.cancelled.length} cancelled, ${preview.kept.length} kept`}
        </p>
      </div>
      <Button kind="quiet" onClick={onShowPlan}>
        Read it
      </Button>
      {proposedVersion === null && (
        <Button disabledReason={refusal} onClick={() => setAsked('replan')}>
          Ask for changes
        </Button>
      )}
      <Button disabledReason={refusal} onClick={() => setAsked('fail')} shortcut="r">
        Reject
      </Button>
      <Button
        busy={approve.isPending}
        disabledReason={refusal}
        kind="primary"
        onClick={() => approve.mutate()}
        shortcut="a"
      >
        Approve version {planVersion}
      </Button>
      {asked && (
        <ConfirmDialog
          confirm={asked === 'fail' ? 'Reject the plan' : 'Ask for changes'}
          isDangerous={asked === 'fail' && proposedVersion === null}
          onClose={() => setAsked(null)}
          onConfirm={(comment) => reject.mutate({ comment, next: asked })}
          open
          reason="required"
          text={
            asked === 'replan'
              ? 'The planner reads the reason and makes another plan.'
              : proposedVersion === null
                ? 'The mission ends as failed.'
                : 'The mission continues with the plan that was approved before.'
          }
          title={
            asked === 'fail'
              ? `Reject version ${planVersion}?`
              : `What should version ${planVersion! + 1} do differently?`
          }
        />
      )}
    </section>
  )
}
