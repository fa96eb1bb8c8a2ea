import type { TokenUsage } from '../kinds/run/rules/usage.ts'
import { efficiencyOf, warnOfEfficiency } from '../kinds/usage/rules/efficiency.ts'
import type { ExecutorContext } from './context.ts'
import type { Held } from './holding.ts'
import type { KeptWork } from './work/keep-work.ts'

/** Before a result is accepted, its tokens are compared with the lines it changed. */

interface Handing {
  workspaceId: number
  runId: string
  agent: string
  held: Held | null
}

/** `usage`: what the program said at its end; null: what is known so far. */
export async function checkEfficiency(
  { kernel }: ExecutorContext,
  { workspaceId, runId, agent, held }: Handing,
  { work }: KeptWork,
  usage: TokenUsage | null,
): Promise<void> {
  if (!work || held?.purpose !== 'work') return
  const { store } = kernel
  const [[task], run, spent] = await Promise.all([
    store.tasksById(workspaceId, [held.taskId]),
    store.runs.find(workspaceId, runId),
    store.runs.usageOfTask(workspaceId, held.taskId),
  ])
  const known = { inputTokens: run?.inputTokens ?? 0, outputTokens: run?.outputTokens ?? 0 }
  const own = usage ?? known
  const projectId = task?.record.projectId ?? 0
  const tokensPerLine = projectId === 0 ? null : await store.projects.tokensPerLine(workspaceId, projectId)
  const done = {
    ...{ insertions: work.whole.insertions, deletions: work.whole.deletions },
    // What was booked of this run on its way is a part of it.
    inputTokens: Math.max(0, (spent.inputTokens ?? 0) - known.inputTokens) + own.inputTokens,
    outputTokens: Math.max(0, (spent.outputTokens ?? 0) - known.outputTokens) + own.outputTokens,
  }
  const found = efficiencyOf(done, tokensPerLine)
  if (found?.isLow)
    await kernel.step({ workspaceId }, warnOfEfficiency({ taskId: held.uuid, agent, runId }, found))
}
