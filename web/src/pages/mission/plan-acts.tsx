import { lazy, Suspense, useState } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { useSession } from '../../requests/session.ts'
import type { Mission } from '../../things/mission/progress.tsx'

const AddTask = lazy(() => import('./plan-add-task.tsx').then(({ AddTask }) => ({ default: AddTask })))

/** What changes the work of a mission while it runs: another plan, or one more task. */
export function PlanActs({ mission }: { mission: Mission }) {
  const { id, stateType, approvedVersion, closedBy } = mission
  const go = useGo()
  const { whyNot } = useSession()
  const [isAsked, setAsked] = useState(false)
  if (stateType === 'terminal' || approvedVersion === null) return null
  const refusal = whyNot('operate') ?? (closedBy.includes('cancelling') ? 'It is being cancelled.' : null)
  return (
    <>
      <Button disabledReason={refusal} icon="edit" onClick={() => go(`/missions/${id}?view=plan&edit=1`)}>
        Change the plan
      </Button>
      <Button disabledReason={refusal} icon="plus" onClick={() => setAsked(true)}>
        Add a task
      </Button>
      {isAsked && (
        <Suspense>
          <AddTask mission={mission} onClose={() => setAsked(false)} />
        </Suspense>
      )}
    </>
  )
}
