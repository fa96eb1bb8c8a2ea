import type { z } from 'zod'
import type { Execution } from '../../../door/execution.ts'
import { actingAs, requireAgent, slugOf } from '../../../door/named-agents.ts'
import type { Page } from '../../../door/paging.ts'
import type { RunKernel, ServerKernel } from '../../../door/server-kernel.ts'
import { BatchLoader } from '../../../kernel/batch-loader.ts'
import { systemCaller } from '../../../kernel/caller.ts'
import { unanswered, type Waiter } from '../../../kernel/commit-waiters.ts'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { HeartbeatBatcher } from '../../../kernel/heartbeats.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { viewOf } from '../../../pure/fields.ts'
import { isUuid } from '../../../pure/ids.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf, ListAnswer } from '../../../pure/shapes.ts'
import type { AgentGranted } from '../../replies.ts'
import { nextWakeAt } from '../../run/rules/wakeups.ts'
import { renewalsIn } from '../../task/acts/claims.ts'
import { taskView } from '../../task/acts/views.ts'
import type { TaskRecord } from '../../task/record.ts'
import { whyNotOnOwnAgent } from '../../task/rules/acting.ts'
import { type AgentFilter, listAgents, pageOfAgents, tasksAssignedTo } from '../postgres/agents.ts'
import { NO_RUNS, workOfAgents } from '../postgres/work.ts'
import { AGENT_FIELDS, type AgentRecord, type AgentSeen } from '../record.ts'
import type { AgentCommand, Heartbeat } from '../rules/command.ts'
import { maskedConfig } from '../rules/config.ts'
import { shownState } from '../rules/decide.ts'
import { configWithModel, modelOfAgent } from '../rules/model.ts'
import {
  type AgentAtWork,
  type AgentBody,
  AgentView,
  type AssignmentsAnswer,
  type HealthView,
  type HeartbeatAnswer,
  type HeartbeatBody,
} from '../shapes.ts'
import { mayConfigure, oneModel, profileOf, unconfigured, usableProfile } from './settings.ts'

/** More agents on one account are not counted. */
const MOST_COUNTED = 1_000

/**
 * How many other agents rest with one, because they are on its account. The time alone does not tell: limits of different accounts
 * often end at the same full hour. Without a workspace nobody rests.
 */
async function sharesRateLimit(
  { store }: ServerKernel,
  execution: Execution,
  workspaceId: number | null,
): Promise<(agent: AgentRecord) => number> {
  if (workspaceId === null) return () => 0
  const resting = await listAgents(store.readers, workspaceId, { resting: true }, MOST_COUNTED)
  const accounts = resting.map(({ record }) => ({ slug: record.slug, account: execution.accountOf(record) }))
  return (agent) => {
    const own = execution.accountOf(agent)
    return accounts.filter(({ slug, account }) => account !== null && account === own && slug !== agent.slug)
      .length
  }
}

/** Agents: registration, health, and operations on them. */

export function commandAgent(
  kernel: RunKernel,
  caller: Caller,
  slug: string,
  command: AgentCommand,
): Promise<AgentGranted> {
  return commandAgentOnce(kernel, { ...caller, idempotency: undefined }, slug, command)
}

/** The same, if it is all that the request is about: the idempotency key of the caller is that of the command. */
async function commandAgentOnce(
  kernel: RunKernel,
  caller: Caller,
  slug: string,
  command: AgentCommand,
): Promise<AgentGranted> {
  const by = { ...caller, waits: true } as const
  const reply = granted(await kernel.run(by, { on: 'agent', key: slug, uuid: freshUuid(), command }))
  kernel.agentChanged(caller.workspaceId, slug)
  kernel.agentChanged(caller.workspaceId, reply.record.uuid)
  return reply
}

/** Registers an agent, or changes an existing one; with `ifVersion` only if its version still matches. */
export async function putAgent(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  name: string,
  body: z.output<typeof AgentBody>,
  ifVersion: number | null,
): Promise<{ agent: AnswerOf<typeof AgentView>; isNew: boolean }> {
  const known = await kernel.store.agents.find(caller.workspaceId, name)
  const own = whyNotOnOwnAgent(caller.outside, known?.record.slug ?? name, 'register')
  if (own) throw Refused.because(own)
  if (!known && isUuid(name)) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
  const profile = mayConfigure(caller)
    ? oneModel(
        execution,
        await usableProfile(execution, caller, profileOf(body), known?.record),
        known?.record,
      )
    : unconfigured(profileOf(body), known?.record)
  const command: AgentCommand = { kind: 'register', profile, ifVersion }
  const { record, isNew, holding } = await commandAgent(kernel, caller, known?.record.slug ?? name, command)
  return { agent: agentView(execution, caller, { record, holds: holding.length }), isNew }
}

export async function showAgent(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  name: string,
): Promise<AnswerOf<typeof AgentAtWork>> {
  const agent = await requireAgent(kernel, caller, name)
  const [shown] = await agentsAtWork(kernel, execution, caller, [agent])
  return shown!
}

/** Agents with what they do, in the same order: one read for all of them. */
async function agentsAtWork(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  agents: readonly AgentSeen[],
): Promise<AnswerOf<typeof AgentAtWork>[]> {
  const slugs = agents.map(({ record }) => record.slug)
  const work = await workOfAgents(kernel.store.readers, caller.workspaceId, slugs)
  const isAnyResting = [...work.values()].some(({ restsUntil }) => restsUntil !== null)
  const othersAtRest = await sharesRateLimit(kernel, execution, isAnyResting ? caller.workspaceId : null)
  return agents.map((agent) => {
    const { holds, lastRun, today, restsUntil, nextTimerAt, totals } = work.get(agent.record.slug)!
    return {
      ...agentView(execution, caller, agent),
      holds,
      lastRun: lastRun && { ...lastRun, finishedAt: instant(lastRun.finishedAt) },
      today,
      rests: restsUntil === null ? null : { until: instant(restsUntil), others: othersAtRest(agent.record) },
      totals: totals ?? NO_RUNS,
      nextWakeAt: instant(nextWakeAt(agent.record, nextTimerAt, agent.now)),
    }
  })
}

export async function agentPage(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  filter: Omit<AgentFilter, 'after'>,
  page: Page<string>,
): Promise<ListAnswer<AnswerOf<typeof AgentAtWork>>> {
  const { after, limit } = page
  const { rows, more } = await pageOfAgents(
    kernel.store.readers,
    caller.workspaceId,
    { ...filter, after },
    limit,
  )
  return {
    items: await agentsAtWork(kernel, execution, caller, rows),
    nextCursor: page.next(more ? rows.at(-1)!.record.slug : null),
  }
}

/** Runs one command on an agent and returns the agent after it; to a repeat, as it is now. */
export async function operateAgent(
  kernel: ServerKernel,
  execution: Execution,
  caller: Caller,
  name: string,
  command: Exclude<AgentCommand, { kind: 'remove' }>,
) {
  const { slug } = (await requireAgent(kernel, caller, name)).record
  const { record, holding, isRepeat } = await commandAgentOnce(kernel, caller, slug, command)
  const agent = isRepeat ? await requireAgent(kernel, caller, slug) : { record, holds: holding.length }
  return agentView(execution, caller, agent)
}

export async function removeAgent(kernel: ServerKernel, caller: Caller, name: string): Promise<void> {
  const { slug } = (await requireAgent(kernel, caller, name)).record
  await commandAgent(kernel, caller, slug, { kind: 'remove' })
}

/** Frequent requests of agents, batched. */
export class AgentHeartbeats {
  readonly kernel: ServerKernel
  readonly heartbeats: HeartbeatBatcher<AgentGranted>
  /** Ids of the tasks assigned to an agent and not started. */
  readonly given: BatchLoader<string, number[]>

  constructor(kernel: ServerKernel) {
    this.kernel = kernel
    this.heartbeats = new HeartbeatBatcher((workspaceId, name, heartbeat) =>
      this.#write(systemCaller(workspaceId), name, heartbeat),
    )
    this.given = new BatchLoader(async (workspaceId, slugs) => {
      const found = await tasksAssignedTo(kernel.store.readers, workspaceId, [...new Set(slugs)])
      return slugs.map((slug) => found.get(slug) ?? [])
    })
  }

  record({ workspaceId, idempotency }: Caller, name: string, heartbeat: Heartbeat): Promise<AgentGranted> {
    if (!idempotency) return this.heartbeats.record(workspaceId, name, heartbeat)
    return this.#write({ ...systemCaller(workspaceId), idempotency }, name, heartbeat)
  }

  async #write(by: Caller, name: string, heartbeat: Heartbeat): Promise<AgentGranted> {
    const slug = isUuid(name) ? await slugOf(this.kernel, by, name) : name
    const caller = { ...by, actor: `agent:${slug}` }
    return commandAgentOnce(this.kernel, caller, slug, { kind: 'heartbeat', heartbeat })
  }
}

/** A heartbeat. One with an idempotency key is written alone. The answer has the agent's state and its claims, new assignments included. */
export async function heartbeat(
  desk: AgentHeartbeats,
  caller: Caller,
  name: string,
  body: z.output<typeof HeartbeatBody>,
): Promise<AnswerOf<typeof HeartbeatAnswer>> {
  const heartbeat: Heartbeat = {
    sentAt: body.sentAt === undefined ? null : Date.parse(body.sentAt),
    status: body.status,
    session: body.session ?? null,
    currentTask: body.currentTaskId ?? null,
    progressPercent: body.progressPercent ?? null,
    step: body.currentStep ?? null,
    memoryMb: body.memoryMb ?? null,
    cpuPercent: body.cpuPercent ?? null,
    metadata: body.metadata ?? null,
  }
  const as = await actingAs(desk.kernel, caller, name)
  const { record, holding, settled } = await desk.record(caller, as, heartbeat)
  const health = record.health!
  return {
    agent: record.slug,
    state: shownState(record, holding.length),
    leaving: record.leaving,
    lastSeenAt: instant(health.lastSeenAt),
    nextExpectedAt: instant(health.lastSeenAt + record.heartbeatMs),
    claims: holding.map(claimOf),
    renewed: renewalsIn(settled),
  }
}

const claimOf = (record: TaskRecord): AnswerOf<typeof HeartbeatAnswer>['claims'][number] => ({
  taskId: record.uuid,
  generation: record.generation,
  session: record.session!,
  state: record.state,
  attempt: record.attempt,
  leaseExpiresAt: instant(record.leaseExpiresAt!),
})

/** Tasks assigned to the agent and not started. Waits up to `waitMs` for the first one. */
export async function assignmentsOf(
  { kernel, given }: AgentHeartbeats,
  caller: Caller,
  name: string,
  waitMs: number,
  waiter: Waiter,
): Promise<AnswerOf<typeof AssignmentsAnswer>> {
  const { workspaceId } = caller
  const { slug } = (await requireAgent(kernel, caller, name)).record
  const until = performance.now() + waitMs
  for (;;) {
    const left = until - performance.now()
    // Subscribe before the query: an assignment committed between the query and the wait must not be missed.
    const change = left > 0 ? kernel.changes.next(workspaceId, left, waiter.gone) : null
    const [ids] = await given.ask(workspaceId, [slug])
    if (ids!.length > 0 && !waiter.gone.aborted) {
      const tasks = await kernel.store.tasksById(workspaceId, ids!)
      return { claims: tasks.map((task) => ({ ...claimOf(task.record), agent: slug, task: taskView(task) })) }
    }
    if (!change || waiter.gone.aborted || kernel.changes.isClosed) return unanswered(waiter, { claims: [] })
    await change
    if (!waiter.gone.aborted) await waiter.confirm?.()
  }
}

export async function showHealth(
  kernel: ServerKernel,
  caller: Caller,
  name: string,
): Promise<AnswerOf<typeof HealthView>> {
  const { record, holds, runs, now } = await requireAgent(kernel, caller, name)
  const { health, heartbeatMs, staleMs } = record
  const isStale = health !== null && now >= health.lastSeenAt + staleMs
  return {
    agent: record.slug,
    state: shownState(record, holds + runs),
    status: health === null ? 'unknown' : isStale ? 'stale' : health.status,
    lastSeenAt: instant(health?.lastSeenAt ?? null),
    nextExpectedAt: instant(health && health.lastSeenAt + heartbeatMs),
    staleAt: instant(health && health.lastSeenAt + staleMs),
    silentForMs: health && Math.max(0, now - health.lastSeenAt),
    session: health?.session ?? null,
    currentTaskId: health?.currentTask ?? null,
    progressPercent: health?.progressPercent ?? null,
    currentStep: health?.step ?? null,
    memoryMb: health?.memoryMb ?? null,
    cpuPercent: health?.cpuPercent ?? null,
    metadata: health?.metadata ?? null,
    activeTasks: holds,
  }
}

/** Both are written as objects or null (AgentBody). */
type Settings = AnswerOf<typeof AgentView>['adapterConfig']

const lastTestOf = ({ testedAt, failedChecks }: AgentRecord) =>
  testedAt === null
    ? null
    : { at: instant(testedAt), ok: failedChecks.length === 0, failed: [...failedChecks] }

const viewOfAgent = viewOf(AGENT_FIELDS, AgentView)

function agentView(
  execution: Execution,
  caller: Caller,
  { record, holds, runs = 0 }: Pick<AgentSeen, 'record' | 'holds'> & { runs?: number },
): AnswerOf<typeof AgentView> {
  const model = modelOfAgent(record)
  const settings = execution.hasModelSetting(record.adapterType)
    ? configWithModel({ model, adapterConfig: record.adapterConfig })
    : record.adapterConfig
  const config = maskedConfig(settings, execution.knows(record.adapterType))
  const state = shownState(record, holds + runs)
  return {
    ...viewOfAgent(record),
    model,
    adapterConfig: mayConfigure(caller) ? (config as Settings) : null,
    adapterConfigHidden: !mayConfigure(caller) && config !== null,
    runtimeConfig: record.runtimeConfig as Settings,
    heartbeatIntervalSeconds: record.heartbeatMs / 1000,
    staleThresholdSeconds: record.staleMs / 1000,
    missionId: record.mission,
    lastTest: lastTestOf(record),
    state,
    status: state,
    activeTasks: holds,
    activeRuns: runs,
    lastSeenAt: instant(record.health?.lastSeenAt ?? null),
  }
}
