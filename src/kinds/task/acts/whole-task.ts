import type { ServerKernel } from '../../../door/server-kernel.ts'
import { unanswered, type Waiter } from '../../../kernel/commit-waiters.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { StoredTask } from '../../../kernel/store/store.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { isTerminal } from '../../../pure/states.ts'
import { isContractorSlug } from '../../agent/rules/contractors.ts'
import type { RunWork } from '../../run/record.ts'
import { type SpentOnTask, tokensIn } from '../../run/rules/budget.ts'
import { runFolderOf } from '../../run/shapes/folder.ts'
import { type Efficiency, efficiencyOf } from '../../usage/rules/efficiency.ts'
import { readVerdict } from '../../verification/rules.ts'
import { tasksAround } from '../postgres/graph.ts'
import { eligibleFor, isSimulated, verificationRows } from '../postgres/of-others.ts'
import type { TaskRecord } from '../record.ts'
import { NEIGHBOURS, type TaskInGraph, type VerifiedTask } from '../shapes/tasks.ts'
import { standingResult } from './standing-results.ts'
import { readTask, requireRecord } from './tasks.ts'
import { durationMs, planFieldsView, taskView } from './views.ts'

/** Who judged the results of a task, and what they said. Most tasks are not judged, and cost no read. */
async function verificationsView(
  kernel: ServerKernel,
  workspaceId: number,
  { id, verification, state }: TaskRecord,
): Promise<AnswerOf<typeof VerifiedTask>> {
  if (verification !== 'baton') return { verifications: [], verifiedBy: null, verifierScore: null }
  const rows = await verificationRows(kernel.store.readers, workspaceId, id)
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

/** Only work is taken by its type. */
const whoMayClaim = (kernel: ServerKernel, workspaceId: number, { record, details }: StoredTask) => {
  const { onlyAgent, capabilities, purpose } = record
  const taskType = purpose === 'work' ? details.taskType : null
  return eligibleFor(kernel.store.readers, workspaceId, onlyAgent, capabilities, taskType)
}

/** One task with all that is known of it. */

export async function showTask(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
): Promise<AnswerOf<typeof TaskInGraph>> {
  const task = await readTask(kernel, caller, uuid)
  const { record, details } = task
  const { workspaceId } = caller
  const isQueued = record.state === 'queued'
  const [around, verified, result, spent, runs, eligible, simulated] = await Promise.all([
    tasksAround(kernel.store.readers, workspaceId, record.id, NEIGHBOURS),
    verificationsView(kernel, workspaceId, record),
    standingResult(kernel, caller, record),
    kernel.store.runs.usageOfTask(workspaceId, record.id),
    kernel.store.runs.workOf(workspaceId, record.id),
    isQueued ? whoMayClaim(kernel, workspaceId, task) : null,
    isSimulated(kernel.store.readers, workspaceId, record.id),
  ])
  const perLine =
    record.projectId === 0 ? null : await kernel.store.projects.tokensPerLine(workspaceId, record.projectId)
  return Object.assign(taskView(task), planFieldsView(details.plan), around, verified, result, {
    sequenceNumber: details.plan?.sequenceNumber ?? null,
    lastAgent: record.agent,
    agentType: record.agent && (isContractorSlug(record.agent) ? 'contractor' : 'roster'),
    tokensUsed: tokensIn(spent),
    costUsd: spent.costUsd,
    notionalUsd: spent.notionalUsd,
    isSimulated: simulated,
    efficiency: efficiencyIn(runs, spent, perLine),
    durationMs: durationMs(record),
    eligible,
  })
}

/** By what the newest run that worked on a branch left there. */
function efficiencyIn(
  runs: readonly RunWork[],
  { inputTokens, outputTokens }: SpentOnTask,
  perLine: number | null,
): Efficiency | null {
  const works = runs.flatMap(({ folder }) => runFolderOf(folder)?.work ?? [])
  const [newest] = works
  if (!newest) return null
  const used = { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 }
  return efficiencyOf({ ...newest.whole, ...used }, perLine)
}

/** Returns when the task has ended, or after `waitMs`. */
export async function endedWithin(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  waitMs: number,
  waiter: Waiter,
): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    const left = until - performance.now()
    if (left <= 0) return
    const stop = new AbortController()
    const gone = AbortSignal.any([stop.signal, waiter.gone])
    // Subscribe before the query: an end that is committed between the query and the wait must not be missed.
    const change = kernel.changes.next(caller.workspaceId, left, gone)
    const isOver = await requireRecord(kernel, caller, uuid).then(
      ({ state }) => isTerminal(state),
      (error) => {
        stop.abort()
        throw error
      },
    )
    if (isOver || kernel.changes.isClosed) return stop.abort()
    await change
    if (waiter.gone.aborted) return unanswered(waiter, undefined)
    await waiter.confirm?.()
  }
}
