import type { Execution } from '../../../door/execution.ts'
import { slugOf, slugUnlessOwn } from '../../../door/named-agents.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { stepOnce } from '../../../kernel/once.ts'
import { Refused } from '../../../pure/errors.ts'
import { viewOf } from '../../../pure/fields.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf, ListAnswer } from '../../../pure/shapes.ts'
import type { HolderRequest, MessageToHolder } from '../../replies.ts'
import { requireRecord } from '../../task/acts/tasks.ts'
import { messagesTo, requestsTo } from '../../task/rules/holder.ts'
import {
  findRun,
  listRuns,
  type NamedRun,
  type RunFilter,
  runEventsAfter,
  usageOfTask,
} from '../postgres/run-reads.ts'
import { RUNTIME_FIELDS, type Run, SHOWN_RUN_FIELDS, TASK_SESSION_FIELDS } from '../record.ts'
import type { Spent } from '../rules/budget.ts'
import { requestCancel } from '../rules/run-life.ts'
import { resetSessions } from '../rules/runtime-state.ts'
import { runFolderOf } from '../shapes/folder.ts'
import * as shapes from '../shapes/runs.ts'
import type { Tokens } from '../shapes/tokens.ts'
import { isOver } from '../states.ts'

/** Views of runs, and operations on them. */

export async function requireRun(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  runId: string,
): Promise<NamedRun> {
  const run = await findRun(kernel.store.readers, workspaceId, runId)
  if (!run) throw new Refused('NOT_FOUND', `There is no run ${runId} in this workspace.`)
  return run
}

export const showRun = async (
  kernel: ServerKernel,
  caller: Caller,
  runId: string,
): Promise<AnswerOf<typeof shapes.RunView>> => runView(await requireRun(kernel, caller, runId))

/** The page size of a list of runs, and whether it includes the results. */
interface PartOfRuns {
  limit: number
  withResult: boolean
}

export async function runPage(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  filter: RunFilter,
  part: PartOfRuns,
): Promise<ListAnswer<AnswerOf<typeof shapes.ListedRun>>> {
  const { rows, more } = await listRuns(kernel.store.readers, workspaceId, filter, part)
  const items = rows.map(runView).map(({ result, ...view }) => ({
    ...view,
    ...(part.withResult ? { result } : {}),
  }))
  return { items, nextCursor: more ? rows.at(-1)!.id : null }
}

/** The runs of a task, and what they used together. */
export async function runsOfTask(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  before: string | undefined,
  part: PartOfRuns,
): Promise<AnswerOf<typeof shapes.TaskRuns>> {
  const { id: task } = await requireRecord(kernel, caller, uuid)
  const [page, { runs, costUsd, notionalUsd, ...used }] = await Promise.all([
    runPage(kernel, caller, { task, before }, part),
    usageOfTask(kernel.store.readers, caller.workspaceId, task),
  ])
  return { ...page, total: { runs, tokens: tokensView(used), costUsd, notionalUsd } }
}

export async function runTimeline(
  kernel: ServerKernel,
  caller: Caller,
  runId: string,
  afterSeq: number,
  limit: number,
): Promise<ListAnswer<AnswerOf<typeof shapes.RunEventView>>> {
  const { id } = await requireRun(kernel, caller, runId)
  const { rows, more } = await runEventsAfter(kernel.store.readers, caller.workspaceId, id, afterSeq, limit)
  return {
    items: rows.map(({ at, ...event }) => ({ ...event, at: instant(at) })),
    nextCursor: more ? String(rows.at(-1)!.seq) : null,
  }
}

const CANCEL_SHOWN_AFTER_MS = 2_000

/** Requests the run's node to stop it. Returns when the run has ended, or after a short wait. */
export async function cancelRun(
  kernel: ServerKernel,
  caller: Caller,
  runId: string,
  reason: string,
): Promise<AnswerOf<typeof shapes.RunView>> {
  const { id } = await requireRun(kernel, caller, runId)
  const isRequested = await stepOnce(kernel, caller, requestCancel(id, { reason, actor: caller.actor }))
  if (!isRequested) {
    const { status } = await requireRun(kernel, caller, runId)
    throw new Refused('WRONG_STATE', `The run has already ended (${status}).`)
  }
  return runView(await overWithin(kernel, caller, id, CANCEL_SHOWN_AFTER_MS))
}

/** The run once it has ended, or its current state after `waitMs`. */
export async function overWithin(
  kernel: ServerKernel,
  caller: Caller,
  runId: string,
  waitMs: number,
): Promise<NamedRun> {
  const until = performance.now() + waitMs
  for (;;) {
    const left = until - performance.now()
    const gone = new AbortController()
    const change = left > 0 ? kernel.changes.next(caller.workspaceId, left, gone.signal) : null
    const run = await requireRun(kernel, caller, runId)
    if (isOver(run.status) || !change || kernel.changes.isClosed) {
      gone.abort()
      return run
    }
    await change
  }
}

/** What is asked of the agent of a run: any node answers its heartbeats. */
export async function requestsOfRun(
  kernel: ServerKernel,
  { workspaceId, taskId, generation }: Run,
): Promise<{ requests: HolderRequest[]; messages: MessageToHolder[] }> {
  const [found] = taskId === null ? [] : await kernel.store.tasksById(workspaceId, [taskId])
  if (found?.record.generation !== generation) return { requests: [], messages: [] }
  const requests = requestsTo(found.record, await kernel.limits(workspaceId))
  return { requests, messages: messagesTo(found.record) }
}

export async function readRunLog(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  runId: string,
  range: { offset: number | 'tail'; limitBytes: number },
): Promise<AnswerOf<typeof shapes.LogView>> {
  const run = await requireRun(kernel, caller, runId)
  const page = run.logRef === null || run.logGoneAt !== null ? null : await pageOf(execution, run, range)
  const about = {
    runId,
    store: run.logStore,
    offset: range.offset === 'tail' ? 0 : range.offset,
    bytes: run.logBytes,
    sha256: run.logSha256,
    truncated: run.logTruncated,
  }
  if (!page)
    return {
      ...about,
      status: 'log_unavailable',
      content: '',
      nextOffset: null,
      spans: [],
      detail:
        run.logRef === null
          ? 'The run has no log: it never started.'
          : 'The log was deleted, or cannot be read on this node.',
    }
  return { ...about, status: isOver(run.status) ? 'available' : 'writing', ...page }
}

/** The last bytes of a log are found by its size, which any page has. */
async function pageOf(
  execution: Execution,
  run: Run,
  { offset, limitBytes }: { offset: number | 'tail'; limitBytes: number },
) {
  if (offset !== 'tail') return execution.readLog(run, { offset, limitBytes })
  const end = await execution.readLog(run, { offset: Number.MAX_SAFE_INTEGER, limitBytes: 1 })
  return end && execution.readLog(run, { offset: Math.max(0, end.bytes - limitBytes), limitBytes })
}

const viewOfRuntime = viewOf(RUNTIME_FIELDS, shapes.RuntimeStateView)

export async function showRuntimeState(
  kernel: ServerKernel,
  caller: Caller,
  name: string,
): Promise<AnswerOf<typeof shapes.RuntimeStateView>> {
  const slug = await slugOf(kernel, caller, name)
  const state = await kernel.store.runtime.state(caller.workspaceId, slug)
  if (!state)
    return {
      ...{
        agent: slug,
        adapterType: '',
        sessionId: null,
        state: {},
        lastRunId: null,
        lastRunStatus: null,
        lastError: null,
      },
      ...{ runs: 0, tokens: { input: 0, cachedInput: 0, cacheWrite: null, output: 0 }, costUsd: '0' },
      unknownRuns: 0,
      ...{ lastStartedAt: null, nextTimerAt: null, parkedUntil: null, updatedAt: null },
    }
  return {
    ...viewOfRuntime(state),
    tokens: {
      ...{ input: state.totalInputTokens, cachedInput: state.totalCachedInputTokens, cacheWrite: null },
      output: state.totalOutputTokens,
    },
    costUsd: state.totalCostUsd,
  }
}

const viewOfSession = viewOf(TASK_SESSION_FIELDS, shapes.TaskSessionView)

export async function showTaskSessions(
  kernel: ServerKernel,
  caller: Caller,
  name: string,
): Promise<ListAnswer<AnswerOf<typeof shapes.TaskSessionView>>> {
  const slug = await slugOf(kernel, caller, name)
  const sessions = await kernel.store.runtime.taskSessions(caller.workspaceId, slug)
  return {
    items: sessions.map(viewOfSession),
    nextCursor: null,
  }
}

export async function deleteSessions(
  kernel: ServerKernel,
  caller: Caller,
  name: string,
  taskKey: string | undefined,
): Promise<AnswerOf<typeof shapes.ResetSessionAnswer>> {
  const agent = await slugUnlessOwn(kernel, caller, name)
  const cleared = await stepOnce(kernel, caller, resetSessions(agent, taskKey ?? null, caller.actor))
  return { agent, cleared }
}

/** Unknown is null, never zero. What was written to caches is not kept by itself. */
function tokensView({ inputTokens, cachedInputTokens, outputTokens }: Omit<Spent, 'costUsd'>): Tokens | null {
  if (inputTokens === null || outputTokens === null) return null
  return { input: inputTokens, cachedInput: cachedInputTokens, cacheWrite: null, output: outputTokens }
}

const viewOfRun = viewOf(SHOWN_RUN_FIELDS, shapes.RunView)

function runView(run: NamedRun): AnswerOf<typeof shapes.RunView> {
  const { startedAt, finishedAt } = run
  const tokens = tokensView(run)
  return {
    ...viewOfRun(run),
    taskId: run.taskUuid,
    taskKey: run.taskKey,
    taskTitle: run.taskTitle,
    missionId: run.missionId,
    tokens: tokens && {
      ...tokens,
      ...(run.cachedOutputTokens !== null && { cachedOutput: run.cachedOutputTokens }),
    },
    usageBasis: tokens && run.usageBasis,
    folder: runFolderOf(run.folder),
    log: logOf(run),
    durationMs: startedAt === null || finishedAt === null ? null : finishedAt - startedAt,
  }
}

/** The location of the log is internal to the log store and not shown. */
const logOf = (run: Run): AnswerOf<typeof shapes.RunView>['log'] =>
  run.logStore === null
    ? null
    : {
        store: run.logStore,
        bytes: run.logBytes,
        sha256: run.logSha256,
        compressed: run.logCompressed,
        truncated: run.logTruncated,
        status: run.logGoneAt !== null ? 'log_unavailable' : isOver(run.status) ? 'available' : 'writing',
      }
