import { createHash, randomBytes } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import type { AdapterInvokeInput, AgentRunAdapter } from '../adapters/protocol.ts'
import { tooManySecrets } from '../core/agent-config.ts'
import { Refused } from '../core/errors.ts'
import type { AgentRecord } from '../core/records.ts'
import type { KnownSecrets } from '../core/redaction.ts'
import type { ModelChoice } from '../core/runs/models.ts'
import type { Wakeup } from '../core/runs/records.ts'
import { timeoutSecAfter } from '../core/runs/timeout.ts'
import type { TokenUsage } from '../core/runs/usage.ts'
import type { ProbedAgent } from '../flow/execution.ts'
import { operatorsObjections } from './allowed.ts'
import { environmentOfCheck, withCheck } from './check.ts'
import { type ToldComments, unreadComments } from './comments.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf, secretsOf } from './environment.ts'
import { answerOf, type Git, gitWith } from './folders/git.ts'
import { namedFolder, rootBeside } from './folders/places.ts'
import { prepareFolder } from './folders/prepare.ts'
import { FolderRefused } from './folders/refused.ts'
import type { Folder } from './folders/worktree.ts'
import type { Held } from './holding.ts'
import { modelOf } from './models.ts'
import { promptOf, promptValues } from './prompt.ts'
import { RequestsFile } from './requests-file.ts'
import { prepareSecrets } from './secrets.ts'
import { askedBy, budgetOf, plannedTask, promptWith, withModel } from './task-plan.ts'
import { Unfit } from './unfit.ts'
import { conflictsAsText, upstreamWork } from './upstream.ts'

/** Everything that is needed before an agent starts. Every fault is reported here, before anything is spawned. */

/** A run presents this token to Baton instead of an API key. It is valid until the run ends. */
export const newToken = () => `brun_${randomBytes(32).toString('base64url')}`
export const hashOfToken = (token: string) => createHash('sha256').update(token).digest()

export interface Prepared {
  adapter: AgentRunAdapter
  input: AdapterInvokeInput
  secrets: KnownSecrets
  folder: Folder | null
  git: Git
  graceMs: number
  /** Runs with the same credential share rate limits. */
  credential: string
  /** Its model and the fallback models. */
  choice: ModelChoice
  /** Whether what the run has used is too much for its task; null: it has no budget. */
  overBudget: ((usage: TokenUsage) => Promise<string | null>) | null
  /** Why the previous attempt failed. */
  failureClass: string | null
  /** Where the program finds the requests to it, if the run has a program and a task. */
  requests: RequestsFile | null
  /** The key under which its session is stored. */
  taskKey: string
  sessionIdBefore: string | null
  /** The last comments that its prompt contains. */
  toldComments: ToldComments['upTo']
}

/** The adapter of an agent, after checks of its settings and of the policy of this node. */
export function adapterOf(
  context: ExecutorContext,
  workspaceId: number,
  agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig'>,
): AgentRunAdapter {
  const adapter = context.registry.get(agent.adapterType)
  if (!adapter)
    throw new Unfit('invalid_configuration', `There is no adapter "${agent.adapterType}" on this node.`)
  const valid = adapter.validateConfig(agent.adapterConfig ?? {})
  if (!valid.ok) throw new Unfit('invalid_configuration', valid.errors.join(' '))
  const excess = tooManySecrets(agent.adapterConfig)
  if (excess) throw new Unfit('invalid_configuration', excess)
  const objections = operatorsObjections(context, workspaceId, agent)
  if (objections.length > 0)
    throw new Unfit(
      'not_allowed_here',
      objections.map(({ field, message }) => `${field} ${message}.`).join(' '),
    )
  return adapter
}

export const configOf = ({ adapterConfig }: Pick<AgentRecord, 'adapterConfig'>) =>
  (adapterConfig ?? {}) as Record<string, unknown>

/** Agents with the same credential share rate limits. If the adapter does not know the account, the agent has its own. */
export function credentialOf(context: ExecutorContext, adapter: AgentRunAdapter, agent: AgentRecord): string {
  const config = configOf(agent)
  const env = environmentOf(adapter, context.own, config)
  const known = adapter.credentialOf?.({ cwd: null, adapterConfig: config, env })
  return known ?? `${adapter.type}:agent:${agent.slug}`
}

interface About {
  workspaceId: number
  agent: AgentRecord
  wakeup: Wakeup
  runId: string
  token: string
  held: Held | null
}

/** What is read for a run. */
async function gather({ kernel }: ExecutorContext, about: About, baseUrl: string) {
  const { workspaceId, agent, wakeup, runId, token, held } = about
  const [[session], values, timeouts, task, unread] = await Promise.all([
    kernel.store.runtime.taskSessions(workspaceId, agent.slug, {
      adapterType: agent.adapterType,
      taskKey: held?.taskId ?? '',
    }),
    promptValues(kernel, workspaceId, { agent, runId, wakeup, held, baseUrl, token }),
    held && held.generation > 1 ? kernel.store.runs.timeoutsBefore(workspaceId, held) : 0,
    plannedTask(kernel, workspaceId, held),
    unreadComments(kernel, workspaceId, held),
  ])
  return { session, values: { ...values, 'task.comments': unread.comments }, timeouts, task, unread }
}

export async function prepare(context: ExecutorContext, about: About): Promise<Prepared> {
  const { workspaceId, wakeup, runId, token, held } = about
  const { own } = context
  const agent = await withCheck(context, workspaceId, about.agent, held)
  const adapter = adapterOf(context, workspaceId, agent)
  const baseUrl = context.baseUrl()
  const { session, values, timeouts, task, unread } = await gather(context, { ...about, agent }, baseUrl)
  const plan = task?.plan ?? null
  const credential = credentialOf(context, adapter, agent)
  const choice = await modelOf(context, workspaceId, agent, task, credential)
  const { model } = choice
  const config = withModel(adapter, configOf(agent), model)
  const overBudget = await budgetOf(context.kernel, workspaceId, task, model)
  const git = gitOf(own)
  const folder = adapter.usesFolder === false ? null : await folderFor(context, git, workspaceId, agent, held)
  const conflicts = conflictsAsText(folder?.conflicts ?? [])
  const prompt = promptOf(agent, { ...values, 'upstream.conflicts': conflicts })
  // The last step that can fail, so the file is removed with what was prepared.
  const requests = held && adapter.usesFolder !== false ? await RequestsFile.make() : null
  const baton = {
    ...(await environmentOfCheck(context, workspaceId, agent, held)),
    ...{ BATON_URL: baseUrl, BATON_API_KEY: token, BATON_RUN_ID: runId },
    ...variablesOf(agent, String(values['workspace.id']), held),
    ...(requests && { BATON_REQUESTS_FILE: requests.path }),
  }
  const input: AdapterInvokeInput = {
    protocolVersion: adapter.protocolVersion,
    companyId: String(values['workspace.id']),
    agentId: agent.uuid,
    runId,
    wakeupSource: wakeup.source,
    ...(wakeup.triggerDetail && { triggerDetail: wakeup.triggerDetail }),
    cwd: folder?.path ?? resolve(context.dataFolder),
    prompt: promptWith(adapter, plan, prompt),
    ...askedBy(adapter, plan, model),
    adapterConfig: config,
    runtimeState: session?.sessionParams ?? {},
    env: environmentOf(adapter, own, config, baton),
    timeoutSec: timeoutSecAfter(numberOr(config.timeoutSec, DEFAULT_TIMEOUT_SEC), timeouts),
    ...(held && { task: { id: held.taskId, generation: held.generation, attempt: held.attempt } }),
    callback: { url: `${baseUrl}/api/v1/runs/${runId}/callback`, token },
  }
  return {
    adapter,
    input,
    folder,
    git,
    requests,
    secrets: await prepareSecrets([...context.nodeSecrets, ...secretsOf(adapter, own, config, token)]),
    graceMs: numberOr(config.graceSec, DEFAULT_GRACE_SEC) * 1000,
    credential,
    choice,
    overBudget,
    failureClass: task?.failureClass ?? null,
    taskKey: held?.taskId ?? '',
    sessionIdBefore: session?.sessionDisplayId ?? null,
    toldComments: unread.upTo,
  }
}

const variablesOf = ({ slug, uuid }: AgentRecord, workspace: string, held: Held | null) => ({
  ...{ BATON_AGENT: slug, BATON_AGENT_ID: uuid, BATON_WORKSPACE_ID: workspace },
  ...(held && {
    BATON_TASK_ID: held.taskId,
    BATON_GENERATION: String(held.generation),
    BATON_SESSION: held.session,
    BATON_ATTEMPT: String(held.attempt),
  }),
})

export const gitOf = ({ PATH, HOME }: ExecutorContext['own']) =>
  gitWith({ ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }) })

const numberOr = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise)
const DEFAULT_TIMEOUT_SEC = 1_800
const DEFAULT_GRACE_SEC = 20

async function folderFor(
  context: ExecutorContext,
  git: Git,
  workspaceId: number,
  agent: Pick<AgentRecord, 'slug' | 'adapterConfig'>,
  held: Held | null,
): Promise<Folder> {
  const { cwd, workspace = 'cwd', baseBranch } = configOf(agent) as FolderSettings
  const isWorktree = held !== null && workspace === 'git_worktree'
  const upstream = isWorktree ? await upstreamWork(context.kernel, workspaceId, held.innerId) : []
  return orUnfit(() =>
    prepareFolder(git, {
      ...rootsFor(context, cwd),
      cwd: cwd ?? null,
      workspace,
      baseBranch: baseBranch ?? null,
      workspaceId: String(workspaceId),
      agentSlug: agent.slug,
      taskId: held?.taskId ?? null,
      generation: held?.folder ?? 0,
      upstream,
    }),
  )
}

interface FolderSettings {
  cwd?: string
  workspace?: 'cwd' | 'git_worktree'
  baseBranch?: string
}

/** A relative cwd must stay inside the folder around the data folder; a link that leads out of it is not followed. */
function rootsFor({ dataFolder, agentRoots }: ExecutorContext, cwd: string | undefined) {
  const isRelative = cwd !== undefined && !isAbsolute(cwd)
  const home = rootBeside(dataFolder)
  return { dataFolder, allowedRoots: agentRoots.length === 0 && isRelative ? [home] : agentRoots }
}

/** The folder the agent would work in; null: one of its own, which it gets with its name. Creates no worktree. */
export async function tryFolder(
  context: ExecutorContext,
  workspaceId: number,
  agent: ProbedAgent,
): Promise<string | null> {
  const { slug, adapterConfig } = agent
  const { cwd, workspace } = configOf(agent) as FolderSettings
  const { dataFolder, allowedRoots } = rootsFor(context, cwd)
  if (cwd === undefined) {
    if (slug === null) return null
    return (await folderFor(context, gitOf(context.own), workspaceId, { slug, adapterConfig }, null)).path
  }
  return orUnfit(async () => {
    const path = await namedFolder(cwd, { defaultRoot: rootBeside(dataFolder), dataFolder, allowedRoots })
    if (workspace !== 'git_worktree') return path
    const top = await answerOf(gitOf(context.own), path, ['rev-parse', '--show-toplevel'])
    if (top === null) throw new FolderRefused(`${path} is not in a git repository, which git_worktree needs.`)
    return path
  })
}

async function orUnfit<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof FolderRefused) throw new Unfit(error.code, error.message)
    throw error
  }
}

/** Why a run could not be prepared, as the end of the run. */
export function unfitBecause(error: unknown): Unfit {
  if (error instanceof Unfit) return error
  if (error instanceof Refused) return new Unfit('claim_lost', error.refusal.detail)
  return new Unfit('adapter_error', error instanceof Error ? error.message : String(error))
}
