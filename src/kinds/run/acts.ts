import { included, numberIn, wantedId } from '../../door/asked.ts'
import { actsOf, type Call, type Door } from '../../door/door.ts'
import { requireAgent, slugOf, slugUnlessOwn } from '../../door/named-agents.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { commandAgent } from '../agent/acts/agents.ts'
import {
  cancelRun,
  deleteSessions,
  overWithin,
  readRunLog,
  requestsOfRun,
  requireRun,
  runPage,
  runsOfTask,
  runTimeline,
  showRun,
  showRuntimeState,
  showTaskSessions,
} from './acts/runs.ts'
import { WakeupRequests, wakeAgent, wakeupPage } from './acts/wakeups.ts'
import type { resetSessions, wakeAgent as wakeEndpoint } from './api/runs.ts'
import * as api from './api/runs.ts'
import type { InvocationView } from './shapes/told.ts'
import { RUN_STATES, type RunState } from './states.ts'

/** What a run was told. A run may read its own only: the prompts of others are none of its business. */
async function showInvocation(
  kernel: ServerKernel,
  caller: Caller,
  runId: string,
): Promise<AnswerOf<typeof InvocationView>> {
  const run = await requireRun(kernel, caller, runId)
  if (caller.run && caller.run.runId !== run.id)
    throw new Refused('FORBIDDEN', 'A run token reads only what its own run was told.')
  const kept = await kernel.store.runs.invocation(caller.workspaceId, run.id)
  const status = kept ? 'available' : run.startedAt === null ? 'not_started' : 'unavailable'
  return {
    runId: run.id,
    status,
    prompt: kept?.told.prompt ?? null,
    systemPrompt: kept?.told.systemPrompt ?? null,
    program: kept?.call?.program ?? null,
    request: kept?.call?.request ?? null,
  }
}

const USUAL_LOG_BYTES = 256 * 1024
const MOST_LOG_BYTES = 4 * 1024 * 1024
/** An accepted result is stored once its run is recorded as ended. */
const RESULT_WAIT_MS = 30_000

const partOfRuns = (query: { include?: string | undefined }, { limit }: { limit: number }) => ({
  limit,
  withResult: included(query.include, 'result').has('result'),
})

const wake = (door: Door, { params, body, caller }: Call<typeof wakeEndpoint>) =>
  wakeAgent(door.shared(WakeupRequests), caller, params.id, body)

const reset = ({ kernel }: Door, { params, body, caller }: Call<typeof resetSessions>) =>
  deleteSessions(kernel, caller, params.id, body.taskKey)

export const runActs = actsOf(api)({
  listRuns: ({ kernel }, { query, caller, page }) => {
    const filter = {
      agent: query.agent,
      task: wantedId(query.task),
      mission: wantedId(query.mission),
      errorCode: query.errorCode,
      source: query.source,
      statuses: statusesIn(query.status),
      before: page.after,
    }
    return runPage(kernel, caller, filter, partOfRuns(query, page))
  },
  listRunsOfAgent: async ({ kernel }, { params, query, caller, page }) => {
    const agent = await slugOf(kernel, caller, params.id)
    const filter = { agent, statuses: statusesIn(query.status), before: page.after }
    return runPage(kernel, caller, filter, partOfRuns(query, page))
  },
  listRunsOfTask: ({ kernel }, { params, query, caller, page }) =>
    runsOfTask(kernel, caller, params.id, page.after, partOfRuns(query, page)),
  readRun: ({ kernel }, { params, caller }) => showRun(kernel, caller, params.id),
  listEventsOfRun: ({ kernel }, { params, caller, page: { after = 0, limit } }) =>
    runTimeline(kernel, caller, params.id, after, limit),
  readInvocation: ({ kernel }, { params, caller }) => showInvocation(kernel, caller, params.id),
  readRunLog: ({ kernel, execution }, { params, query, caller }) => {
    const bytes = numberIn(query.tail ?? query.limitBytes) ?? USUAL_LOG_BYTES
    if (query.tail !== undefined && (query.offset !== undefined || query.limitBytes !== undefined))
      throw Refused.field('VALIDATION_FAILED', 'tail', 'goes without offset and limitBytes')
    return readRunLog(kernel, execution, caller, params.id, {
      offset: query.tail === undefined ? (numberIn(query.offset) ?? 0) : 'tail',
      limitBytes: Math.min(Math.max(bytes, 1), MOST_LOG_BYTES),
    })
  },
  cancelRun: ({ kernel }, { params, body, caller }) => cancelRun(kernel, caller, params.id, body.reason),
  deliverMessage: async ({ kernel, execution }, { params, body, caller }) => {
    const run = await requireRun(kernel, caller, params.id)
    if (caller.run?.runId !== params.id)
      throw new Refused('FORBIDDEN', 'Only the agent of a run may answer for it: send the token of the run.')
    const delivery = await execution.deliver(caller.workspaceId, params.id, body)
    if (delivery === 'unknown_run')
      throw new Refused('RUN_NOT_HERE', 'No run with this id waits for an answer.')
    if (delivery === 'busy')
      throw new Refused('TOO_MANY_MESSAGES', 'The run has not processed the earlier messages yet.')
    if (delivery === 'over') throw new Refused('WRONG_STATE', 'The run already has its answer.')
    if (body.kind === 'heartbeat') return { taken: true, ...(await requestsOfRun(kernel, run)) }
    const { status } = await overWithin(kernel, caller, params.id, RESULT_WAIT_MS)
    return { taken: true, status }
  },
  wakeAgent: wake,
  invokeHeartbeat: wake,
  listWakeups: ({ kernel }, { params, query, caller, page: { after: before = null, limit } }) => {
    const withPayload = included(query.include, 'payload').has('payload')
    return wakeupPage(kernel, caller, params.id, { before, limit, withPayload })
  },
  readRuntimeState: ({ kernel }, { params, caller }) => showRuntimeState(kernel, caller, params.id),
  listTaskSessions: ({ kernel }, { params, caller }) => showTaskSessions(kernel, caller, params.id),
  resetSessions: reset,
  resetSessionsOfRuntimeState: reset,
  listAdapters: ({ execution }, { caller: { workspaceId, rights } }) => {
    const adapters = execution.adapters(workspaceId)
    const mayConfigure = rights.has('configure_agents')
    const items = mayConfigure ? adapters : adapters.map((one) => ({ ...one, runsAs: null }))
    return { items, nextCursor: null }
  },
  testAgent: async ({ kernel, execution }, { params, caller }) => {
    const { record } = await requireAgent(kernel, caller, await slugUnlessOwn(kernel, caller, params.id))
    const checks = await execution.probe(caller.workspaceId, record)
    const failed = checks.flatMap(({ name, ok }) => (ok ? [] : [name]))
    if (record.registered) await commandAgent(kernel, caller, record.slug, { kind: 'tested', failed })
    return { agent: record.slug, ok: checks.every(({ ok }) => ok), checks }
  },
  previewPrompt: async ({ kernel, execution }, { params, caller }) => {
    const { record } = await requireAgent(kernel, caller, params.id)
    return { agent: record.slug, ...(await execution.preview(caller.workspaceId, record)) }
  },
})

function statusesIn(text: string | undefined): RunState[] | undefined {
  const names = text?.split(',')
  const unknown = names?.find((name) => !(RUN_STATES as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'status', `names no state of runs: "${unknown}"`)
  return names as RunState[] | undefined
}
