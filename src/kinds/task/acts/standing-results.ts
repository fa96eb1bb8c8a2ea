import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { resultHeads, resultSummaries } from '../postgres/result-pages.ts'
import type { TaskRecord } from '../record.ts'

/** The summary and the reference of the result that is accepted, or awaits a verdict. */
export async function standingResult(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  { id, epoch, resultHash }: TaskRecord,
): Promise<{ summary: string | null; workProductRef: string | null }> {
  const heads = resultHash === null ? [] : await resultHeads(kernel.store.readers, workspaceId, id)
  const standing = heads.findLast((one) => one.epoch === epoch && one.accepted !== false)
  return { summary: standing?.summary ?? null, workProductRef: standing?.ref ?? null }
}

/** The same summaries of many tasks, in one read. */
export async function standingSummaries(
  kernel: ServerKernel,
  workspaceId: number,
  tasks: readonly { record: TaskRecord }[],
): Promise<(record: TaskRecord) => string | null> {
  const handedIn = tasks.map(({ record }) => record).filter(({ resultHash }) => resultHash !== null)
  const found =
    handedIn.length === 0 ? [] : await resultSummaries(kernel.store.readers, workspaceId, handedIn)
  const summaries = new Map(found.map(({ taskId, summary }) => [taskId, summary]))
  return ({ id }) => summaries.get(id) ?? null
}
