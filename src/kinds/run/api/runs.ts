import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { afterSeq, byUuid } from '../../../pure/paging.ts'
import { Digits, include, LARGEST_PAGE, limitUpTo, listOf, Name, Page, Uuid } from '../../../pure/shapes.ts'
import { AgentParams } from '../../agent/shapes.ts'
import { WAKEUP_SOURCES } from '../rules/wakeups.ts'
import { CallbackMessage } from '../shapes/callbacks.ts'
import { PromptPreview } from '../shapes/prompts.ts'
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
} from '../shapes/runs.ts'
import { InvocationView } from '../shapes/told.ts'

/** Runs, the wakeups that lead to them, and the adapters. */

const tag = 'runs'
const onRun = { tag, params: RunParams }
const onAgent = { tag, params: AgentParams }

const RunPage = { ...Page, include: include('result') }
const OwnRunsQuery = z.strictObject({ ...RunPage, status: Name.optional() })
const RunsQuery = OwnRunsQuery.extend({
  agent: Name.optional(),
  task: Uuid.optional(),
  mission: Uuid.optional(),
  errorCode: Name.optional(),
  source: z.enum(WAKEUP_SOURCES).optional().describe('Why the agent was woken'),
})
const TaskRunsQuery = z.strictObject(RunPage)
const WakeupsQuery = z.strictObject({ ...Page, include: include('payload') })

export const listRuns = endpoint({
  method: 'GET',
  path: '/runs',
  summary: 'List runs, newest first',
  tag,
  needs: 'read',
  query: RunsQuery,
  answer: listOf(ListedRun),
  paging: byUuid,
})

export const listRunsOfAgent = endpoint({
  method: 'GET',
  path: '/agents/:id/runs',
  ...onAgent,
  summary: 'List the runs of an agent, newest first',
  needs: 'read',
  query: OwnRunsQuery,
  answer: listOf(ListedRun),
  paging: byUuid,
})

export const listRunsOfTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/runs',
  ...onRun,
  summary: 'List the runs of a task and their total usage',
  needs: 'read',
  query: TaskRunsQuery,
  answer: TaskRuns,
  paging: byUuid,
})

const EventsQuery = z.strictObject({ afterSeq: Digits.optional(), limit: limitUpTo(LARGEST_PAGE) })
const LogQuery = z.strictObject({
  offset: Digits.optional(),
  limitBytes: Digits.optional(),
  tail: Digits.optional().describe('The last bytes instead of those at an offset'),
})

export const readRun = endpoint({
  method: 'GET',
  path: '/runs/:id',
  ...onRun,
  summary: 'Read a run',
  needs: 'read',
  answer: RunView,
})

export const listEventsOfRun = endpoint({
  method: 'GET',
  path: '/runs/:id/events',
  ...onRun,
  summary: 'List the events of a run',
  needs: 'read',
  query: EventsQuery,
  answer: listOf(RunEventView),
  paging: { ...afterSeq, param: 'afterSeq' },
})

export const readRunLog = endpoint({
  method: 'GET',
  path: '/runs/:id/log',
  ...onRun,
  summary: 'Read the log of a run, by offset',
  needs: 'read',
  query: LogQuery,
  answer: LogView,
})

export const readInvocation = endpoint({
  method: 'GET',
  path: '/runs/:id/invocation',
  ...onRun,
  summary: 'Read what a run was told: its prompt, its command or request, and the names of its variables',
  needs: 'read',
  answer: InvocationView,
})

export const cancelRun = endpoint({
  method: 'POST',
  path: '/runs/:id/cancel',
  ...onRun,
  summary: 'Cancel a run',
  needs: 'operate',
  body: CancelBody,
  bodyIsOptional: true,
  answer: RunView,
})

export const deliverMessage = endpoint({
  method: 'POST',
  path: '/runs/:id/callback',
  ...onRun,
  summary: 'Deliver a message of an asynchronous agent',
  needs: 'work',
  body: CallbackMessage,
  answer: CallbackAnswer,
})

const wakeup = <const A extends string>(name: A, summary: string) =>
  endpoint({
    method: 'POST',
    path: `/agents/:id/${name}`,
    ...onAgent,
    summary,
    needs: 'work',
    body: WakeupBody,
    bodyIsOptional: true,
    status: 202,
    answer: WakeupAnswer,
  })

export const wakeAgent = wakeup('wakeup', 'Wake an agent')
export const invokeHeartbeat = wakeup('heartbeat/invoke', 'Wake an agent (alias of wakeup)')

export const listWakeups = endpoint({
  method: 'GET',
  path: '/agents/:id/wakeups',
  ...onAgent,
  summary: 'List the wakeups of an agent',
  needs: 'read',
  query: WakeupsQuery,
  answer: listOf(ListedWakeup),
  paging: byUuid,
})

export const readRuntimeState = endpoint({
  method: 'GET',
  path: '/agents/:id/runtime-state',
  ...onAgent,
  summary: 'Read the runtime state of an agent: usage and last run',
  needs: 'read',
  answer: RuntimeStateView,
})

export const listTaskSessions = endpoint({
  method: 'GET',
  path: '/agents/:id/task-sessions',
  ...onAgent,
  summary: 'List the sessions that an agent can resume',
  needs: 'read',
  answer: listOf(TaskSessionView),
})

const reset = <const A extends string>(name: A) =>
  endpoint({
    method: 'POST',
    path: `/agents/:id/${name}`,
    ...onAgent,
    summary: 'Reset the sessions of an agent, or the session of one task',
    needs: 'operate',
    body: ResetSessionBody,
    bodyIsOptional: true,
    answer: ResetSessionAnswer,
  })

export const resetSessions = reset('reset-session')
export const resetSessionsOfRuntimeState = reset('runtime-state/reset-session')

export const listAdapters = endpoint({
  method: 'GET',
  path: '/adapters',
  summary: 'List adapters and their settings',
  tag,
  needs: 'read',
  answer: listOf(AdapterView),
})

export const testAgent = endpoint({
  method: 'POST',
  path: '/agents/:id/test',
  ...onAgent,
  summary: 'Test whether an agent can run on this node',
  needs: 'configure_agents',
  body: z.strictObject({}),
  bodyIsOptional: true,
  answer: ProbeView,
})

export const previewPrompt = endpoint({
  method: 'GET',
  path: '/agents/:id/prompt-preview',
  ...onAgent,
  summary: 'Preview the prompt of an agent, with sensitive values removed',
  needs: 'configure_agents',
  answer: PromptPreview,
})
