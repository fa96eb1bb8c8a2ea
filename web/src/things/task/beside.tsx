import { lazy, Suspense } from 'react'
import { idCarriedBy } from '../../../../src/pure/ids.ts'
import { useGo } from '../../links.tsx'
import { useEntity } from '../../live/hooks.ts'
import { SidePanel } from '../../parts/side-panel.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { shortName } from './card-words.ts'

// Not needed to show a board.
const TaskPanel = lazy(() => import('./panel.tsx').then(({ TaskPanel }) => ({ default: TaskPanel })))

/** The chosen task beside the columns. It can be made a page. */
export function TaskBeside({ id, onClose }: { id: string; onClose: () => void }) {
  const card = useEntity('card', id)
  const go = useGo()
  // The address may name it by its key or number, which the panel finds as well.
  const name = idCarriedBy(id) === null ? id : shortName(id, card)
  return (
    <SidePanel
      onClose={onClose}
      onExpand={() => go(`/tasks/${encodeURIComponent(card?.key ?? id)}`)}
      title={name}
    >
      <Suspense fallback={<Skeleton rows={6} />}>
        <TaskPanel id={id} key={id} />
      </Suspense>
    </SidePanel>
  )
}
