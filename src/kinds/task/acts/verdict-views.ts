import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { readVerdict } from '../../verification/rules/verdict.ts'
import type { TaskRecord } from '../record.ts'
import type { VerifiedTask } from '../shapes/tasks.ts'

/** Who judged the results of a task, and what they said. Most tasks are not judged, and cost no read. */
export async function verificationsView(
  kernel: ServerKernel,
  workspaceId: number,
  { id, review, state }: TaskRecord,
): Promise<AnswerOf<typeof VerifiedTask>> {
  if (review !== 'baton') return { verifications: [], verifiedBy: null, verifierScore: null }
  const rows = await kernel.store.verifications.views(workspaceId, id)
  const verifications = rows.map(({ answer, ...row }) => {
    const reading = answer === null ? null : readVerdict(answer)
    const {
      verdict = null,
      score = null,
      feedback = null,
      evidence = [],
    } = reading?.ok ? reading.verdict : {}
    return { ...row, verdict, score, feedback, evidence }
  })
  const last = verifications.findLast(({ verdict }) => verdict !== null)
  // Without a verification, Baton checked it.
  const byBaton = rows.length === 0 && state === 'completed'
  return {
    verifications,
    verifiedBy: last?.verifier ?? (byBaton ? 'baton' : null),
    verifierScore: last?.score ?? (byBaton ? 1 : null),
  }
}
