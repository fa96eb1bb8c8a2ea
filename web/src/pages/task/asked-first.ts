import type { Act } from '../../../../src/core/acts.ts'
import type { Asked } from '../../requests/acts.ts'
import type { ShownTask, Task } from './use-task.ts'

/** Acts before which something is asked: a reason, a value, or whether it is meant. */
const ASKED_FIRST = ['cancel', 'approve', 'reject', 'reset', 'priority', 'agent', 'complete', 'skip'] as const
type ActWithQuestion = (typeof ASKED_FIRST)[number]
export type AskedAct = ActWithQuestion | 'budget'

export const isAskedFirst = (act: Act): act is ActWithQuestion =>
  (ASKED_FIRST as readonly Act[]).includes(act)

export interface AskProps {
  task: Task
  now: ShownTask
  onClose: () => void
  run: (asked: Asked) => void
}
