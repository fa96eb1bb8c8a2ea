import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { api } from '../../requests/api.ts'
import { draftFrom } from '../../things/mission/plan-edit/plan-draft.ts'
import { PlanEditor } from '../../things/mission/plan-edit/plan-editor.tsx'
import { problemsIn } from '../../things/mission/plan-edit/plan-problems.ts'
import { isRecord, type Json } from '../../things/mission/plan-edit/plan-value.ts'
import { usePlanDraft } from '../../things/mission/plan-edit/use-plan-draft.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import { planEditName } from '../../things/mission/unsaved-edit.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { PlanNewer } from './plan-newer.tsx'

/** A version of a mission's plan while it is edited. Saving makes the next version of it, which is what can be approved then. */
export function MissionPlanEditor(props: {
  mission: Mission
  version: number
  plan: unknown
  /** The version that saving makes. */
  next: number
  /** Edits the newest version in place of this one. */
  onNewest: () => void
  onClose: () => void
}) {
  const { mission, version, plan, next, onNewest, onClose } = props
  const { id, planVersion, approvedVersion } = mission
  const drafting = usePlanDraft(planEditName(id), version, () =>
    draftFrom(isRecord(plan) ? plan : { tasks: [] }),
  )
  const { draft, isEdited } = drafting
  const newest = planVersion ?? version
  const close = () => {
    drafting.drop()
    onClose()
  }
  const save = useAct(
    (sent: Json) =>
      api().put('/missions/:id/plan', {
        params: { id },
        // The version that is on the page: a later one is not overwritten.
        query: { planVersion: String(newest) },
        body: JSON.stringify(sent),
      }),
    ({ planVersion: saved }) => {
      close()
      return `Saved as version ${saved}.`
    },
    { onRefused: shownInPlace },
  )
  const whyNot =
    save.whyNot ??
    (draft.fault
      ? `The YAML cannot be read from line ${draft.fault.line}.`
      : isEdited
        ? null
        : 'Nothing was changed yet.')
  const submit = () => {
    if (whyNot !== null || save.isBusy) return
    // What was typed a moment ago is saved, too, or found to be unreadable.
    drafting.settle()
    const now = drafting.latest()
    if (now.fault === null) save.run(now.plan)
  }
  useShortcuts('Plan', {
    'Mod+Enter': { words: 'Save the plan', run: submit, isOff: whyNot !== null },
  })
  // Once it is edited again, its problems may be others.
  const refused = save.asked === draft.plan ? problemsIn(save.error) : null
  return (
    <form
      aria-label={`Edit version ${version}`}
      className="flex flex-col gap-3"
      onSubmit={(event) => event.preventDefault()}
    >
      {approvedVersion !== null && (
        <p className="text-row text-muted">
          The mission goes on with version {approvedVersion} until yours is approved. What has ended stays as
          it is, and what was begun goes on unless you cancel it.
        </p>
      )}
      {newest !== version && (
        <PlanNewer
          mine={version}
          missionId={id}
          newest={newest}
          onTake={() => {
            drafting.drop()
            onNewest()
          }}
        />
      )}
      <PlanEditor drafting={drafting} isRunning={approvedVersion !== null} refused={refused} />
      {save.error && problemsIn(save.error) === null && <ProblemBox error={save.error} />}
      {/* Below the padding of the page: a row must not be seen under it. */}
      <div className="sticky -bottom-12 z-20 flex flex-wrap items-center gap-2 border-t border-line bg-sunken py-3">
        <Button
          busy={save.isBusy}
          disabledReason={whyNot}
          kind="primary"
          onClick={submit}
          shortcut="Ctrl Enter"
        >
          Save as version {next}
        </Button>
        <Button onClick={close}>{isEdited ? 'Discard the edit' : `Back to version ${newest}`}</Button>
        {newest !== version ? (
          <span className="text-label font-medium text-ask">Version {newest} came meanwhile: see above.</span>
        ) : (
          isEdited && <span className="text-label text-muted">Kept in this tab until it is saved.</span>
        )}
      </div>
    </form>
  )
}
