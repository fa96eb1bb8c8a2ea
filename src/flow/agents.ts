import type { z } from 'zod'
import type { AgentCommand, Beat, Reply } from '../core/commands.ts'
import { Refused, refuse } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { AgentProfile, AgentRecord, TaskRecord } from '../core/records.ts'
import { shownState } from '../core/rules/agent.ts'
import type { AgentBody, HeartbeatBody } from '../core/shapes/agents.ts'
import { isTerminal } from '../core/states.ts'
import {
  type AgentFilter,
  type AgentSeen,
  findAgent,
  givenTo,
  pageOfAgents,
} from '../store/postgres/agents.ts'
import { Beats } from './beats.ts'
import type { Execution } from './execution.ts'
import { freshUuid } from './fresh-uuid.ts'
import { Gathering } from './gathering.ts'
import { type Caller, granted, type Kernel } from './kernel.ts'
import { system, unblockDownstream } from './unblock.ts'
import { instant, taskView } from './views.ts'

/** Agents: who they are, how they are, and what people do to them. */

interface AgentReply {
  record: AgentRecord
  isNew: boolean
  /** What it holds afterwards. */
  holding: TaskRecord[]
  settled: { taskId: string; generation: number; reply: Reply }[]
}

export async function commandAgent(
  kernel: Kernel,
  caller: Caller,
  slug: string,
  command: AgentCommand,
): Promise<AgentReply> {
  const alone = { ...caller, idempotency: undefined }
  const reply = granted(
    await kernel.run(alone, { on: 'agent', slug, uuid: freshUuid(), command }),
  ) as unknown as AgentReply
  kernel.agentChanged(caller.workspaceId, slug)
  if (reply.record) kernel.agentChanged(caller.workspaceId, reply.record.uuid)
  const ended = reply.settled
    .map(({ reply: { record } }) => record as TaskRecord | undefined)
    .filter((record) => record !== undefined && isTerminal(record.state))
    .map((record) => record!.id)
  await unblockDownstream(kernel, caller.workspaceId, ended)
  return reply
}

export async function theAgent(kernel: Kernel, { workspaceId }: Caller, name: string): Promise<AgentSeen> {
  const agent = await findAgent(kernel.store.readers, workspaceId, name)
  if (!agent) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
  return agent
}

const seconds = (value: number | undefined) => (value === undefined ? undefined : value * 1000)

function profileOf(body: z.output<typeof AgentBody>): Partial<AgentProfile> {
  const { heartbeatIntervalSeconds, staleThresholdSeconds, capabilities, ...rest } = body
  return {
    ...(rest as Partial<AgentProfile>),
    capabilities: capabilities && [...new Set(capabilities)].sort(),
    heartbeatMs: seconds(heartbeatIntervalSeconds),
    staleMs: seconds(staleThresholdSeconds),
  } as Partial<AgentProfile>
}

/** Registered, or changed if it is there; under `ifVersion` only when nobody changed it since. */
export async function putAgent(
  kernel: Kernel,
  caller: Caller,
  name: string,
  body: z.output<typeof AgentBody>,
  ifVersion: number | null,
  faultsOf: Execution['faultsOf'],
) {
  const known = await findAgent(kernel.store.readers, caller.workspaceId, name)
  if (!known && isUuid(name)) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
  const profile = keptSecrets(profileOf(body), known?.record)
  mustBeUsable(profile, known?.record, faultsOf)
  const command: AgentCommand = { kind: 'register', profile, ifVersion }
  const { record, isNew, holding } = await commandAgent(kernel, caller, known?.record.slug ?? name, command)
  return { agent: agentView({ record, holds: holding.length }), isNew }
}

/** Settings that cannot be used are refused when they are given, not when the agent is needed. */
function mustBeUsable(
  profile: Partial<AgentProfile>,
  known: AgentRecord | undefined,
  faultsOf: Execution['faultsOf'],
): void {
  const { adapterType, adapterConfig, runtimeConfig } = profile
  if (adapterType === undefined && adapterConfig === undefined && runtimeConfig === undefined) return
  const errors = faultsOf({
    adapterType: adapterType ?? known?.adapterType ?? 'external',
    adapterConfig: adapterConfig === undefined ? (known?.adapterConfig ?? null) : adapterConfig,
    runtimeConfig: runtimeConfig === undefined ? (known?.runtimeConfig ?? null) : runtimeConfig,
  })
  const [first] = errors
  if (first)
    throw Refused.because(refuse('VALIDATION_FAILED', `${first.field}: ${first.message}`, { errors }))
}

export const showAgent = async (kernel: Kernel, caller: Caller, name: string) =>
  agentView(await theAgent(kernel, caller, name))

export async function agentPage(kernel: Kernel, { workspaceId }: Caller, filter: AgentFilter, limit: number) {
  const { rows, more } = await pageOfAgents(kernel.store.readers, workspaceId, filter, limit)
  return {
    items: rows.map(agentView),
    nextCursor: more ? Buffer.from(rows.at(-1)!.record.slug).toString('base64url') : null,
  }
}

/** One act on one agent, and how it is afterwards. */
export async function operateAgent(kernel: Kernel, caller: Caller, name: string, command: AgentCommand) {
  const { slug } = (await theAgent(kernel, caller, name)).record
  const { record, holding } = await commandAgent(kernel, caller, slug, command)
  return agentView({ record, holds: holding.length })
}

export async function removeAgent(kernel: Kernel, caller: Caller, name: string): Promise<void> {
  const { slug, uuid } = (await theAgent(kernel, caller, name)).record
  await commandAgent(kernel, caller, slug, { kind: 'remove' })
  kernel.agentChanged(caller.workspaceId, uuid)
}

/** What agents ask for so often that it is done for many of them together. */
export class AgentDesk {
  readonly kernel: Kernel
  readonly beats: Beats<AgentReply>
  /** Ids of the tasks an agent was given and has not begun. */
  readonly given: Gathering<string, number[]>

  constructor(kernel: Kernel) {
    this.kernel = kernel
    this.beats = new Beats(async (workspaceId, name, beat) => {
      const slug = isUuid(name) ? await slugOf(kernel, system(workspaceId), name) : name
      const caller = { ...system(workspaceId), actor: `agent:${slug}` }
      return commandAgent(kernel, caller, slug, { kind: 'beat', beat })
    })
    this.given = new Gathering(async (workspaceId, slugs) => {
      const found = await givenTo(kernel.store.readers, workspaceId, [...new Set(slugs)])
      return slugs.map((slug) => found.get(slug) ?? [])
    })
  }
}

/** A sign of life. The answer tells the agent how it stands and what it holds, what it was given included. */
export async function heartbeat(
  desk: AgentDesk,
  caller: Caller,
  name: string,
  body: z.output<typeof HeartbeatBody>,
) {
  const beat: Beat = {
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
  const { record, holding, settled } = await desk.beats.tell(caller.workspaceId, name, beat)
  const health = record.health!
  return {
    agent: record.slug,
    state: shownState(record, holding.length),
    leaving: record.leaving,
    lastSeenAt: instant(health.lastSeenAt),
    nextExpectedAt: instant(health.lastSeenAt + record.heartbeatMs),
    claims: holding.map(claimOf),
    renewed: settled
      .filter(({ reply }) => reply.ok)
      .map(({ taskId, generation, reply: { ok: _ok, ...rest } }) => ({ taskId, generation, ...rest })),
  }
}

const claimOf = (record: TaskRecord) => ({
  taskId: record.uuid,
  generation: record.generation,
  session: record.session,
  state: record.state,
  attempt: record.attempt,
  leaseExpiresAt: instant(record.leaseExpiresAt),
})

/** What the agent was given and has not begun, waiting for it up to `waitMs`. */
export async function assignmentsOf(
  { kernel, given }: AgentDesk,
  caller: Caller,
  name: string,
  waitMs: number,
  gone: AbortSignal,
) {
  const { workspaceId } = caller
  const { slug } = (await theAgent(kernel, caller, name)).record
  const until = performance.now() + waitMs
  for (;;) {
    const left = until - performance.now()
    // Before looking, not after: what comes between the look and the wait must not be slept through.
    const change = left > 0 ? kernel.changes.next(workspaceId, left, gone) : null
    const [ids] = await given.ask(workspaceId, [slug])
    if (ids!.length > 0) {
      const tasks = await kernel.store.tasksById(workspaceId, ids!)
      return { claims: tasks.map((task) => ({ ...claimOf(task.record), agent: slug, task: taskView(task) })) }
    }
    if (!change || gone.aborted || kernel.changes.isClosed) return { claims: [] }
    await change
  }
}

export async function showHealth(kernel: Kernel, caller: Caller, name: string) {
  const { record, holds, runs, now } = await theAgent(kernel, caller, name)
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

/** The slug of an agent that is there. */
export const slugOf = async (kernel: Kernel, caller: Caller, name: string) =>
  (await theAgent(kernel, caller, name)).record.slug

const MASKED = '********'

/** What children get in their environment, and endpoints in their headers, may be secret. */
const MAY_BE_SECRET = ['env', 'headers']

/** That it is set is shown, what it is set to is not. */
function masked(config: unknown): unknown {
  const shown = { ...(config as Record<string, unknown> | null) }
  for (const field of MAY_BE_SECRET) if (shown[field] != null) shown[field] = maskedValues(shown[field])
  return config === null ? null : shown
}

const maskedValues = (values: unknown) =>
  typeof values === 'object' && !Array.isArray(values)
    ? Object.fromEntries(Object.keys(values!).map((name) => [name, MASKED]))
    : MASKED

/** What was shown masked and comes back so is what it was. */
function keptSecrets(profile: Partial<AgentProfile>, known: AgentRecord | undefined): Partial<AgentProfile> {
  if (profile.adapterConfig == null) return profile
  const config = { ...(profile.adapterConfig as Record<string, unknown>) }
  const before = (known?.adapterConfig ?? {}) as Record<string, unknown>
  for (const field of MAY_BE_SECRET)
    if (field in config) config[field] = keptValues(config[field], before[field], `adapterConfig.${field}`)
  return { ...profile, adapterConfig: config }
}

function keptValues(given: unknown, before: unknown, field: string): unknown {
  if (given === MASKED) return before ?? nothingBehind(field)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const known = new Map(Object.entries(before ?? {}))
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      name,
      value === MASKED ? (known.get(name) ?? nothingBehind(`${field}.${name}`)) : value,
    ]),
  )
}

/** A mask must not become the value: whoever copied it from another agent would find out by a failed login. */
function nothingBehind(field: string): never {
  throw Refused.field('VALIDATION_FAILED', field, 'is masked, and there is no value it could stand for')
}

function agentView({ record, holds, runs = 0 }: Pick<AgentSeen, 'record' | 'holds'> & { runs?: number }) {
  const state = shownState(record, holds + runs)
  return {
    id: record.uuid,
    slug: record.slug,
    name: record.name,
    model: record.model,
    adapterType: record.adapterType,
    adapterConfig: masked(record.adapterConfig),
    runtimeConfig: record.runtimeConfig,
    capabilities: record.capabilities,
    maxConcurrentTasks: record.maxConcurrentTasks,
    heartbeatIntervalSeconds: record.heartbeatMs / 1000,
    staleThresholdSeconds: record.staleMs / 1000,
    coordinatorEnabled: record.coordinatorEnabled,
    batchSize: record.batchSize,
    state,
    status: state,
    stateReason: record.stateReason,
    leaving: record.leaving,
    activeTasks: holds,
    activeRuns: runs,
    lastSeenAt: instant(record.health?.lastSeenAt ?? null),
    version: record.version,
    createdAt: instant(record.createdAt),
    updatedAt: instant(record.updatedAt),
  }
}
