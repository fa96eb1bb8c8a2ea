import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { RUN_STATES, type RunState } from '../../core/runs/states.ts'
import { AgentParams } from '../../core/shapes/agents.ts'
import { CallbackMessage } from '../../core/shapes/callbacks.ts'
import { type AnswerOf, Digits, type ListAnswer, listOf, Name } from '../../core/shapes/common.ts'
import { PromptPreview } from '../../core/shapes/prompts.ts'
import {
  AdapterView,
  CallbackAnswer,
  CancelBody,
  ListedRun,
  ListedWakeup,
  LogView,
  ProbeView,
  ResetSessionAnswer,
  ResetSessionBody,
  RunEventView,
  RunParams,
  RuntimeStateView,
  RunView,
  TaskRuns,
  TaskSessionView,
  WakeupAnswer,
  WakeupBody,
} from '../../core/shapes/runs.ts'
import { requireAgent, slugOf } from '../../flow/agents.ts'
import type { Execution } from '../../flow/execution.ts'
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
import { include, included, numberOr, Page, pageSize, route } from '../schema.ts'

const tag = 'runs'
const onRun = { tag, params: RunParams }
const onAgent = { tag, params: AgentParams }
interface On {
  Params: { id: string }
}

export function runRoutes(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  lists(app, kernel)
  single(app, kernel, execution)
  wakeups(app, kernel)
  taskSessions(app, kernel)
  trials(app, kernel, execution)
}

const RunPage = { ...Page, include: include('result') }
const OwnRunsQuery = z.strictObject({ ...RunPage, status: Name.optional() })
const RunsQuery = OwnRunsQuery.extend({ agent: Name.optional() })
const TaskRunsQuery = z.strictObject(RunPage)
const WakeupsQuery = z.strictObject({ ...Page, include: include('payload') })

const partOfRuns = (query: { limit?: string | undefined; include?: string | undefined }) => ({
  limit: pageSize(query.limit),
  withResult: included(query.include, 'result').has('result'),
})

function lists(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<{ Querystring: z.output<typeof RunsQuery> }>(
    '/runs',
    route({
      summary: 'List runs, newest first',
      tag,
      needs: 'read',
      query: RunsQuery,
      answer: listOf(ListedRun),
    }),
    async ({ query, caller }) => {
      const filter = {
        agent: query.agent,
        statuses: statusesIn(query.status),
        before: cursorIn(query.cursor),
      }
      return runPage(kernel, caller, filter, partOfRuns(query))
    },
  )
  app.get<On & { Querystring: z.output<typeof OwnRunsQuery> }>(
    '/agents/:id/runs',
    route({
      ...onAgent,
      summary: 'List the runs of an agent, newest first',
      needs: 'read',
      query: OwnRunsQuery,
      answer: listOf(ListedRun),
    }),
    async ({ params, query, caller }) => {
      const agent = await slugOf(kernel, caller, params.id)
      const filter = { agent, statuses: statusesIn(query.status), before: cursorIn(query.cursor) }
      return runPage(kernel, caller, filter, partOfRuns(query))
    },
  )
  app.get<On & { Querystring: z.output<typeof TaskRunsQuery> }>(
    '/tasks/:id/runs',
    route({
      ...onRun,
      summary: 'List the runs of a task and their total usage',
      needs: 'read',
      query: TaskRunsQuery,
      answer: TaskRuns,
    }),
    async ({ params, query, caller }) =>
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

const EventsQuery = z.strictObject({ afterSeq: Digits.optional(), limit: Digits.optional() })
const LogQuery = z.strictObject({ offset: Digits.optional(), limitBytes: Digits.optional() })
const USUAL_LOG_BYTES = 256 * 1024
const MOST_LOG_BYTES = 4 * 1024 * 1024
/** An accepted result is stored once its run is recorded as ended. */
const RESULT_WAIT_MS = 30_000

function single(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  app.get<On>(
    '/runs/:id',
    route({ ...onRun, summary: 'Read a run', needs: 'read', answer: RunView }),
    ({ params, caller }) => showRun(kernel, caller, params.id),
  )
  app.get<On & { Querystring: z.output<typeof EventsQuery> }>(
    '/runs/:id/events',
    route({
      ...onRun,
      summary: 'List the events of a run',
      needs: 'read',
      query: EventsQuery,
      answer: listOf(RunEventView),
    }),
    ({ params, query, caller }) =>
      runTimeline(kernel, caller, params.id, numberOr(query.afterSeq, 0), pageSize(query.limit)),
  )
  app.get<On & { Querystring: z.output<typeof LogQuery> }>(
    '/runs/:id/log',
    route({
      ...onRun,
      summary: 'Read the log of a run, by offset',
      needs: 'read',
      query: LogQuery,
      answer: LogView,
    }),
    ({ params, query, caller }) =>
      readRunLog(kernel, execution, caller, params.id, {
        offset: numberOr(query.offset, 0),
        limitBytes: Math.min(Math.max(numberOr(query.limitBytes, USUAL_LOG_BYTES), 1), MOST_LOG_BYTES),
      }),
  )
  app.post<On & { Body: z.output<typeof CancelBody> }>(
    '/runs/:id/cancel',
    route({
      ...onRun,
      summary: 'Cancel a run',
      needs: 'operate',
      body: CancelBody,
      bodyIsOptional: true,
      answer: RunView,
    }),
    ({ params, body, caller }) => cancelRun(kernel, caller, params.id, body.reason),
  )
  callback(app, kernel, execution)
}

function callback(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  app.post<On & { Body: CallbackMessage }>(
    '/runs/:id/callback',
    route({
      ...onRun,
      summary: 'Deliver a message of an asynchronous agent',
      needs: 'work',
      body: CallbackMessage,
      answer: CallbackAnswer,
    }),
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
  for (const path of ['wakeup', 'heartbeat/invoke'])
    app.post<On & { Body: z.output<typeof WakeupBody> }>(
      `/agents/:id/${path}`,
      route({
        ...onAgent,
        summary: path === 'wakeup' ? 'Wake an agent' : 'Wake an agent (alias of wakeup)',
        needs: 'work',
        body: WakeupBody,
        bodyIsOptional: true,
        status: 202,
        answer: WakeupAnswer,
      }),
      async ({ params, body, caller }, reply) =>
        reply.code(202).send(await wakeAgent(desk, caller, params.id, body)),
    )
  app.get<On & { Querystring: z.output<typeof WakeupsQuery> }>(
    '/agents/:id/wakeups',
    route({
      ...onAgent,
      summary: 'List the wakeups of an agent',
      needs: 'read',
      query: WakeupsQuery,
      answer: listOf(ListedWakeup),
    }),
    async ({ params, query, caller }) =>
      wakeupPage(kernel, caller, params.id, {
        before: cursorIn(query.cursor) ?? null,
        limit: pageSize(query.limit),
        withPayload: included(query.include, 'payload').has('payload'),
      }),
  )
}

function taskSessions(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<On>(
    '/agents/:id/runtime-state',
    route({
      ...onAgent,
      summary: 'Read the runtime state of an agent: usage and last run',
      needs: 'read',
      answer: RuntimeStateView,
    }),
    ({ params, caller }) => showRuntimeState(kernel, caller, params.id),
  )
  app.get<On>(
    '/agents/:id/task-sessions',
    route({
      ...onAgent,
      summary: 'List the sessions that an agent can resume',
      needs: 'read',
      answer: listOf(TaskSessionView),
    }),
    ({ params, caller }) => showTaskSessions(kernel, caller, params.id),
  )
  for (const path of ['reset-session', 'runtime-state/reset-session'])
    app.post<On & { Body: z.output<typeof ResetSessionBody> }>(
      `/agents/:id/${path}`,
      route({
        ...onAgent,
        summary: 'Reset the sessions of an agent, or the session of one task',
        needs: 'operate',
        body: ResetSessionBody,
        bodyIsOptional: true,
        answer: ResetSessionAnswer,
      }),
      ({ params, body, caller }) => deleteSessions(kernel, caller, params.id, body.taskKey),
    )
}

function trials(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  app.get(
    '/adapters',
    route({
      summary: 'List adapters and their settings',
      tag,
      needs: 'read',
      answer: listOf(AdapterView),
    }),
    async ({ caller }): Promise<ListAnswer<AnswerOf<typeof AdapterView>>> => ({
      items: execution.adapters(caller.workspaceId),
      nextCursor: null,
    }),
  )
  app.post<On>(
    '/agents/:id/test',
    route({
      ...onAgent,
      summary: 'Test whether an agent can run on this node',
      needs: 'configure_agents',
      body: z.strictObject({}),
      bodyIsOptional: true,
      answer: ProbeView,
    }),
    async ({ params, caller }): Promise<AnswerOf<typeof ProbeView>> => {
      const { record } = await requireAgent(kernel, caller, params.id)
      const checks = await execution.probe(caller.workspaceId, record)
      return { agent: record.slug, ok: checks.every(({ ok }) => ok), checks }
    },
  )
  app.get<On>(
    '/agents/:id/prompt-preview',
    route({
      ...onAgent,
      summary: 'Preview the prompt of an agent, with sensitive values removed',
      needs: 'configure_agents',
      answer: PromptPreview,
    }),
    async ({ params, caller }): Promise<AnswerOf<typeof PromptPreview>> => {
      const { record } = await requireAgent(kernel, caller, params.id)
      return { agent: record.slug, ...(await execution.preview(caller.workspaceId, record)) }
    },
  )
}
