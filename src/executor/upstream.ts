import type { RunKernel } from '../door/server-kernel.ts'
import { evenShare } from '../kinds/run/prompts/share.ts'
import { idCarriedBy } from '../pure/ids.ts'
import { branchOf } from './folders/places.ts'
import type { MergeConflict, UpstreamWork } from './folders/upstream-work.ts'

/** What a task gets from the tasks whose results are handed on to it. */

/** Of all results together; each has an equal share, and what a short one leaves goes to the longer ones. */
const LONGEST_OUTPUTS = 32 * 1024
const LONGEST_SUMMARY = 2_000
/** A join of thousands gets the first of them; the others can be read by their ids. */
const MOST_OUTPUTS = 100

/** Where the whole result can be read, with the key of the run. */
const pathOf = (uuid: string) => `/api/v1/tasks/${uuid}/results`

/** Summary, reference and as much of the result as fits. Edges that only give an order hand on nothing. */
export async function upstreamOutputs(kernel: RunKernel, workspaceId: number, taskId: number) {
  const found = await upstreamResults(kernel, workspaceId, taskId)
  if (found.length === 0) return null
  const texts = found.map(({ accepted }) => JSON.stringify(accepted?.data ?? null))
  const longest = evenShare(
    texts.map(({ length }) => length),
    LONGEST_OUTPUTS,
  )
  return found.map(({ record, details, accepted }, i) => {
    const text = texts[i]!
    const isWhole = text.length <= longest
    return {
      task: record.key ?? record.uuid,
      title: details.title,
      state: record.state,
      summary: accepted?.summary?.slice(0, LONGEST_SUMMARY).toWellFormed() ?? null,
      workProductRef: accepted?.ref ?? null,
      result: isWhole ? (accepted?.data ?? null) : `${text.slice(0, longest).toWellFormed()} …`,
      ...(!isWhole && { wholeResult: pathOf(record.uuid) }),
    }
  })
}

async function upstreamResults(kernel: RunKernel, workspaceId: number, taskId: number) {
  const dependencies = await kernel.store.dependencies(workspaceId, taskId)
  const handedOn = dependencies.filter(({ kind }) => kind === 'data')
  const ids = handedOn.map(({ uuid }) => idCarriedBy(uuid)).filter((id) => id !== null)
  if (ids.length === 0) return []
  const tasks = await kernel.store.tasksById(workspaceId, ids.slice(0, MOST_OUTPUTS))
  return Promise.all(
    tasks.map(async ({ record, details }) => {
      const results = await kernel.store.results(workspaceId, record.id)
      return { record, details, accepted: results.findLast((one) => one.accepted === true) }
    }),
  )
}

/** The upstream tasks whose work may be in the same repository. */
export async function upstreamWork(
  kernel: RunKernel,
  workspaceId: number,
  taskId: number,
): Promise<UpstreamWork[]> {
  const found = await upstreamResults(kernel, workspaceId, taskId)
  return found.flatMap(({ record, details, accepted }) =>
    accepted
      ? [
          {
            ...{ taskUuid: record.uuid, number: String(record.id), title: details.title },
            ...{ commit: accepted.commit, branch: branchOf(record.uuid, accepted.generation) },
          },
        ]
      : [],
  )
}

/** What its agent has to merge itself, as text for the prompt. */
export const conflictsAsText = (conflicts: readonly MergeConflict[]): string =>
  conflicts
    .map(
      ({ title, branch, files }) =>
        `- ${title}: branch ${branch}, conflicts in ${files.join(', ') || 'its files'}`,
    )
    .join('\n')
