import type { AgentView } from '../../../src/core/shapes/agents.ts'
import type { AnswerOf } from '../../../src/core/shapes/common.ts'
import type { MissionView } from '../../../src/core/shapes/missions.ts'
import type { RunView } from '../../../src/core/shapes/runs.ts'
import type { InboxKind } from '../../../src/core/waiting.ts'
import { type LiveEvent, payloadField } from './card.ts'

/** What events say about runs, agents, missions and items that wait for people. Pages read the rest. */

type RunShape = AnswerOf<typeof RunView>
export type Run = Pick<
  RunShape,
  | 'id'
  | 'agent'
  | 'taskId'
  | 'status'
  | 'statusMessage'
  | 'statusColor'
  | 'attempt'
  | 'generation'
  | 'errorCode'
> & {
  exitCode: number | null
  inputTokens: number | null
  cachedInputTokens: number | null
  outputTokens: number | null
  costUsd: string | null
  /** What the watchdog noticed. */
  flag: { code: string; detail: string } | null
  isStopping: boolean
  since: number
  finishedAt: number | null
}

type AgentShape = AnswerOf<typeof AgentView>
/** `parkedUntil`: its account is rate limited until then. */
export type Agent = Pick<AgentShape, 'slug' | 'state' | 'stateReason' | 'leaving'> & {
  parkedUntil: number | null
}

type MissionShape = AnswerOf<typeof MissionView>
export type Mission = Pick<MissionShape, 'id' | 'state' | 'totalTokens' | 'totalCost'>

export interface InboxEntry {
  id: string
  kind: InboxKind
  agent: string | null
  reason: string | null
  since: number
  generation: number | null
  digest: string | null
  taskId: string | null
  missionId: string | null
  /** What ended its wait, and who: it is shown for a moment longer. */
  closed: { because: string; by: string | null; at: number } | null
}

const text = (event: LiveEvent, field: string) => payloadField(event, field, 'string') ?? null
const number = (event: LiveEvent, field: string) => payloadField(event, field, 'number') ?? null

export const queuedRun = (event: LiveEvent): Run => ({
  id: event.runId!,
  agent: text(event, 'agent') ?? '',
  taskId: text(event, 'taskId'),
  status: 'queued',
  statusMessage: null,
  statusColor: null,
  attempt: null,
  generation: null,
  errorCode: null,
  exitCode: null,
  inputTokens: null,
  cachedInputTokens: null,
  outputTokens: null,
  costUsd: null,
  flag: null,
  isStopping: false,
  since: Date.parse(event.at),
  finishedAt: null,
})

export type RunRule = (run: Run, event: LiveEvent) => Run

export const startedRun: RunRule = (run, event) => ({
  ...run,
  status: 'running',
  attempt: number(event, 'attempt'),
  generation: number(event, 'generation'),
  since: Date.parse(event.at),
})

export const runSaid: RunRule = (run, event) => ({
  ...run,
  statusMessage: text(event, 'message'),
  statusColor: text(event, 'color'),
})

export const flaggedRun: RunRule = (run, event) => ({
  ...run,
  flag: { code: text(event, 'code') ?? '', detail: text(event, 'detail') ?? '' },
})

export const stoppingRun: RunRule = (run) => ({ ...run, isStopping: true })

export const runUsed: RunRule = (run, event) => ({
  ...run,
  inputTokens: number(event, 'inputTokens'),
  cachedInputTokens: number(event, 'cachedInputTokens'),
  outputTokens: number(event, 'outputTokens'),
})

export const finishedRun: RunRule = (run, event) => ({
  ...runUsed(run, event),
  status: (text(event, 'status') ?? run.status) as Run['status'],
  statusMessage: null,
  statusColor: null,
  errorCode: text(event, 'errorCode'),
  exitCode: number(event, 'exitCode'),
  costUsd: text(event, 'costUsd'),
  finishedAt: Date.parse(event.at),
})

export type AgentRule = (agent: Agent, event: LiveEvent) => Agent

/** Claims have no such event: an agent outside that holds a task is running, which the list of agents says. */
const agentIn =
  (state: Agent['state'], leaving?: boolean): AgentRule =>
  (agent, event) => ({
    ...agent,
    state,
    stateReason: text(event, 'reason'),
    leaving: leaving ?? agent.leaving,
  })

export const pausedAgent = agentIn('paused')
export const idleAgent = agentIn('idle')
export const faultyAgent = agentIn('error')
export const terminatedAgent = agentIn('terminated', false)
/** Of agents that Baton runs. */
export const busyOrIdleAgent: AgentRule = (agent, event) => ({
  ...agent,
  state: (text(event, 'to') ?? agent.state) as Agent['state'],
})
/** With work it is in error, without work it is offline. */
export const silentAgent: AgentRule = (agent, event) =>
  (number(event, 'claims') === 0 ? agentIn('offline') : faultyAgent)(agent, event)
export const leavingAgent: AgentRule = (agent) => ({ ...agent, leaving: true })
export const parkedAgent: AgentRule = (agent, event) => ({ ...agent, parkedUntil: number(event, 'until') })

export type MissionRule = (mission: Mission, event: LiveEvent) => Mission

/** Null is unknown; an event that does not speak of it changes nothing. */
function costIn(event: LiveEvent, { totalCost }: Mission): string | null {
  if (event.payload.totalCost === null) return null
  return payloadField(event, 'totalCost', 'string') ?? totalCost
}

export const movedMission: MissionRule = (mission, event) => ({
  ...mission,
  state: (event.to ?? mission.state) as Mission['state'],
  totalTokens: payloadField(event, 'totalTokens', 'number') ?? mission.totalTokens,
  totalCost: costIn(event, mission),
})

export function addedItem(event: LiveEvent): InboxEntry | null {
  const { item } = event.payload as { item?: Omit<InboxEntry, 'taskId' | 'missionId' | 'closed'> }
  return item ? { ...item, taskId: event.taskId, missionId: event.missionId, closed: null } : null
}

export const closedItem = (entry: InboxEntry, event: LiveEvent): InboxEntry => ({
  ...entry,
  closed: { because: text(event, 'because') ?? '', by: event.by.name, at: Date.parse(event.at) },
})
