import { createHash, randomBytes } from 'node:crypto'
import { isAbsolute, resolve } from 'node:path'
import type { AdapterInvokeInput, AgentRunAdapter } from '../adapters/protocol.ts'
import type { ProbedAgent } from '../door/execution.ts'
import type { RunKernel } from '../door/server-kernel.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { tooManySecrets } from '../kinds/agent/rules/config.ts'
import type { Billing } from '../kinds/run/prices/billed.ts'
import type { TaskSession, Wakeup } from '../kinds/run/record.ts'
import type { ModelChoice } from '../kinds/run/rules/models.ts'
import { timeoutSecAfter } from '../kinds/run/rules/timeout.ts'
import type { RunFolder } from '../kinds/run/shapes/folder.ts'
import { Refused } from '../pure/errors.ts'
import { type TracedRun, traceparentOf } from '../pure/trace.ts'
import { configOf } from './adapter-config.ts'
import { operatorsObjections } from './allowed.ts'
import { billingOf } from './billing.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import { environmentOfCheck, withCheck } from './check.ts'
import { type ToldComments, unreadComments } from './comments.ts'
import type { ExecutorContext } from './context.ts'
import { environmentOf } from './environment.ts'
import { answerOf, gitWith } from './folders/git.ts'
import { namedFolder, rootBeside } from './folders/places.ts'
import type { FolderRequest } from './folders/prepare.ts'
import { FolderRefused } from './folders/refused.ts'
import type { UpstreamWork } from './folders/upstream-work.ts'
import type { Held } from './holding.ts'
import { modelOf } from './models.ts'
import { promptOf, promptValues } from './prompt.ts'
import type { RequestsFile } from './requests-file.ts'
import type { RunSecrets } from './run-secrets.ts'
import { runSecretsOf } from './secrets-of-run.ts'
import { askedBy, plannedTask, promptWith, settingsOf, withModel } from './task-plan.ts'
import { conflictsAsText, upstreamWork } from './upstream.ts'
import { type BegunFolder, beginWork } from './work/begin-work.ts'
import { type ReviewedWork, reviewedWork, reviewFolder, textOfReview } from './work/review.ts'
import { workAsText } from './work/work-texts.ts'

/** Everything that is needed before an agent starts. Every fault is reported here, before anything is spawned. */

/** A run presents this token to Baton instead of an API key. It is valid until the run ends. */
export const newToken = () => `brun_${randomBytes(32).toString('base64url')}`
export const hashOfToken = (token: string) => createHash('sha256').update(token).digest('hex')

export interface Prepared {
  adapter: AgentRunAdapter
  input: AdapterInvokeInput
  secrets: RunSecrets
  /** As it is stored with the run. */
  folder: RunFolder | null
  /** Work that a result must contain. */
  upstream: readonly UpstreamWork[]
  /** What is left in the folder is no work. */
  isDisposable: boolean
  /** The worktree that only runs of this claim work in: whatever works there is theirs. */
  ownFolder: string | null
  graceMs: number
  /** Runs with the same credential share rate limits. */
  credential: string
  /** Its model and the fallback models. */
  choice: ModelChoice
  /** Whether its tokens are billed, as its login is when it begins. */
  billing: Billing
  /** Why the previous attempt failed. */
  failureClass: string | null
  /** Where the program finds the requests to it, if the run has a program and a task. */
  requests: RequestsFile | null
  /** The key under which its session is stored. */
  taskKey: string
  sessionIdBefore: string | null
  /** The last comments that its prompt contains. */
  promptedComments: ToldComments['upTo']
  /** Null: nothing is traced. */
  trace: TracedRun | null
}

/** The adapter of an agent, after checks of its settings and of the policy of this node. */
function adapterOf(
  context: ExecutorContext,
  workspaceId: number,
  agent: Pick<AgentRecord, 'adapterType' | 'adapterConfig' | 'model'>,
): AgentRunAdapter {
  const adapter = context.registry.get(agent.adapterType)
  if (!adapter)
    throw new CannotPrepare(
      'invalid_configuration',
      `There is no adapter "${agent.adapterType}" on this node.`,
    )
  const valid = adapter.validateConfig(settingsOf(adapter, agent))
  if (!valid.ok) throw new CannotPrepare('invalid_configuration', valid.errors.join(' '))
  const excess = tooManySecrets(agent.adapterConfig)
  if (excess) throw new CannotPrepare('invalid_configuration', excess)
  const objections = operatorsObjections(context, workspaceId, agent)
  if (objections.length > 0)
    throw new CannotPrepare(
      'not_allowed_here',
      objections.map(({ field, message }) => `${field} ${message}.`).join(' '),
    )
  return adapter
}

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
  agentState: Record<string, unknown>
  held: Held | null
}

/** Attempts of which the run, or the time of the task for one attempt, was over. */
async function timeoutsBefore({ store }: RunKernel, workspaceId: number, held: Held | null): Promise<number> {
  if (!held || held.generation === 1) return 0
  return Math.max(await store.runs.timeoutsBefore(workspaceId, held), held.timers?.timeouts ?? 0)
}

/** What is read for a run. */
async function gather({ kernel }: ExecutorContext, about: About, baseUrl: string) {
  const { workspaceId, agent, wakeup, runId, token, held } = about
  const [[session], values, timeouts, task, unread] = await Promise.all([
    kernel.store.runtime.taskSessions(workspaceId, agent.slug, {
      adapterType: agent.adapterType,
      taskKey: held?.uuid ?? '',
    }),
    promptValues(kernel, workspaceId, { agent, runId, wakeup, held, baseUrl, token }),
    timeoutsBefore(kernel, workspaceId, held),
    plannedTask(kernel, workspaceId, held),
    unreadComments(kernel, workspaceId, held),
  ])
  return { session, values: { ...values, 'task.comments': unread.comments }, timeouts, task, unread }
}

export async function prepare(context: ExecutorContext, about: About): Promise<Prepared> {
  const { workspaceId, wakeup, runId, token, held } = about
  const { agent, folderOf } = await withCheck(context, workspaceId, about.agent, held)
  const trace = await traceOf(context, about)
  const adapter = adapterOf(context, workspaceId, agent)
  const baseUrl = context.baseUrl()
  const { session, values, timeouts, task, unread } = await gather(context, { ...about, agent }, baseUrl)
  const plan = task?.plan ?? null
  const credential = credentialOf(context, adapter, agent)
  const choice = await modelOf(context, workspaceId, agent, task, credential)
  const { model } = choice
  const config = withModel(adapter, configOf(agent), model)
  const review = held?.purpose === 'verification' ? await reviewedWork(context, workspaceId, held) : null
  const begun =
    adapter.usesFolder === false ? null : await folderFor(context, { ...about, agent }, review, folderOf)
  const folder = begun && storedFolder(begun)
  const resumed = session && mayResume(session, begun) ? session : null
  const conflicts = conflictsAsText(folder?.conflicts ?? [])
  const work = workAsText(held?.purpose === 'work' ? folder : null, agent.slug, begun?.unfinished ?? null)
  const reviewed = review ? await textOfReview(context, review, begun?.isReview ?? false) : ''
  const prompt = promptOf(agent, { ...values, 'upstream.conflicts': conflicts }) + work + reviewed
  // The last step that can fail, so the file is removed with what was prepared.
  const requests = held && adapter.usesFolder !== false ? await context.requestsFile() : null
  const baton = {
    ...(await environmentOfCheck(context, workspaceId, agent, held)),
    ...{ BATON_URL: baseUrl, BATON_API_KEY: token, BATON_RUN_ID: runId },
    ...variablesOf(agent, String(values['workspace.id']), held, trace),
    ...(folder?.worktree && (await context.folders.identityIn(folder.path, agent))),
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
    runtimeState: resumed?.sessionParams ?? {},
    agentState: about.agentState,
    env: environmentOf(adapter, context.own, config, baton),
    timeoutSec: timeoutSecAfter(numberOr(config.timeoutSec, DEFAULT_TIMEOUT_SEC), timeouts),
    ...(held && { task: { id: held.uuid, generation: held.generation, attempt: held.attempt } }),
    callback: { url: `${baseUrl}/api/v1/runs/${runId}/callback`, token },
  }
  const billing = await billingOf({ adapter, env: input.env, config })
  const secrets = runSecretsOf(context, { adapter, config, token, cwd: input.cwd })
  // Before anything is spawned: a program may renew its tokens at once, and print the old ones.
  await secrets.current()
  return {
    adapter,
    input,
    folder,
    upstream: begun?.upstream ?? [],
    isDisposable: begun?.isReview ?? false,
    ownFolder: held && (folder?.worktree?.root ?? null),
    requests,
    secrets,
    graceMs: numberOr(config.graceSec, DEFAULT_GRACE_SEC) * 1000,
    ...{ credential, choice, billing, trace },
    failureClass: task?.failureClass ?? null,
    taskKey: held?.uuid ?? '',
    sessionIdBefore: resumed?.sessionDisplayId ?? null,
    promptedComments: unread.upTo,
  }
}

/** A trace that cannot be told must not keep the run from beginning. */
async function traceOf({ traces, log }: ExecutorContext, { workspaceId, runId, held }: About) {
  const task = held && { id: held.taskId, uuid: held.uuid }
  return traces
    ? traces.traceOf(workspaceId, runId, task).catch((error) => {
        log.warn({ err: error, runId }, 'the trace of a run is not known')
        return null
      })
    : null
}

const variablesOf = (
  { slug, uuid }: AgentRecord,
  workspace: string,
  held: Held | null,
  trace: TracedRun | null,
) => ({
  ...{ BATON_AGENT: slug, BATON_AGENT_ID: uuid, BATON_WORKSPACE_ID: workspace },
  ...(trace && { TRACEPARENT: traceparentOf(trace) }),
  ...(held && {
    BATON_TASK_ID: held.uuid,
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

/** The folder of a run, and what it began with. */
interface FolderOfRun extends Omit<BegunFolder, 'sessionsFrom'> {
  upstream: readonly UpstreamWork[]
  sessionsFrom: number | null
  /** It is at the commit that a reviewer judges. */
  isReview: boolean
}

const PLAIN = {
  ...{ continues: null, missing: null, unfinished: null, sessionsFrom: null, isReview: false },
  upstream: [] as readonly UpstreamWork[],
}

async function folderFor(
  context: ExecutorContext,
  about: About,
  review: ReviewedWork | null,
  folderOf: string,
): Promise<FolderOfRun> {
  const { workspaceId, runId, agent, held } = about
  const request = folderRequest(context, workspaceId, agent, held)
  return orUnfit(async () => {
    if (review) return { ...PLAIN, ...(await reviewFolder(context, review, request)) }
    if (held?.purpose !== 'work' || request.workspace !== 'git_worktree')
      return { ...PLAIN, folder: await context.folders.prepare({ ...request, agentSlug: folderOf }) }
    const upstream = await upstreamWork(context.kernel, workspaceId, held.taskId)
    const begun = await beginWork(context, { workspaceId, runId, agent, held }, { ...request, upstream })
    return { ...PLAIN, ...begun, upstream }
  })
}

function folderRequest(
  context: ExecutorContext,
  workspaceId: number,
  agent: Pick<AgentRecord, 'slug' | 'adapterConfig'>,
  held: Held | null,
): FolderRequest {
  const { cwd, workspace = 'cwd', baseBranch } = configOf(agent) as FolderSettings
  return {
    ...rootsFor(context, cwd),
    cwd: cwd ?? null,
    workspace,
    baseBranch: baseBranch ?? null,
    workspaceId: String(workspaceId),
    agentSlug: agent.slug,
    taskUuid: held?.uuid ?? null,
    generation: held?.generation ?? 0,
    start: null,
  }
}

const storedFolder = ({ folder, continues, missing }: FolderOfRun): RunFolder => {
  const { path, worktree, conflicts } = folder
  return {
    ...{ path, worktree, continues, missing },
    ...(conflicts && { conflicts: conflicts.map((one) => ({ ...one, files: [...one.files] })) }),
  }
}

/** Sessions remember the path they worked in. One of work that is not continued would remember too much. */
function mayResume({ sessionParams }: TaskSession, begun: FolderOfRun | null): boolean {
  const { cwd, generation } = sessionParams as { cwd?: unknown; generation?: unknown }
  const from = begun?.sessionsFrom ?? null
  if (begun === null || from === null) return true
  const isOfThisWork = from <= 1 || (typeof generation === 'number' && generation >= from)
  return isOfThisWork && (cwd === undefined || cwd === begun.folder.path)
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
    const request = folderRequest(context, workspaceId, { slug, adapterConfig }, null)
    return orUnfit(async () => (await context.folders.prepare(request)).path)
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
    if (error instanceof FolderRefused) throw new CannotPrepare(error.code, error.message)
    throw error
  }
}

/** Why a run could not be prepared, as the end of the run. */
const OF_BUDGETS: ReadonlySet<string> = new Set(['BUDGET_STOPPED', 'BUDGET_RESERVED'])

export function preparationError(error: unknown): CannotPrepare {
  if (error instanceof CannotPrepare) return error
  if (error instanceof Refused)
    return new CannotPrepare(
      OF_BUDGETS.has(error.code) ? 'budget_blocked' : 'claim_lost',
      error.refusal.detail,
    )
  return new CannotPrepare('adapter_error', error instanceof Error ? error.message : String(error))
}
