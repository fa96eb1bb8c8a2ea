import { CannotPrepare } from '../cannot-prepare.ts'
import type { ExecutorContext } from '../context.ts'
import { type EarlierWork, missingText } from './earlier-work.ts'

/** For so long a task is left to the nodes that have its work. */
const LEFT_TO_OTHERS_MS = 10 * 60_000
const SHORTEST_LEAVE_MS = 15_000

/** Throws while another node may have the work. No attempt is spent; after that time this node does what it can. */
export function leaveToOthers(
  { node }: ExecutorContext,
  work: Pick<EarlierWork, 'agent' | 'generation' | 'node' | 'finishedAt'>,
  why: string,
): void {
  if (work.node === node.name || work.finishedAt === null) return
  const leftMs = work.finishedAt + LEFT_TO_OTHERS_MS - Date.now()
  if (leftMs <= 0) return
  // Longer and longer, so that ten minutes are few generations.
  const waitMs = Math.min(Math.max(SHORTEST_LEAVE_MS, LEFT_TO_OTHERS_MS - leftMs), leftMs)
  throw new CannotPrepare(
    'work_elsewhere',
    missingText(work, why),
    new Date(Date.now() + waitMs).toISOString(),
  )
}
