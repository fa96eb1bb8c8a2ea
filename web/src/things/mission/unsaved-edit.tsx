import { PageLink } from '../../links.tsx'
import { draftOf, useHasDraft } from '../../parts/drafts.ts'

/** The name under which the edit of a mission's plan is kept until it is saved or discarded. */
export const planEditName = (missionId: string) => `plan-edit:${missionId}`

type Approvable = { kind: string; about: { missionId: string | null } }

/** Whether this tab has an edit of the plan that is about to be approved: what is approved would be without it. */
export const useHasEdit = ({ kind, about }: Approvable) =>
  useHasDraft(planEditName(about.missionId ?? '')) && kind === 'plan'

/** The same, of many. */
export const hasEdit = ({ kind, about }: Approvable) =>
  kind === 'plan' && draftOf(planEditName(about.missionId ?? '')) !== undefined

/** Where a plan is approved outside of its mission. */
export const UnsavedEdit = ({ missionId }: { missionId: string }) => (
  <span className="block rounded-card bg-ask-tint px-3 py-2 text-row text-ask">
    You have an unsaved edit of this plan. What you approve here is without it.{' '}
    <PageLink className="font-medium underline" to={`/missions/${missionId}?view=plan&edit=1`}>
      Open your edit
    </PageLink>
  </span>
)
