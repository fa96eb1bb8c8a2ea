import { useState } from 'react'
import { Problem } from '../../../../src/client/client.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { useHasDraft } from '../../parts/drafts.ts'
import { explainAct } from '../../parts/explain.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { estimateWords } from '../../things/mission/plan-version.tsx'
import type { Mission } from '../../things/mission/progress.tsx'
import { planEditName } from '../../things/mission/unsaved-edit.tsx'
import { useAct } from '../../things/use-act.ts'

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

/** What a person decides, bound to the version and the digest that are shown. */
function usePlanActs({ id, planVersion, planDigest, preview }: Mission) {
  const seen = {
    ...(planVersion === null ? {} : { planVersion }),
    ...(planDigest === null ? {} : { digest: planDigest }),
  }
  const approve = useAct(
    () =>
      api().post('/missions/:id/approve', {
        params: { id },
        body: { ...seen, ...(preview ? { preview: preview.digest } : {}) },
      }),
    `Version ${planVersion} is approved.`,
    { onRefused: say },
  )
  const reject = useAct(
    ({ comment, next }: { comment: string; next: 'fail' | 'replan' }) =>
      api().post('/missions/:id/reject', {
        params: { id },
        // biome-ignore lint/suspicious/noThenProperty: the name that the API has, on a value that is never awaited
        body: { ...seen, comment, then: next },
      }),
    `Version ${planVersion} is rejected.`,
    { onRefused: say },
  )
  return { approve, reject }
}

/** A plan waits for a decision. */
export function PlanDecision(props: {
  mission: Mission
  /** This version, with the descriptions of its tasks, is on the page. */
  isShown: boolean
  onShowPlan: () => void
}) {
  const { mission, isShown, onShowPlan } = props
  const { id, planVersion, preview, proposedVersion, state, approvedVersion, estimate } = mission
  const [asked, setAsked] = useState<Asked>(null)
  const waits = planVersion !== null && (proposedVersion !== null || approvedVersion === null)
  const { approve, reject } = usePlanActs(mission)
  const isOpen = waits && (state === 'awaiting_approval' || proposedVersion !== null)
  const refusal = approve.whyNot
  const isEdited = useHasDraft(planEditName(id))
  // Approval is of what is saved: over an edit that is not, saving comes first, and its button is in the editor.
  const canApprove = refusal === null && !isEdited
  useShortcuts('Mission', {
    a: {
      words: isShown ? 'Approve the plan' : 'Read the plan to approve it',
      run: () => (isShown ? approve.run() : onShowPlan()),
      isOff: !isOpen || !canApprove,
    },
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
        {isEdited && (
          <p className="text-row text-ask">
            Your edit is not saved: save it as the next version, then approve that.
          </p>
        )}
      </div>
      <div className="ml-auto flex flex-wrap justify-end gap-3">
        {proposedVersion === null && (
          <Button disabledReason={refusal} onClick={() => setAsked('replan')}>
            Ask for changes
          </Button>
        )}
        <Button disabledReason={refusal} onClick={() => setAsked('fail')} shortcut="r">
          Reject
        </Button>
        {isEdited ? (
          !isShown && (
            <Button kind="primary" onClick={onShowPlan}>
              Back to your edit
            </Button>
          )
        ) : isShown ? (
          <Button
            busy={approve.isBusy}
            disabledReason={refusal}
            kind="primary"
            onClick={() => approve.run()}
            shortcut="a"
          >
            Approve version {planVersion}
          </Button>
        ) : (
          <Button kind="primary" onClick={onShowPlan} shortcut="a">
            Read it to approve it
          </Button>
        )}
      </div>
      {asked && (
        <AskReason
          asked={asked}
          isProposal={proposedVersion !== null}
          missionId={id}
          onClose={() => setAsked(null)}
          onConfirm={(comment) => reject.run({ comment, next: asked })}
          version={planVersion}
        />
      )}
    </section>
  )
}

function AskReason(props: {
  asked: NonNullable<Asked>
  missionId: string
  version: number
  /** An approved plan is followed meanwhile. */
  isProposal: boolean
  onClose: () => void
  onConfirm: (comment: string) => void
}) {
  const { asked, missionId, version, isProposal, onClose, onConfirm } = props
  return (
    <ConfirmDialog
      confirm={asked === 'fail' ? 'Reject the plan' : 'Ask for changes'}
      draft={`${missionId} ${version}`}
      isDangerous={asked === 'fail' && !isProposal}
      onClose={onClose}
      onConfirm={onConfirm}
      open
      reason="required"
      text={
        asked === 'replan'
          ? 'The planner reads the reason and makes another plan.'
          : isProposal
            ? 'The mission continues with the plan that was approved before.'
            : 'The mission ends as failed.'
      }
      title={
        asked === 'fail' ? `Reject version ${version}?` : `What should version ${version + 1} do differently?`
      }
    />
  )
}
