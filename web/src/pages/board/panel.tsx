import { lazy, Suspense } from 'react'
import { idCarriedBy } from '../../../../src/core/ids.ts'
import { useGo } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { shortName } from './words.ts'

// Not part of what a board needs to be shown.
const TaskPanel = lazy(() => import('../task/panel.tsx').then(({ TaskPanel }) => ({ default: TaskPanel })))

/** The chosen task beside the columns. It can be made a page. */
export function TaskBeside({ id, onClose }: { id: string; onClose: () => void }) {
  const card = useCard(id)
  const go = useGo()
  return (
    <SidePanel
      onClose={onClose}
      onExpand={() => go(`/tasks/${card?.key ?? id}`)}
      title={card ? shortName(id, card) : 'Task'}
    >
      {idCarriedBy(id) === null ? (
        <p className="text-body text-muted">No task has this address.</p>
      ) : (
        <Suspense fallback={<Skeleton rows={6} />}>
          <TaskPanel id={id} key={id} />
        </Suspense>
      )}
    </SidePanel>
  )
}
