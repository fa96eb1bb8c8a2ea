import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/runs.ts'
import { Refused } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { RUN_STATES, type RunState } from '../../core/runs/states.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { CallbackAnswer } from '../../core/shapes/runs.ts'
import type { Execution } from '../../flow/execution.ts'
import { requireAgent, slugOf, slugUnlessOwn } from '../../flow/named-agents.ts'
import { showInvocation } from '../../flow/run-invocation.ts'
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
} from '../../flow/runs.ts'
import { WakeupRequests, wakeAgent, wakeupPage } from '../../flow/wakeups.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import { included, numberOr, pageSize, wantedId } from '../schema.ts'

export function runRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  lists(app, kernel)
  single(app, kernel, execution)
  wakeups(app, kernel)
  taskSessions(app, kernel)
  trials(app, kernel, execution)
}

const partOfRuns = (query: { limit?: string | undefined; include?: string | undefined }) => ({
  limit: pageSize(query.limit),
  withResult: included(query.include, 'result').has('result'),
})

function lists(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listRuns, async ({ query, caller }) => {
    const filter = {
      agent: query.agent,
      task: wantedId(query.task),
      mission: wantedId(query.mission),
      errorCode: query.errorCode,
      source: query.source,
      statuses: statusesIn(query.status),
      before: cursorIn(query.cursor),
    }
    return runPage(kernel, caller, filter, partOfRuns(query))
  })
  serve(app, api.listRunsOfAgent, async ({ params, query, caller }) => {
    const agent = await slugOf(kernel, caller, params.id)
    const filter = { agent, statuses: statusesIn(query.status), before: cursorIn(query.cursor) }
    return runPage(kernel, caller, filter, partOfRuns(query))
  })
  serve(app, api.listRunsOfTask, async ({ params, query, caller }) =>
    runsOfTask(kernel, caller, params.id, cursorIn(query.cursor), partOfRuns(query)),
  )
}

function statusesIn(text: string | undefined): RunState[] | undefined {
  const names = text?.split(',')
  const unknown = names?.find((name) => !(RUN_STATES as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'status', `names no state of runs: "${unknown}"`)
  return names as RunState[] | undefined
}

function cursorIn(cursor: string | undefined): string | undefined {
  if (cursor !== undefined && !isUuid(cursor))
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return cursor
}

const USUAL_LOG_BYTES = 256 * 1024
const MOST_LOG_BYTES = 4 * 1024 * 1024
/** An accepted result is stored once its run is recorded as ended. */
const RESULT_WAIT_MS = 30_000

function single(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, api.readRun, ({ params, caller }) => showRun(kernel, caller, params.id))
  serve(app, api.listEventsOfRun, ({ params, query, caller }) =>
    runTimeline(kernel, caller, params.id, numberOr(query.afterSeq, 0), pageSize(query.limit)),
  )
  serve(app, api.readInvocation, ({ params, caller }) => showInvocation(kernel, caller, params.id))
  serve(app, api.readRunLog, ({ params, query, caller }) => {
    const bytes = query.tail ?? query.limitBytes
    if (query.tail !== undefined && (query.offset !== undefined || query.limitBytes !== undefined))
      throw Refused.field('VALIDATION_FAILED', 'tail', 'goes without offset and limitBytes')
    return readRunLog(kernel, execution, caller, params.id, {
      offset: query.tail === undefined ? numberOr(query.offset, 0) : 'tail',
      limitBytes: Math.min(Math.max(numberOr(bytes, USUAL_LOG_BYTES), 1), MOST_LOG_BYTES),
    })
  })
  serve(app, api.cancelRun, ({ params, body, caller }) => cancelRun(kernel, caller, params.id, body.reason))
  callback(app, kernel, execution)
}

function callback(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(
    app,
    api.deliverMessage,
    async ({ params, body, caller }): Promise<AnswerOf<typeof CallbackAnswer>> => {
      const run = await requireRun(kernel, caller, params.id)
      if (caller.run?.runId !== params.id)
        throw new Refused(
          'FORBIDDEN',
          'Only the agent of a run may answer for it: send the token of the run.',
        )
      const delivery = await execution.deliver(caller.workspaceId, params.id, body)
      if (delivery === 'unknown_run')
        throw new Refused('RUN_NOT_HERE', 'No run with this id waits for an answer.')
      if (delivery === 'busy')
        throw new Refused('TOO_MANY_MESSAGES', 'The run has not processed the earlier messages yet.')
      if (delivery === 'over') throw new Refused('WRONG_STATE', 'The run already has its answer.')
      if (body.kind === 'heartbeat') return { taken: true, requests: await requestsOfRun(kernel, run) }
      const { status } = await overWithin(kernel, caller, params.id, RESULT_WAIT_MS)
      return { taken: true, status }
    },
  )
}

function wakeups(app: FastifyInstance, kernel: ServerKernel): void {
  const desk = new WakeupRequests(kernel)
  for (const wakeup of [api.wakeAgent, api.invokeHeartbeat])
    serve(app, wakeup, async ({ params, body, caller }, reply) =>
      reply.code(202).send(await wakeAgent(desk, caller, params.id, body)),
    )
  serve(app, api.listWakeups, async ({ params, query, caller }) =>
    wakeupPage(kernel, caller, params.id, {
      before: cursorIn(query.cursor) ?? null,
      limit: pageSize(query.limit),
      withPayload: included(query.include, 'payload').has('payload'),
    }),
  )
}

function taskSessions(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.readRuntimeState, ({ params, caller }) => showRuntimeState(kernel, caller, params.id))
  serve(app, api.listTaskSessions, ({ params, caller }) => showTaskSessions(kernel, caller, params.id))
  for (const reset of [api.resetSessions, api.resetSessionsOfRuntimeState])
    serve(app, reset, ({ params, body, caller }) => deleteSessions(kernel, caller, params.id, body.taskKey))
}

function trials(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, api.listAdapters, async ({ caller: { workspaceId, rights } }) => {
    const adapters = execution.adapters(workspaceId)
    const mayConfigure = rights.has('configure_agents')
    const items = mayConfigure ? adapters : adapters.map((one) => ({ ...one, runsAs: null }))
    return { items, nextCursor: null }
  })
  serve(app, api.testAgent, async ({ params, caller }) => {
    const { record } = await requireAgent(kernel, caller, await slugUnlessOwn(kernel, caller, params.id))
    const checks = await execution.probe(caller.workspaceId, record)
    return { agent: record.slug, ok: checks.every(({ ok }) => ok), checks }
  })
  serve(app, api.previewPrompt, async ({ params, caller }) => {
    const { record } = await requireAgent(kernel, caller, params.id)
    return { agent: record.slug, ...(await execution.preview(caller.workspaceId, record)) }
  })
}
